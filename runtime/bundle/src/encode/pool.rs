//! The bytes that records refer to.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{length, offset};
use crate::record;

/// Bytes in which equal runs stand once.
#[derive(Default)]
pub(super) struct Pool {
    pub(super) bytes: Vec<u8>,
    /// The last run of each hash; the runs themselves stay in `bytes`, so nothing is held twice.
    known: HashMap<u64, record::Text>,
}

impl Pool {
    pub(super) fn shared(&mut self, run: &[u8]) -> record::Text {
        // `DefaultHasher::new` has fixed keys: what is shared is the same in every run.
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(known) = self.known.get(&hash) {
            let start = known.offset.get() as usize;
            if self.bytes.get(start..start + known.length.get() as usize) == Some(run) {
                return *known;
            }
        }
        let text = record::Text { offset: offset(self.bytes.len()), length: length(run.len()) };
        self.bytes.extend_from_slice(run);
        self.known.insert(hash, text);
        text
    }
}
