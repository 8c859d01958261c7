//! Code of other languages -> its effects, as far as they can be read honestly.
//!
//! SQL, sed, awk and tables of scheduled jobs are read by their grammar. For general languages only
//! a list of harmless words is known; all other code is opaque.

pub(crate) mod awk;
pub(crate) mod crontab;
mod finding;
pub(crate) mod general;
pub(crate) mod project;
pub(crate) mod sed;
pub(crate) mod sql;
pub(crate) mod wire;

pub(crate) use finding::What;
