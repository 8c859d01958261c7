//! Reads bash 5.2.
//!
//! The parser refuses rather than recovers: unknown syntax is an error, since a guess could lower a
//! tier. It also refuses texts that bash would read in an unsupported way (an operator split over
//! lines, quotes inside a pattern of an expansion). It may accept texts that bash refuses; then
//! nothing runs and the answer is only too careful.
//!
//! Work and memory are linear in the text: each step burns fuel, and nesting has a limit.

mod byte;
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
/// The text is too long, holds a NUL, is nested too deep, or has unsupported syntax.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(ParseError { at: 0, reason: "the text is longer than 64 KiB" });
    }
    parse_within(text, &mut Budget::new(text.len()))
}

/// Parses a text inside another one, within the rest of its budget.
///
/// # Errors
///
/// As `parse`.
pub fn parse_within(text: &str, budget: &mut Budget) -> Result<Script, ParseError> {
    Parser::script(text, budget, false)
}

/// Parses a text as a shell without the extensions of bash does. Such a shell runs the lines before
/// an error: returns the lines up to the first error, and that error.
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

/// Parses a text in which only expansions are special, like a value that the shell evaluates.
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
