//! What a change does to what agents read and may do: two bundles -> findings.
//!
//! Findings are about meaning. Comments, layout, order and places change nothing here, and what
//! follows from a change (a line of an index, a page of a list, a generated summary) is reported
//! under its cause. No I/O, no clock, no randomness; the same bundles give the same findings.

#![forbid(unsafe_code)]

mod argument;
mod briefing;
mod finding;
mod gate;
mod join;
mod manifest;
mod messages;
mod prompt;
mod rendering;
mod resource;
mod resource_template;
mod text;
mod tool;

use relay_bundle::{Bundle, Contents, Corrupt, OpenError, encode};

pub use finding::{
    Area, Change, Claim, Direction, Finding, Kind, Lost, Places, Subject, TOKEN_BYTES,
};
pub use text::{Hunk, Piece, PieceKind};

use crate::finding::Findings;

/// Compares two bundles: the findings, the most dangerous first.
///
/// # Errors
///
/// A bundle is not what was signed.
pub fn compare(a: &Bundle, b: &Bundle) -> Result<Vec<Finding>, Corrupt> {
    let mut out = Findings::default();
    manifest::compare(a, b, &mut out);
    gate::compare(a.gate(), b.gate(), &mut out);
    tool::compare(a, b, &mut out);
    messages::compare(a, b, &mut out)?;
    prompt::compare_all(a, b, &mut out)?;
    resource::compare_all(a, b, &mut out)?;
    resource_template::compare_all(a, b, &mut out)?;
    briefing::compare(a, b, &mut out)?;
    Ok(out.sorted())
}

/// Returns a bundle without anything in it: what a new project is compared with.
///
/// # Errors
///
/// None that a caller can cause.
pub fn empty() -> Result<Bundle, OpenError> {
    let bytes = encode(&Contents::default()).unwrap_or_default();
    Bundle::open(Box::new(bytes))
}
