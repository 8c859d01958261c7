//! The shell that runs a text: its functions, traps and settings.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::span::Span;
use crate::syntax::Script;
use crate::value::Text;

/// The most bodies of a function that are kept.
const BODIES_MAX: usize = 8;

/// The shell, as far as the order of commands does not matter.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    /// Functions and aliases: what a call may run. Which definition is in force is open: it may be in a
    /// branch that does not run, or in a shell of its own.
    functions: BTreeMap<String, Functions>,
    /// The functions whose bodies are being classified.
    pub(crate) calls: Vec<Rc<Function>>,
    /// How many functions were defined.
    pub(crate) definitions: usize,
    /// Code that runs when the shell ends or gets a signal.
    pub(crate) traps: Vec<Text<'static>>,
    /// Variables whose values are evaluated when they are assigned.
    pub(crate) integers: Vec<String>,
    /// Whether every variable is exported.
    pub(crate) exports_all: bool,
    /// Whether the last word of a command, which is `$_` in the next one, may be an option.
    pub(crate) is_last_option: bool,
    /// Variables for programs that may change which code runs, until a program does.
    pub(crate) exports: Vec<Span>,
}

/// The functions of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    pub(crate) bodies: Vec<Rc<Function>>,
    /// Whether there are more than are kept.
    pub(crate) is_cut: bool,
}

/// The code that a call of a function or alias runs.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) text: Text<'static>,
    /// Whether it is an alias, which is not expanded in itself.
    pub(crate) is_alias: bool,
    /// The text, once it was parsed: every call reads the same.
    pub(crate) parsed: OnceCell<Parsed>,
}

/// A text that was parsed, as it was read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) text: Text<'static>,
    pub(crate) script: Script,
}

impl Shell {
    /// Forgets what was read, to read the text once more.
    pub(crate) fn begin_round(&mut self) {
        self.functions.clear();
        self.calls.clear();
        self.traps.clear();
        self.exports_all = false;
        self.is_last_option = false;
        self.exports.clear();
    }

    /// Remembers a function or alias.
    pub(crate) fn define(&mut self, name: &str, text: Text<'static>, is_alias: bool) {
        self.definitions += 1;
        let known = self.functions.entry(name.to_owned()).or_default();
        let is_same =
            |body: &Rc<Function>| body.text.span == text.span && body.text.bytes == text.bytes;
        if known.bodies.iter().any(is_same) {
            return;
        }
        if known.bodies.len() < BODIES_MAX {
            known.bodies.push(Rc::new(Function { text, is_alias, parsed: OnceCell::new() }));
        } else {
            known.is_cut = true;
        }
    }

    /// Returns what a call of a function or alias may run.
    pub(crate) fn functions(&self, name: &str) -> Option<&Functions> {
        self.functions.get(name)
    }
}
