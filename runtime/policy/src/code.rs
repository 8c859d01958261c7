//! Code of other languages, as far as it can be judged honestly.
//!
//! SQL, sed, awk and tables of scheduled jobs are read by their grammar. Of general languages only a list of harmless words is
//! known; all else is opaque.

pub(crate) mod awk;
pub(crate) mod crontab;
mod finding;
pub(crate) mod language;
pub(crate) mod sed;
pub(crate) mod sql;

pub(crate) use finding::What;
