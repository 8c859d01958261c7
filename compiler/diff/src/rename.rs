//! Renames: items gone under one name and new under another.

use std::collections::BTreeMap;

use relay_bundle::{Corrupt, Digest, Place, meaning_of};
use serde::Serialize;

use crate::finding::{Area, Change, Finding, Findings, Kind, Renamed};

/// Things of only one side.
pub(crate) struct Alone<T> {
    gone: Vec<(Digest, T)>,
    new: Vec<(Digest, T)>,
}

/// The items whose names have no partner, once renames are found.
pub(crate) struct Resolved<T> {
    pub(crate) gone: Vec<T>,
    pub(crate) new: Vec<T>,
    /// Those equal in everything but their name, first the one before.
    pub(crate) renamed: Vec<(T, T)>,
}

/// The report of a resource or a template.
pub(crate) struct Declared {
    pub(crate) kind: Kind,
    /// Its URI.
    pub(crate) uri: String,
    pub(crate) at: Place,
}

impl<T> Resolved<T> {
    /// Reports resources or templates: gone and renamed ones break clients.
    pub(crate) fn report(
        self,
        declared: impl Fn(T) -> Result<Declared, Corrupt>,
        out: &mut Findings,
    ) -> Result<(), Corrupt> {
        let Self { gone, new, renamed } = self;
        let finding = |kind, uri: String, change| Finding::new(Area::Surface, kind, uri, change);
        for thing in gone {
            let Declared { kind, uri, at } = declared(thing)?;
            let removed = finding(kind, uri, Change::Removed).breaking(true);
            out.push(removed.at(Some(&at), None));
        }
        for thing in new {
            let Declared { kind, uri, at } = declared(thing)?;
            out.push(finding(kind, uri, Change::Added).at(None, Some(&at)));
        }
        for (a, b) in renamed {
            let (a, b) = (declared(a)?, declared(b)?);
            let (before, after) = (a.uri.clone(), b.uri.clone());
            out.renamed.push(Renamed { kind: b.kind, before, after });
            let renamed = finding(b.kind, b.uri, Change::Renamed { before: a.uri }).breaking(true);
            out.push(renamed.at(Some(&a.at), Some(&b.at)));
        }
        Ok(())
    }
}

impl<T> Default for Alone<T> {
    fn default() -> Self {
        Self { gone: Vec::new(), new: Vec::new() }
    }
}

impl<T> Alone<T> {
    /// Adds a thing of the first side alone; `unnamed` is its value with its name left out.
    pub(crate) fn only_a(&mut self, thing: T, unnamed: &impl Serialize) {
        self.gone.push((meaning_of(unnamed), thing));
    }

    /// Adds a thing of the second side alone.
    pub(crate) fn only_b(&mut self, thing: T, unnamed: &impl Serialize) {
        self.new.push((meaning_of(unnamed), thing));
    }

    /// Pairs equal things, in the order of their addition.
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
