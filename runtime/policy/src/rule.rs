//! Calls and effects x a rule -> whether the rule means them.
//!
//! Two questions, with opposite doubts. [`Meaning::fires`]: may a rule that restricts mean a part of
//! the request? Whatever is not known may. [`Meaning::covers`]: does a rule that permits certainly
//! mean an effect? Whatever is not known is not covered, nor is an effect that the rule neither
//! names nor fixes. No decision is made here, and no tier is named.

mod call;
mod condition;
mod effect;
mod fit;
mod glob;
mod host;
mod literal;
mod parts;
mod request;
mod seen;
mod words;

pub use fit::Fit;
pub use glob::glob_fit;
pub use literal::{
    LiteralHost, LiteralOperands, LiteralPath, Literals, PartlyKnown, ends, folders, literal_host,
    literal_path, literal_word,
};
pub use parts::{Meaning, Part};
pub use request::{Argument, Request, searched};
pub use seen::Seen;
