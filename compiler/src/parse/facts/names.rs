//! Names of which each may be declared once.

use hashbrown::hash_map::{Entry, HashMap};
use miette::Diagnostic;
use thiserror::Error;

use super::written::Word;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// The names of one kind that were declared so far, with their places.
#[derive(Debug)]
pub(in crate::parse) struct Names {
    /// The kind of the named things: `option`.
    what: &'static str,
    first: HashMap<String, Span>,
}

impl Names {
    pub(in crate::parse) fn of(what: &'static str) -> Self {
        Self { what, first: HashMap::new() }
    }

    /// Takes these names, and reports those that were declared before.
    pub(super) fn declare<'n>(
        &mut self,
        names: impl Iterator<Item = Word<'n>>,
        out: &mut Diagnostics,
    ) {
        for Word { text, at } in names {
            match self.first.entry(text.to_owned()) {
                Entry::Vacant(entry) => _ = entry.insert(at),
                Entry::Occupied(first) => {
                    let (what, name, first_at) = (self.what, text.to_owned(), *first.get());
                    out.report(at, DeclaredTwice { what, name, first_at, at });
                }
            }
        }
    }
}

/// Only one of the two declarations would count, and a reader has to guess which one. If it is the
/// milder one, a command gets a tier that is too low.
#[derive(Debug, Error, Diagnostic)]
#[error("the {what} `{name}` is declared twice")]
#[diagnostic(code(fact::declared_twice), help("keep the declaration that is right"))]
struct DeclaredTwice {
    what: &'static str,
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}
