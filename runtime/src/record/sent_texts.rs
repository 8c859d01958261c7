//! Skill texts sent to callers, so that a project may have a text sent only once.

use std::collections::VecDeque;
use std::sync::Mutex;

use relay_bundle::Digest;
use relay_machine::lock::lock;

/// The most remembered texts, of one session and of all handles together.
const REMEMBERED_MAX: usize = 1024;

/// The sent texts, the oldest first. A forgotten text is sent again.
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
