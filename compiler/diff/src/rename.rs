//! What is gone under one name and new under another.

use std::collections::BTreeMap;

use relay_bundle::{Digest, meaning_of};
use serde::Serialize;

/// Things that only one side has.
pub(crate) struct Alone<T> {
    gone: Vec<(Digest, T)>,
    new: Vec<(Digest, T)>,
}

/// What became of them.
pub(crate) struct Resolved<T> {
    pub(crate) gone: Vec<T>,
    pub(crate) new: Vec<T>,
    /// Those that are equal in everything but their name, first the one before.
    pub(crate) renamed: Vec<(T, T)>,
}

impl<T> Default for Alone<T> {
    fn default() -> Self {
        Self { gone: Vec::new(), new: Vec::new() }
    }
}

impl<T> Alone<T> {
    /// Adds what only the first side has; `unnamed` is its value without its name.
    pub(crate) fn only_a(&mut self, thing: T, unnamed: &impl Serialize) {
        self.gone.push((meaning_of(unnamed), thing));
    }

    /// Adds what only the second side has.
    pub(crate) fn only_b(&mut self, thing: T, unnamed: &impl Serialize) {
        self.new.push((meaning_of(unnamed), thing));
    }

    /// Pairs what is equal, in the order in which it was added.
    pub(crate) fn resolve(self) -> Resolved<T> {
        let mut waiting: BTreeMap<[u8; 32], Vec<T>> = BTreeMap::new();
        let mut order = Vec::new();
        for (digest, thing) in self.gone {
            order.push(digest.0);
            waiting.entry(digest.0).or_default().push(thing);
        }
        waiting.values_mut().for_each(|things| things.reverse());
        let mut resolved = Resolved { gone: Vec::new(), new: Vec::new(), renamed: Vec::new() };
        for (digest, thing) in self.new {
            match waiting.get_mut(&digest.0).and_then(Vec::pop) {
                Some(before) => resolved.renamed.push((before, thing)),
                None => resolved.new.push(thing),
            }
        }
        waiting.values_mut().for_each(|things| things.reverse());
        for digest in order.into_iter().rev() {
            resolved.gone.extend(waiting.get_mut(&digest).and_then(Vec::pop));
        }
        resolved.gone.reverse();
        resolved
    }
}
