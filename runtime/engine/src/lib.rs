//! What relay decides, as pure functions over a bundle.
//!
//! `relay explain` and `relay-serve` both ask here, so a preview and the server can never
//! disagree. No I/O, no clock, no randomness, no state.

#![forbid(unsafe_code)]

pub mod audit_record;
pub mod briefing;
pub mod completion;
pub mod handle;
pub mod keywords;
pub mod prompt;
pub mod prompt_index;
pub mod resource;
pub mod select;
pub mod sent;
pub mod tool;
