//! The gate: which prompts an agent is sent, and what stands for those that it has.

mod entry;
mod handle;
mod keywords;
mod select;
