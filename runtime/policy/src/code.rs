//! Code of other languages, as far as it can be judged honestly.
//!
//! SQL, sed and awk are read by their grammar. Of general languages only a list of harmless words is
//! known; all else is opaque.

pub(crate) mod awk;
mod finding;
pub(crate) mod language;
pub(crate) mod sed;
pub(crate) mod sql;

pub(crate) use finding::What;
