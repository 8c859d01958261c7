//! The rewriter of a template, and its result.

use std::ops::Range;

use minijinja::machinery::ast::Expr;

use super::extent::{extent, written};
use crate::diagnostic::Diagnostics;
use crate::resolve::template::source::Source;

/// A template for the engine, and the known facts about its original.
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

/// The places of an expression in both templates.
pub(in crate::resolve::template) struct Place {
    /// The range in the rewritten template.
    pub(in crate::resolve::template) made: Range<usize>,
    /// The part that its errors are about: of a filter, its name and arguments.
    pub(in crate::resolve::template) written: Range<usize>,
    /// The whole expression.
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
    /// Only its presence matters.
    Tested,
    /// It is printed as it is.
    Printed,
    /// It is printed as it is, if it is there.
    TestedAndPrinted,
}

/// Returns the number of the template that an include names; `None` if it is missing, which is
/// reported unless the include allows it.
pub(in crate::resolve::template) type Link<'l> =
    dyn FnMut(&str, Range<usize>, bool, &mut Diagnostics) -> Option<usize> + 'l;

/// Returns the name of a template in the engine.
pub(in crate::resolve::template) fn template_name(number: usize) -> String {
    format!("t{number}")
}

/// A template while it is rewritten; the modules beside rewrite each kind of node.
pub(super) struct Rewriter<'s, 'l> {
    pub(super) source: &'s Source,
    pub(super) link: &'s mut Link<'l>,
    pub(super) out: &'s mut Diagnostics,
    pub(super) result: Rewritten,
    /// The number of constructs around this place that may render it again.
    pub(super) repeats: usize,
}

impl Rewriter<'_, '_> {
    pub(super) fn put(&mut self, text: &str) {
        self.result.made.push_str(text);
    }

    /// Notes the place of the expression whose rewriting began at `start`.
    pub(super) fn place(&mut self, start: usize, expr: &Expr<'_>) {
        let made = start..self.result.made.len();
        let place = Place { made, written: written(expr), extent: extent(expr) };
        self.result.places.push(place);
    }
}
