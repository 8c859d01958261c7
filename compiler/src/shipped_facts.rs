//! The shipped facts in a run of the compiler, and the tables that are made of facts.

use relay_policy::facts::{EncodeError, Facts, Knowledge, encode, join};

/// The shipped facts in one run of the compiler.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shipped<'f> {
    /// Their table; empty if it is absent.
    table: &'f [u8],
}

/// A table of facts, and the digest of its contents (places left out), in hex.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) table: Vec<u8>,
    pub(crate) meaning: String,
}

impl<'f> Shipped<'f> {
    /// Takes their table.
    pub(crate) fn of(table: &'f [u8]) -> Self {
        Self { table }
    }

    /// Returns them.
    ///
    /// # Errors
    ///
    /// Their table is missing or damaged, which a test rules out. The facts are required to judge a
    /// project.
    pub(crate) fn facts(self) -> Result<Facts<'f>, EncodeError> {
        opened(self.table)
    }

    /// Returns their table.
    ///
    /// # Errors
    ///
    /// It is missing or damaged.
    pub(crate) fn made(self) -> Result<Made, EncodeError> {
        Made::of(self.table.to_vec())
    }

    /// Returns the table of these and of a project's own facts, which replace those of the same names.
    ///
    /// # Errors
    ///
    /// Both exceed a table.
    pub(crate) fn joined(self, own: &Knowledge) -> Result<Made, EncodeError> {
        Made::of(join(self.facts()?, own)?)
    }
}

impl Made {
    fn of(table: Vec<u8>) -> Result<Self, EncodeError> {
        let meaning = meaning(&table)?;
        Ok(Self { table, meaning })
    }
}

fn opened(table: &[u8]) -> Result<Facts<'_>, EncodeError> {
    let damaged = |_| EncodeError { what: "the shipped ones are missing or damaged" };
    // A test reads every row of the shipped table.
    Facts::reopen(table).map_err(damaged)
}

/// Returns the digest of the facts of a table (their places left out), in hex.
///
/// # Errors
///
/// The table is missing or damaged.
pub(crate) fn meaning(table: &[u8]) -> Result<String, EncodeError> {
    Ok(opened(table)?.meaning().hex())
}

/// Writes the table of knowledge, and opens it once to check it.
///
/// # Errors
///
/// The knowledge exceeds a table.
pub fn table(knowledge: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    let bytes = encode(knowledge)?;
    if Facts::open(&bytes).is_err() {
        return Err(EncodeError { what: "facts" });
    }
    Ok(bytes)
}
