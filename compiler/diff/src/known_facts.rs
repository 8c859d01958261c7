//! The facts of two sides, read once for all environments in which both have the same tables.

use std::cell::OnceCell;

use relay_bundle::{Bundle, Corrupt};
use relay_policy::facts::{Facts, Knowledge, Node, SHIPPED};

/// The facts of two sides in the environment that was read last.
#[derive(Default)]
pub(crate) struct KnownFacts {
    sides: [KnownTable; 2],
    compared: OnceCell<[Option<KnownPrograms>; 2]>,
}

/// The table of a side.
#[derive(Default)]
pub(crate) struct KnownTable {
    bytes: Vec<u8>,
    is_readable: bool,
}

/// The contents of a table, as far as those of the other side may differ.
pub(crate) struct KnownPrograms {
    /// As written. Words of languages are absent if both sides have the same.
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
                *known = KnownTable { bytes: bytes.to_vec(), is_readable };
            }
            self.compared.take();
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

    /// Returns the contents of each side; `None` for a bundle without facts.
    ///
    /// # Errors
    ///
    /// They are unreadable.
    pub(crate) fn compared(&self) -> Result<[Option<&KnownPrograms>; 2], Corrupt> {
        let [a, b] = self.sides();
        let [a, b] = [a.known()?, b.known()?];
        let compared = self.compared.get_or_init(|| match (a, b) {
            (Some(a), Some(b)) => KnownPrograms::of_both(a, b).map(Some),
            // Beside a bundle that judges no command, a project's own programs are listed.
            (a, b) => [a, b].map(|side| side.as_ref().map(KnownPrograms::own)),
        });
        Ok(compared.each_ref().map(Option::as_ref))
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

    /// Returns the facts in place; `None` if the bundle lacks facts.
    fn known(&self) -> Result<Option<Facts<'_>>, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let damaged = Corrupt::Record { section: "facts", what: "table of facts" };
        self.facts().map(Some).ok_or(damaged)
    }
}

impl KnownPrograms {
    fn of_both(a: Facts<'_>, b: Facts<'_>) -> [Self; 2] {
        match a.programs_apart(&b) {
            Some([of_a, of_b]) => [Self::of(&a, of_a), Self::of(&b, of_b)],
            None => [a, b].map(|facts| Self::new(facts.knowledge())),
        }
    }

    fn own(facts: &Facts<'_>) -> Self {
        Self::of(facts, facts.programs_of(|file| !file.starts_with(SHIPPED)))
    }

    /// Takes some programs of a table.
    fn of(facts: &Facts<'_>, programs: Vec<Node>) -> Self {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
        Self::new(Knowledge {
            programs,
            environment: owned(facts.environment().collect()),
            words: Vec::new(),
            files: owned(facts.files()),
        })
    }

    fn new(knowledge: Knowledge) -> Self {
        let bare = |written: &Node| Node { names: Vec::new(), ..written.clone().without_places() };
        let nodes = knowledge.programs.iter().map(bare).collect();
        Self { knowledge, nodes }
    }
}
