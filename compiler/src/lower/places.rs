//! Spans of the project as places in a bundle.

use relay_bundle::{Place, Setting};

use crate::automaton::Automata;
use crate::model;
use crate::source::{Sources, Span, Spanned};

/// Turns spans into places.
pub(super) struct Places<'s>(pub(super) &'s Sources<'s>);

impl Places<'_> {
    /// Returns the automata of the patterns of the project.
    pub(super) fn automata(&self) -> &Automata {
        self.0.automata()
    }

    pub(super) fn of(&self, at: Span) -> Place {
        self.0.place(at)
    }

    pub(super) fn written<T>(&self, Spanned { value, at }: Spanned<T>) -> Setting<T> {
        Setting { value, at: Some(self.of(at)) }
    }

    pub(super) fn optional<T>(&self, written: Option<Spanned<T>>) -> Option<Setting<T>> {
        written.map(|written| self.written(written))
    }

    pub(super) fn setting<T>(&self, model::Setting { value, at }: model::Setting<T>) -> Setting<T> {
        Setting { value, at: at.map(|at| self.of(at)) }
    }
}
