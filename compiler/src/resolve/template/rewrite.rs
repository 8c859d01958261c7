//! A template as its author wrote it -> the template that the engine renders.
//!
//! Both mean the same. In what is made, operators are filters of the [`engine`](super::engine),
//! which bound them; what loops and captures repeat is paid for; included files go by number; and
//! delimiters are characters that no author can write. On the way it is noted which names are
//! mentioned and how, which are set, and where each expression was written.

mod expression;
mod extent;
mod statement;

use std::ops::Range;

use minijinja::machinery::ast::{Expr, Stmt};

use self::extent::{extent, written};
use super::source::Source;
use crate::diagnostic::Diagnostics;

/// A template for the engine, and what is known about the one it was made from.
#[derive(Default)]
pub(super) struct Rewritten {
    pub(super) made: String,
    pub(super) places: Vec<Place>,
    pub(super) mentions: Vec<Mention>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) assigned: Vec<Name>,
    pub(super) filters: Vec<Name>,
    pub(super) tests: Vec<Name>,
}

/// Where an expression is in both templates.
pub(super) struct Place {
    /// In the one that was made.
    pub(super) made: Range<usize>,
    /// The part that an error of it is about: of a filter, its name and arguments.
    pub(super) written: Range<usize>,
    /// All of it.
    pub(super) extent: Range<usize>,
}

/// A name with its place.
pub(super) struct Name {
    pub(super) name: String,
    pub(super) at: Range<usize>,
}

/// A variable that is read.
pub(super) struct Mention {
    pub(super) name: String,
    pub(super) at: Range<usize>,
    pub(super) how: How,
}

/// A variable that is compared with a text.
pub(super) struct Comparison {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

/// What is done with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
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
pub(super) type Link<'l> =
    dyn FnMut(&str, Range<usize>, bool, &mut Diagnostics) -> Option<usize> + 'l;

/// Returns the name of a template in the engine.
pub(super) fn template_name(number: usize) -> String {
    format!("t{number}")
}

/// Rewrites a parsed template. `repeated` says whether it may be rendered more than once, as an
/// included file may.
pub(super) fn rewrite(
    source: &Source,
    parsed: &Stmt<'_>,
    repeated: bool,
    link: &mut Link<'_>,
    out: &mut Diagnostics,
) -> Rewritten {
    let result = Rewritten::default();
    let mut rewriter = Rewriter { source, link, out, result, repeats: usize::from(repeated) };
    rewriter.statement(parsed);
    rewriter.result
}

struct Rewriter<'s, 'l> {
    source: &'s Source,
    link: &'s mut Link<'l>,
    out: &'s mut Diagnostics,
    result: Rewritten,
    /// How many constructs around this place may render it again.
    repeats: usize,
}

impl Rewriter<'_, '_> {
    fn put(&mut self, text: &str) {
        self.result.made.push_str(text);
    }

    /// Notes where the expression was written whose rewriting began at `start`.
    fn place(&mut self, start: usize, expr: &Expr<'_>) {
        let made = start..self.result.made.len();
        let place = Place { made, written: written(expr), extent: extent(expr) };
        self.result.places.push(place);
    }
}
