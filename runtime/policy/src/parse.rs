//! Reads bash 5.2.
//!
//! The parser refuses rather than recovers: a text that it does not understand is an error, since
//! a classifier must not guess. Where bash would read a text in a way that this parser does
//! not follow (an operator split over lines, quotes inside a pattern of an expansion), it refuses too.
//! It may accept what bash refuses; then nothing runs and the answer is only too careful.
//!
//! Work and memory are linear in the text: each step burns fuel, and nesting has a limit.

mod command;
mod compound;
mod dollar;
mod list;
mod parameter;
mod parser;
mod quote;
mod redirect;
mod word;

use crate::syntax::{HereDocument, Part, Script};
use parser::Parser;
use quote::Inside;

pub use parser::{Budget, DEPTH_MAX, ParseError, TEXT_BYTES_MAX};

/// Parses a text.
///
/// # Errors
///
/// The text is too long, holds a NUL, is nested too deep, or is not understood.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(ParseError { at: 0, reason: "the text is longer than 64 KiB" });
    }
    parse_within(text, &mut Budget::new(text.len()))
}

/// Parses a text that is part of another one, within what is left of its budget.
///
/// # Errors
///
/// As `parse`.
pub fn parse_within(text: &str, budget: &mut Budget) -> Result<Script, ParseError> {
    Parser::script(text, budget, false)
}

/// Parses a text as a shell does that has nothing of bash. Such a shell runs what is before an error: returns the
/// lines up to the first one, and that error.
///
/// # Errors
///
/// The text holds a NUL.
pub fn parse_other_within(
    text: &str,
    budget: &mut Budget,
) -> Result<(Script, Option<ParseError>), ParseError> {
    Parser::lines(text, budget)
}

/// Parses a text in which only expansions mean something, as the shell reads a value that it evaluates.
/// Returns its parts, and the here-documents in them.
///
/// # Errors
///
/// As `parse`.
pub fn expansions(
    text: &str,
    budget: &mut Budget,
) -> Result<(Vec<Part>, Vec<HereDocument>), ParseError> {
    let mut parser = Parser::new(text, *budget)?;
    let parts = parser.double(Inside::HereDocument { strips_tabs: false });
    budget.fuel = parser.budget.fuel;
    let parts = parts?;
    parser.read_here_documents()?;
    Ok((parts, parser.here_documents))
}
