//! The facts of two sides, read once for all environments in which a side has the same table.

use std::cell::OnceCell;

use relay_bundle::{Bundle, Corrupt};
use relay_policy::facts::{Facts, Knowledge, Node};

/// The facts of two sides in the environment that was read last.
#[derive(Default)]
pub(crate) struct KnownFacts {
    sides: [KnownTable; 2],
}

/// The table of a side.
#[derive(Default)]
pub(crate) struct KnownTable {
    bytes: Vec<u8>,
    is_readable: bool,
    contents: OnceCell<KnownPrograms>,
}

/// The contents of a table.
pub(crate) struct KnownPrograms {
    /// All of them, as written.
    pub(crate) knowledge: Knowledge,
    /// The facts of each program, in the same order; names and places are left out.
    pub(crate) nodes: Vec<Node>,
}

impl KnownFacts {
    /// Reads the tables of two bundles, unless they are those of the last ones.
    ///
    /// # Errors
    ///
    /// A bundle is damaged. Judges of commands leave an unreadable table out.
    pub(crate) fn read(&mut self, bundles: [&Bundle; 2]) -> Result<(), Corrupt> {
        for (side, bundle) in bundles.into_iter().enumerate() {
            let bytes = bundle.facts()?;
            if self.sides.get(side).is_some_and(|known| known.bytes == bytes) {
                continue;
            }
            let other = self.sides.iter().find(|known| known.bytes == bytes);
            let is_readable = match other {
                Some(known) => known.is_readable,
                None => Facts::open(bytes).is_ok(),
            };
            if let Some(known) = self.sides.get_mut(side) {
                *known = KnownTable { bytes: bytes.to_vec(), is_readable, ..Default::default() };
            }
        }
        Ok(())
    }

    /// Returns the table of each side.
    pub(crate) fn sides(&self) -> [&KnownTable; 2] {
        self.sides.each_ref()
    }

    /// Returns whether both sides have the same table.
    pub(crate) fn are_equal(&self) -> bool {
        let [a, b] = self.sides();
        a.bytes == b.bytes
    }
}

impl KnownTable {
    /// Returns whether the facts can be read: a check has read all of them.
    pub(crate) fn is_readable(&self) -> bool {
        self.is_readable
    }

    /// Returns the facts in place, if they can be read.
    pub(crate) fn facts(&self) -> Option<Facts<'_>> {
        if self.is_readable { Facts::reopen(&self.bytes).ok() } else { None }
    }

    /// Returns the contents; `None` if the bundle lacks facts.
    ///
    /// # Errors
    ///
    /// They are unreadable.
    pub(crate) fn programs(&self) -> Result<Option<&KnownPrograms>, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let damaged = Corrupt::Record { section: "facts", what: "table of facts" };
        let facts = self.facts().ok_or(damaged)?;
        Ok(Some(self.contents.get_or_init(|| KnownPrograms::of(&facts))))
    }
}

impl KnownPrograms {
    fn of(facts: &Facts<'_>) -> Self {
        let knowledge = facts.knowledge();
        let bare = |written: &Node| Node { names: Vec::new(), ..written.clone().without_places() };
        let nodes = knowledge.programs.iter().map(bare).collect();
        Self { knowledge, nodes }
    }
}
