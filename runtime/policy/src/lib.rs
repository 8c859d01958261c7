//! What a shell command may do.
//!
//! `parse` reads bash 5.2 and refuses what it does not understand; `expand` says what its words are;
//! `facts` knows programs; `classify` joins the three to a tier with the words that raised it. No
//! I/O, no clock, no randomness.

#![forbid(unsafe_code)]

pub mod classify;
mod code;
pub mod facts;
pub mod parse;
pub mod path_rules;
pub mod paths;
mod shell;
pub mod span;
pub mod syntax;
mod text;
pub mod tier;
