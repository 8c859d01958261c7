//! The shell that runs a text: its functions, traps and settings.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::span::Span;
use crate::syntax::Script;
use crate::value::Text;

/// The most bodies that are kept for a function.
const BODIES_MAX: usize = 8;

/// The state of a shell that is independent of the order of commands.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    /// Functions and aliases: the code that a call may run. Any definition may be in force: some
    /// are in a branch that does not run, or in a shell of their own.
    functions: BTreeMap<String, Functions>,
    /// The functions whose bodies are being interpreted.
    pub(crate) calls: Vec<Rc<Function>>,
    /// The number of function definitions so far.
    pub(crate) definitions: usize,
    /// Code that runs when the shell ends or gets a signal.
    pub(crate) traps: Vec<Text<'static>>,
    /// Variables whose values are evaluated when they are assigned.
    pub(crate) integers: Vec<String>,
    /// Whether every variable is exported.
    pub(crate) exports_all: bool,
    /// Whether the last word of a command, which is `$_` in the next one, may be an option.
    pub(crate) is_last_option: bool,
    /// Variables for programs that may change which code runs, until a program runs.
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
    /// Whether it is an alias, which is not expanded inside itself.
    pub(crate) is_alias: bool,
    /// The parsed text, shared by all calls.
    pub(crate) parsed: OnceCell<Parsed>,
}

/// A parsed text, in its readable form.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) text: Text<'static>,
    pub(crate) script: Script,
}

impl Shell {
    /// Forgets everything, to read the text once more.
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

    /// Returns the functions and aliases that a call may run.
    pub(crate) fn functions(&self, name: &[u8]) -> Option<&Functions> {
        if self.functions.is_empty() {
            return None;
        }
        self.functions.get(str::from_utf8(name).ok()?)
    }
}
