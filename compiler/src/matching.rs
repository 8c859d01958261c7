//! Matches of names and calls: patterns of tools against names, the selectors of skills against
//! each other, and the most text that one call can match.
//!
//! Every answer has a limit of work. An answer over its limit says so, which is different from
//! "no".

pub(crate) mod overlap;
pub(crate) mod pattern_set;
pub(crate) mod selectors;
pub(crate) mod worst_case;
