//! The rewriter of a template, and its result.

use std::ops::Range;

use minijinja::machinery::ast::Expr;

use super::extent::{extent, written};
use crate::diagnostic::Diagnostics;
use crate::resolve::template::source::Source;

/// A template for the engine, and what is known about the one it was made from.
#[derive(Default)]
pub(in crate::resolve::template) struct Rewritten {
    pub(in crate::resolve::template) made: String,
    pub(in crate::resolve::template) places: Vec<Place>,
    pub(in crate::resolve::template) mentions: Vec<Mention>,
    pub(in crate::resolve::template) comparisons: Vec<Comparison>,
    pub(in crate::resolve::template) assigned: Vec<Name>,
    pub(in crate::resolve::template) filters: Vec<Name>,
    pub(in crate::resolve::template) tests: Vec<Name>,
}

/// Where an expression is in both templates.
pub(in crate::resolve::template) struct Place {
    /// In the one that was made.
    pub(in crate::resolve::template) made: Range<usize>,
    /// The part that an error of it is about: of a filter, its name and arguments.
    pub(in crate::resolve::template) written: Range<usize>,
    /// All of it.
    pub(in crate::resolve::template) extent: Range<usize>,
}

/// A name with its place.
pub(in crate::resolve::template) struct Name {
    pub(in crate::resolve::template) name: String,
    pub(in crate::resolve::template) at: Range<usize>,
}

/// A variable that is read.
pub(in crate::resolve::template) struct Mention {
    pub(in crate::resolve::template) name: String,
    pub(in crate::resolve::template) at: Range<usize>,
    pub(in crate::resolve::template) how: How,
}

/// A variable that is compared with a text.
pub(in crate::resolve::template) struct Comparison {
    pub(in crate::resolve::template) name: String,
    pub(in crate::resolve::template) text: String,
    pub(in crate::resolve::template) at: Range<usize>,
}

/// The use of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resolve::template) enum How {
    /// Its content matters.
    Read,
    /// It matters only whether it is there.
    Tested,
    /// It is printed as it is.
    Printed,
    /// It is printed as it is, if it is there.
    TestedAndPrinted,
}

/// Finds the template that an include names, by its number; `None` if there is none, which is
/// reported unless it may be missing.
pub(in crate::resolve::template) type Link<'l> =
    dyn FnMut(&str, Range<usize>, bool, &mut Diagnostics) -> Option<usize> + 'l;

/// Returns the name of a template in the engine.
pub(in crate::resolve::template) fn template_name(number: usize) -> String {
    format!("t{number}")
}

/// A template while it is rewritten; what it has of each kind of node is in the modules beside.
pub(super) struct Rewriter<'s, 'l> {
    pub(super) source: &'s Source,
    pub(super) link: &'s mut Link<'l>,
    pub(super) out: &'s mut Diagnostics,
    pub(super) result: Rewritten,
    /// How many constructs around this place may render it again.
    pub(super) repeats: usize,
}

impl Rewriter<'_, '_> {
    pub(super) fn put(&mut self, text: &str) {
        self.result.made.push_str(text);
    }

    /// Notes where the expression was written whose rewriting began at `start`.
    pub(super) fn place(&mut self, start: usize, expr: &Expr<'_>) {
        let made = start..self.result.made.len();
        let place = Place { made, written: written(expr), extent: extent(expr) };
        self.result.places.push(place);
    }
}
