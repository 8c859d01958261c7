//! Classifies shell commands: their calls, their effects, and the tier of these effects.
//!
//! A text goes one way: `parse` reads bash 5.2 and refuses unsupported syntax; `interpret` goes
//! through the script as a shell would, with `value`s that carry their doubts and the `state` of a
//! shell, and notes every call and `effect`; `judge` gives the effects a tier. `facts` knows
//! programs, `invocation` reads their words by the facts, `language` reads code of other languages.
//! No I/O, no clock, no randomness.

#![forbid(unsafe_code)]

pub mod classify;
pub mod effect;
pub mod facts;
mod fuel;
pub mod host;
mod interpret;
pub mod inventory;
mod invocation;
mod judge;
mod language;
pub mod location;
pub mod parse;
pub mod path_rules;
pub mod paths;
pub mod rule;
pub mod span;
mod state;
pub mod syntax;
pub mod tier;
mod value;
