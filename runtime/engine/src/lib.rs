//! The decisions of relay, as pure functions over a bundle.
//!
//! `relay explain` and `relay-serve` both call these functions, so a preview always equals the
//! server's answer. No I/O, no clock, no randomness, no state.

#![forbid(unsafe_code)]

pub mod agent_skill;
pub mod approval;
pub mod audit_chain;
pub mod audit_checkpoint;
pub mod audit_record;
pub mod authority;
pub mod briefing;
pub mod cascade;
pub mod completion;
pub mod decide;
pub mod derived;
pub mod equal_text;
pub mod glob;
pub mod handle;
pub mod invisible;
pub mod keywords;
pub mod nearest;
pub mod place;
pub mod prompt;
pub mod prompt_index;
pub mod redact;
pub mod resource;
pub mod rule_keys;
pub mod select;
pub mod sent;
pub mod system_error;
pub mod token_shape;
pub mod toml_fault;
pub mod tool;
pub mod view;
