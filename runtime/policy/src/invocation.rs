//! The words of a program × facts -> options, operands and sub-commands.
//!
//! This module only reads: the same words give the same invocation, with the doubts about them.

mod call;
mod read;

pub(crate) use call::{Given, Invocation};
pub(crate) use read::read;
