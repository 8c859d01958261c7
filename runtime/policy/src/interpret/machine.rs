//! The shared state of the interpreter, and the points where its parts enter it again.

use super::choice::Choice;
use crate::effect::{Act, CallId, Effects, Hidden, What};
use crate::facts::Facts;
use crate::fuel::{Fuel, SPENT};
use crate::paths::Ground;
use crate::span::Span;
use crate::state::{Certain, Files, Frame, Shell, Variables};
use crate::syntax::{List, Part, Script};
use crate::tier::Floor;
use crate::value::{Field, Join, Stream, Text};

/// The deepest nesting of texts of code.
pub(super) const NESTING_MAX: u8 = 8;
/// The most programs that run one another.
pub(super) const WRAPPERS_MAX: u8 = 24;
/// The most readings of one command.
pub(super) const READINGS_MAX: usize = 8;

/// A parsed text, with the place of each byte in the classified text.
#[derive(Clone, Copy)]
pub(super) struct Code<'c> {
    pub(super) text: &'c str,
    pub(super) place: &'c Text<'c>,
    pub(super) script: &'c Script,
}

impl<'c> Code<'c> {
    /// Returns the place of a span of this text in the classified text.
    pub(super) fn place(&self, span: Span) -> Span {
        self.place.place_of(span)
    }

    pub(super) fn slice(&self, span: Span) -> &'c str {
        span.of(self.text)
    }
}

/// Everything that the interpretation of a text reads and changes.
pub(super) struct Machine<'f> {
    pub(super) facts: &'f Facts<'f>,
    /// The rules and folders that paths are judged by.
    pub(super) ground: Ground<'f>,
    pub(super) shell: Shell,
    pub(super) variables: Variables,
    pub(super) files: Files,
    /// The files of the project that the text runs under the name of a known program or module.
    pub(super) pinned: Vec<Pinned>,
    pub(super) effects: Effects,
    pub(super) fuel: Fuel,
    /// Whether a program may have read a part of standard input.
    pub(super) takes_input: bool,
    entry: Entry,
}

/// The functions of the interpreter that lower modules call: a word runs a substitution, a builtin
/// runs code, a program runs a program. They are passed down, so that modules import in one
/// direction.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) list: fn(&mut Machine<'_>, &Code<'_>, &List, &mut Frame, &Stream) -> Stream,
    pub(super) command: fn(&mut Machine<'_>, &[Field<'_>], &mut Frame, &Stream, Lookup) -> Stream,
    pub(super) reading:
        for<'c> fn(&mut Machine<'_>, &mut Reading<'_, 'c>, &'c [Part], Span) -> Field<'c>,
}

/// The things that the name of a command may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// A function, an alias or a program.
    Any,
    /// A program, even if a function has its name.
    Program,
}

/// A file of the project that a text runs under the name of a known program or module.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) kind: PinnedKind,
    /// Its path, seen from the work tree.
    pub(super) path: Vec<u8>,
    pub(super) call: Option<CallId>,
    pub(super) span: Span,
}

/// The kind of a file that the project pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PinnedKind {
    /// A program in a folder of tools, or a wrapper of the build.
    Program,
    /// A module of Python, if the project has a file of this name.
    Module,
}

impl<'f> Machine<'f> {
    /// Returns the machine for a text of this many bytes.
    pub(super) fn new(
        facts: &'f Facts<'f>,
        ground: Ground<'f>,
        bytes: usize,
        entry: Entry,
    ) -> Self {
        Self {
            facts,
            ground,
            shell: Shell::default(),
            variables: Variables::default(),
            files: Files::default(),
            pinned: Vec::new(),
            effects: Effects::default(),
            fuel: Fuel::new(bytes),
            takes_input: false,
            entry,
        }
    }

    /// Begins a round: the text is read once more, with all values of its variables.
    pub(super) fn begin_round(&mut self) {
        self.shell.begin_round();
        self.variables.begin_round();
        self.files.clear();
        self.pinned.clear();
        self.effects.clear();
        self.fuel.begin_round();
    }

    /// Spends steps; if they are spent, the text counts as not understood.
    pub(super) fn step(&mut self, steps: usize, at: Span) -> bool {
        let is_paid = self.fuel.spend(steps);
        if !is_paid {
            self.unparsed(at, SPENT);
        }
        is_paid
    }

    /// Returns whether this many steps are available, without spending them; otherwise acts as
    /// `step`.
    pub(super) fn affords(&mut self, steps: usize, at: Span) -> bool {
        self.fuel.has(steps) || self.step(steps, at)
    }

    /// Spends the cost of the value of a variable or parameter.
    pub(super) fn expands(&mut self, value: &[u8], at: Span) -> bool {
        self.step(Fuel::of_value(value), at)
    }

    /// Adds a doubt.
    pub(super) fn doubt(&mut self, floor: Floor, span: Span, reason: &'static str) {
        self.effects.add(What::Doubt(floor, reason), span);
    }

    /// Adds the doubt about a text that was not understood.
    pub(super) fn unparsed(&mut self, span: Span, reason: &'static str) {
        self.doubt(Floor::Unparsed, span, reason);
    }

    /// Adds hidden code that runs.
    pub(super) fn runs(&mut self, hidden: Hidden, span: Span, reason: &'static str) {
        self.effects.add(What::Runs(hidden, reason), span);
    }

    /// Adds an action of the shell itself.
    pub(super) fn does(&mut self, act: Act, span: Span) {
        self.effects.add(What::Does(act, None), span);
    }

    /// Interprets a part of the text that may be skipped, or that runs in a shell of its own.
    /// Values that it makes certain are uncertain afterwards.
    pub(super) fn perhaps<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> T {
        self.branch(part).0
    }

    /// Does the same as `perhaps`; also returns the variables that certainly have a value of the
    /// text after the part.
    pub(super) fn branch<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> (T, Certain) {
        let mark = self.variables.enter();
        let result = part(self);
        (result, self.variables.leave(mark))
    }

    /// Interprets a part in a process of its own, which leaves the variables of this one unchanged.
    pub(super) fn process<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.variables.clone();
        self.variables.begin_process();
        let result = part(self);
        let process = std::mem::take(&mut self.variables);
        self.variables = before.after_process(process);
        result
    }

    /// Interprets two alternative parts; each has its own variables.
    pub(super) fn either<T: Join>(
        &mut self,
        one: impl FnOnce(&mut Self) -> T,
        other: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.variables.clone();
        let first = one(self);
        let after = std::mem::replace(&mut self.variables, before);
        let second = other(self);
        self.variables = after.join(std::mem::take(&mut self.variables));
        first.join(second)
    }

    /// Interprets code that a call runs.
    pub(super) fn within<T>(&mut self, call: CallId, part: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.effects.enter(call);
        let result = part(self);
        self.effects.leave(outer);
        result
    }

    /// Interprets a list; returns the text that it writes.
    pub(super) fn list(
        &mut self,
        code: &Code<'_>,
        list: &List,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        (self.entry.list)(self, code, list, frame, input)
    }

    /// Interprets the words of a command; returns the text that it writes.
    pub(super) fn command(
        &mut self,
        words: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
        lookup: Lookup,
    ) -> Stream {
        (self.entry.command)(self, words, frame, input, lookup)
    }

    /// Expands the parts of a word to one text.
    pub(super) fn reading<'c>(
        &mut self,
        reading: &mut Reading<'_, 'c>,
        parts: &'c [Part],
        span: Span,
    ) -> Field<'c> {
        (self.entry.reading)(self, reading, parts, span)
    }

    /// Interprets the expansions in parts and drops their text.
    pub(super) fn visit<'c>(&mut self, code: &Code<'c>, parts: &'c [Part], frame: &mut Frame) {
        let choice = &mut Choice::of(0);
        self.reading(&mut Reading { code, frame, choice }, parts, Span::default());
    }
}

/// A reading of words: their code, their frame, and the values of variables.
pub(super) struct Reading<'r, 'c> {
    pub(super) code: &'r Code<'c>,
    pub(super) frame: &'r mut Frame,
    pub(super) choice: &'r mut Choice,
}
