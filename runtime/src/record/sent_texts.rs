//! Which texts of skills callers were sent, so that a text is sent once where a project wants it.

use std::collections::VecDeque;
use std::sync::Mutex;

use relay_bundle::Digest;

use crate::lock::lock;

/// The most texts that are remembered as sent, of one session and of all handles together.
const REMEMBERED_MAX: usize = 1024;

/// The texts that were sent, the oldest first. One that is forgotten is sent again.
#[derive(Debug, Default)]
pub(crate) struct SentTexts(Mutex<VecDeque<Digest>>);

impl SentTexts {
    /// Remembers a text of a caller; returns whether it was sent before.
    pub(crate) fn was_sent(&self, key: Digest) -> bool {
        let mut sent = lock(&self.0);
        if sent.contains(&key) {
            return true;
        }
        if sent.len() >= REMEMBERED_MAX {
            sent.pop_front();
        }
        sent.push_back(key);
        false
    }
}
