//! The words of a program × facts -> options, operands and sub-commands.
//!
//! This module neither judges nor runs: the same words give the same invocation, with the doubts
//! about them.

mod call;
mod read;

pub(crate) use call::{Given, Invocation};
pub(crate) use read::read;
