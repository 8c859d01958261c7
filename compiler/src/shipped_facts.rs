//! The shipped facts in a run of the compiler, and the tables that are made of facts.

use std::cell::{OnceCell, RefCell};

use hashbrown::HashSet;
use relay_policy::facts::{EncodeError, Facts, Knowledge, encode};

/// The shipped facts in one run of the compiler: read once, and joined once with those of the project, which
/// are the same in each of its environments.
#[derive(Default)]
pub(crate) struct Shipped<'f> {
    table: &'f [u8],
    knowledge: OnceCell<Result<Knowledge, EncodeError>>,
    /// The last facts that were joined with these, and the table of both.
    joined: RefCell<Option<(Knowledge, Made)>>,
}

/// A table of facts, and the digest of its contents (places left out), in hex.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) table: Vec<u8>,
    pub(crate) meaning: String,
}

impl<'f> Shipped<'f> {
    /// Takes their table; empty if it is absent.
    pub(crate) fn of(table: &'f [u8]) -> Self {
        Self { table, ..Self::default() }
    }

    /// Returns them.
    ///
    /// # Errors
    ///
    /// Their table is missing or damaged, which a test rules out. The facts are required to judge a
    /// project.
    pub(crate) fn knowledge(&self) -> Result<&Knowledge, EncodeError> {
        let read = || opened(self.table).map(|facts| facts.knowledge());
        self.knowledge.get_or_init(read).as_ref().map_err(|error| *error)
    }

    /// Returns their table.
    ///
    /// # Errors
    ///
    /// It is missing or damaged.
    pub(crate) fn made(&self) -> Result<Made, EncodeError> {
        Made::of(self.table.to_vec())
    }

    /// Returns the table of these and of a project's own facts, which replace those of the same names.
    ///
    /// # Errors
    ///
    /// Both exceed a table.
    pub(crate) fn joined(&self, own: Knowledge) -> Result<Made, EncodeError> {
        if let Some((_, made)) = self.joined.borrow().as_ref().filter(|(before, _)| *before == own)
        {
            return Ok(made.clone());
        }
        let made = Made::of(table(&with_own(self.knowledge()?, &own))?)?;
        self.joined.replace(Some((own, made.clone())));
        Ok(made)
    }
}

impl Made {
    fn of(table: Vec<u8>) -> Result<Self, EncodeError> {
        let meaning = meaning(&table)?;
        Ok(Self { table, meaning })
    }
}

/// Returns all facts: those of a project replace shipped programs of their names.
fn with_own(shipped: &Knowledge, own: &Knowledge) -> Knowledge {
    let replaced: HashSet<&String> = own.programs.iter().flat_map(|it| &it.names).collect();
    let mut all = shipped.clone();
    for program in &mut all.programs {
        program.names.retain(|name| !replaced.contains(name));
    }
    all.programs.retain(|program| !program.names.is_empty());
    all.programs.extend_from_slice(&own.programs);
    all.environment.extend_from_slice(&own.environment);
    all.files.extend_from_slice(&own.files);
    all
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
