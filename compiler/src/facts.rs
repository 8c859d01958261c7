//! The facts that are shipped, and how their table is made.
//!
//! The fact files are in `compiler/facts`; their table is embedded, so that no build reads them. `relay
//! facts --compile` writes the table anew, and a test compares the two.

use relay_policy::facts::{EncodeError, Facts, Knowledge, encode};

use crate::diagnostic::Diagnostics;
use crate::parse;
use crate::source::Sources;

/// The table of the shipped facts.
static TABLE: &[u8] = include_bytes!("../facts/table.bin");

/// Returns the table of the shipped facts.
#[must_use]
pub fn shipped() -> &'static [u8] {
    TABLE
}

/// Reads fact files, and returns what they say; broken parts are reported.
#[must_use]
pub fn read(sources: &Sources<'_>, files: &[String]) -> (Knowledge, Diagnostics) {
    let mut out = Diagnostics::new(false);
    let knowledge = parse::fact_files(sources, files, &mut out);
    (knowledge, out)
}

/// Writes the table of knowledge, and opens it once to be sure that it can be.
///
/// # Errors
///
/// There is more than a table holds.
pub fn table(knowledge: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    let bytes = encode(knowledge)?;
    if Facts::open(&bytes).is_err() {
        return Err(EncodeError { what: "facts" });
    }
    Ok(bytes)
}
