//! The keys of rules: texts that occur in every request that a rule means.
//!
//! The compiler lists each rule under its keys; a decision reads the rules of the keys in its
//! request. So both ask this module.
//!
//! A rule is listed under its base, such as `program git`. If each request that it means also has one
//! of some literals, such as an operand, it has a detail, and is listed under the base with each literal
//! (`program git operands = main`), and under the base with the selector (`program git operands`), whose
//! rules concern a request with an uncertain value. Of an operand of which a part is known, only the
//! literals that it may be are read: keys are sorted. A literal path is listed below each of its folders
//! too: `effect writes writes / /srv` has the rules about all that lies below. A plain rule is
//! listed under the base with a `-`.
//!
//! A rule has a literal of every request that it means for sure. So the rules that are found without one,
//! since a value of the request is open, only may mean it, and the first of them decides as well as all.
//! If a part of a request may be anything, so may its rule: each kind of rules has a list of those.

mod of_request;
mod of_rule;
mod word;

pub use self::of_request::Concerned;
pub(crate) use self::of_request::Keyed;
pub use self::of_rule::{keys, meant_keys};
