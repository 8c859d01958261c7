//! What relay decides, as pure functions over a bundle.
//!
//! `relay explain` and `relay-serve` both ask here, so a preview and the server can never
//! disagree. No I/O, no clock, no randomness, no state.

#![forbid(unsafe_code)]

pub mod audit_record;
pub mod completion;
pub mod prompt;
pub mod resource;
