//! What is known of the shell that runs the text: variables, functions, folder, parameters.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::span::Span;
use crate::syntax::Script;
use crate::value::{Mark, Text, cut_of, may_be_option};

/// The most values of a variable that are kept.
pub(crate) const VALUES_MAX: usize = 8;
/// The most bodies of a function that are kept.
const BODIES_MAX: usize = 8;

/// The shell, as far as the order of commands does not matter.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    /// Shared with the shells around this one until either changes.
    variables: Rc<BTreeMap<String, Variable>>,
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
    /// The variables that are certain to have a value of the text where reading is now.
    certain: Vec<String>,
    /// How many assignments were read.
    pub(crate) assignments: usize,
    /// Whether any variable may have any value.
    lost: bool,
    /// Variables for programs that may change which code runs, until a program does.
    pub(crate) exports: Vec<Span>,
    /// Whether a variable got a value after it was read, so that the text must be read again.
    pub(crate) is_stale: bool,
}

/// The functions of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    pub(crate) bodies: Vec<Rc<Function>>,
    /// Whether there are more than are kept.
    pub(crate) is_cut: bool,
}

/// What a call of a function or alias runs.
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

/// The variables of a shell.
#[derive(Debug)]
pub(crate) struct Variables {
    variables: Rc<BTreeMap<String, Variable>>,
    certain: Vec<String>,
}

/// What a variable may hold, wherever it is read.
#[derive(Debug, Clone, Default)]
struct Variable {
    values: Vec<Rc<[u8]>>,
    /// The marks for words that are cut out of any of them.
    marks: Vec<u8>,
    /// The value that was assigned last.
    last: Option<Rc<[u8]>>,
    /// When it got one that was not added to what was there.
    assigned: usize,
    /// Whether it may hold anything, from outside of the text.
    is_outside: bool,
    /// Whether it may hold anything that the text itself makes.
    is_made: bool,
    read: bool,
    is_certain: bool,
    is_exported: bool,
}

/// What a variable holds where it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Held<'s> {
    /// One of these, or what a mark stands for.
    Values(&'s [Rc<[u8]>], Option<Mark>),
    /// This, which a shell gives it by itself.
    Given(&'static [u8]),
    /// What a mark stands for.
    Unknown(Mark),
}

impl Shell {
    /// Forgets what was certain, and which functions there are, to read the text once more.
    pub(crate) fn begin(&mut self) {
        self.functions.clear();
        self.calls.clear();
        self.traps.clear();
        self.exports_all = false;
        self.is_last_option = false;
        self.exports.clear();
        self.is_stale = false;
        self.leave(0);
        for variable in Rc::make_mut(&mut self.variables).values_mut() {
            variable.read = false;
        }
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

    /// Notes that a variable got a value that does not depend on what it held.
    pub(crate) fn set(&mut self, name: &str, value: Rc<[u8]>) {
        self.assignments += 1;
        self.assign(name, value);
        let now = self.assignments;
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.assigned = now;
        }
    }

    /// Adds a value. A mark alone is one that is not known.
    pub(crate) fn assign(&mut self, name: &str, value: Rc<[u8]>) {
        let variables = Rc::make_mut(&mut self.variables);
        if !variables.contains_key(name) {
            variables.insert(name.to_owned(), Variable::default());
        }
        let Some(variable) = variables.get_mut(name) else { return };
        variable.last = Some(Rc::clone(&value));
        let unknown = match unknown(&value) {
            Some(mark) => Some(mark),
            _ if variable.values.contains(&value) => None,
            _ if variable.values.len() < VALUES_MAX => {
                for mark in cut_of(&value) {
                    if !variable.marks.contains(&mark) {
                        variable.marks.push(mark);
                    }
                }
                variable.values.push(value);
                self.is_stale |= variable.read;
                None
            }
            _ => cut_of(&value).first().and_then(|first| Mark::of(*first)),
        };
        let changed = match unknown {
            None => false,
            Some(Mark::Made) => !std::mem::replace(&mut variable.is_made, true),
            Some(_) => !std::mem::replace(&mut variable.is_outside, true),
        };
        self.is_stale |= changed && variable.read;
        if !variable.is_certain {
            variable.is_certain = true;
            self.certain.push(name.to_owned());
        }
    }

    /// Returns the value that a variable certainly holds here, if it was assigned after `since`.
    pub(crate) fn current(&self, name: &str, since: usize) -> Option<&[u8]> {
        let variable = self.variables.get(name)?;
        let is_known = variable.is_certain && !self.lost && variable.assigned > since;
        variable.last.as_deref().filter(|last| is_known && unknown(last).is_none())
    }

    /// Returns whether any variable may hold anything.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Any variable may now hold anything.
    pub(crate) fn lose(&mut self) {
        self.is_stale |= !self.lost;
        self.lost = true;
    }

    /// Returns the variables, to be given back when a shell of its own has ended.
    pub(crate) fn fork(&self) -> Variables {
        Variables { variables: Rc::clone(&self.variables), certain: self.certain.clone() }
    }

    /// Gives the variables back: a shell of its own changes none of them. What it read stays marked.
    pub(crate) fn join(&mut self, Variables { mut variables, certain }: Variables) {
        if !Rc::ptr_eq(&self.variables, &variables) {
            for (name, variable) in &*self.variables {
                let is_new = |before: &Variable| !before.read;
                if variable.read && variables.get(name).is_none_or(is_new) {
                    Rc::make_mut(&mut variables).entry(name.clone()).or_default().read = true;
                }
            }
        }
        self.variables = variables;
        self.certain = certain;
    }

    /// In another process a variable that was not exported has no value, or one from outside.
    pub(crate) fn begin_process(&mut self) {
        if self.variables.is_empty() {
            return;
        }
        self.certain.clear();
        for variable in Rc::make_mut(&mut self.variables).values_mut() {
            // What another process read before it was assigned there is nothing that this one did.
            variable.read = false;
            if variable.is_exported {
                continue;
            }
            variable.is_certain = false;
            if !variable.values.is_empty() && variable.values.len() < VALUES_MAX {
                variable.values.push(Rc::from([]));
            }
        }
    }

    /// Notes that programs see a variable.
    pub(crate) fn export(&mut self, name: &str) {
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Gives the variables back as they were, without a mark of what was read.
    pub(crate) fn restore(&mut self, Variables { variables, certain }: Variables) {
        self.variables = variables;
        self.certain = certain;
    }

    /// Returns how many variables there are.
    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Returns a mark of what is certain now, for `leave`.
    pub(crate) fn enter(&self) -> usize {
        self.certain.len()
    }

    /// What became certain since the mark is not certain any more: the part of the text that made it so
    /// may not run. Returns its names.
    pub(crate) fn leave(&mut self, mark: usize) -> Vec<String> {
        if mark >= self.certain.len() {
            return Vec::new();
        }
        let variables = Rc::make_mut(&mut self.variables);
        let names: Vec<String> = self.certain.drain(mark..).collect();
        for name in &names {
            if let Some(variable) = variables.get_mut(name) {
                variable.is_certain = false;
            }
        }
        names
    }

    /// Notes that variables are certain to have one of their values.
    pub(crate) fn settle(&mut self, names: Vec<String>) {
        for name in names {
            if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(&name)
                && !variable.is_certain
            {
                variable.is_certain = true;
                self.certain.push(name);
            }
        }
    }

    /// Returns what a variable holds.
    pub(crate) fn held(&mut self, name: &str) -> Held<'_> {
        if self.lost {
            return Held::Unknown(Mark::Made);
        }
        if !self.variables.contains_key(name) {
            if let Some(value) = given(name) {
                return Held::Given(value);
            }
            // It is remembered that it was read, in case it is assigned later.
            Rc::make_mut(&mut self.variables).insert(name.to_owned(), Variable::default());
        }
        if self.variables.get(name).is_some_and(|variable| !variable.read)
            && let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name)
        {
            variable.read = true;
        }
        match self.variables.get(name) {
            Some(variable) => {
                // Where it is not certain that a value was assigned, it may have one from outside.
                let is_outside = variable.is_outside || !variable.is_certain;
                let mark = match (variable.is_made, is_outside) {
                    (true, _) => Some(Mark::Made),
                    (false, true) => Some(Mark::Hole),
                    (false, false) => None,
                };
                match mark {
                    Some(mark) if variable.values.is_empty() => Held::Unknown(mark),
                    mark => Held::Values(&variable.values, mark),
                }
            }
            None => Held::Unknown(Mark::Hole),
        }
    }

    /// Returns the marks for any value of a variable.
    pub(crate) fn marks(&self, name: &str) -> Vec<u8> {
        let marks = self.variables.get(name).map_or(&[][..], |variable| &variable.marks);
        cut_of(marks)
    }

    /// Returns whether the text gives a variable a value.
    pub(crate) fn is_assigned(&self, name: &str) -> bool {
        self.variables
            .get(name)
            .is_some_and(|variable| !variable.values.is_empty() || variable.is_made)
    }

    /// Returns whether the text may cut words at this byte, other than at blanks.
    fn separates(&self, byte: u8) -> bool {
        self.literals("IFS").iter().any(|value| value.contains(&byte))
    }

    /// Returns whether the text cuts words at other bytes than blanks.
    pub(crate) fn has_separators(&self) -> bool {
        let is_own = |value: &Rc<[u8]>| value.iter().any(|byte| !byte.is_ascii_whitespace());
        self.lost || self.literals("IFS").iter().any(is_own)
    }

    /// Returns the words that `read` cuts a line into.
    pub(crate) fn pieces<'l>(&self, line: &'l [u8]) -> Vec<&'l [u8]> {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || self.separates(*byte);
        line.split(separates).filter(|piece| !piece.is_empty()).collect()
    }

    /// Returns the mark for words that a shell cuts out of a value at the separators of the text; `None` if
    /// it cuts at blanks alone.
    pub(crate) fn cut(&self, value: &[u8]) -> Option<Vec<u8>> {
        if !self.has_separators() {
            return None;
        }
        let is_own = |byte: u8| !byte.is_ascii_whitespace() && self.separates(byte);
        if !value.iter().any(|byte| is_own(*byte)) {
            return None;
        }
        let is_option = value.split(|byte| is_own(*byte)).any(may_be_option);
        Some(if is_option { Mark::Made.text().to_vec() } else { cut_of(value) })
    }

    /// Returns all values that the text gives a variable, whether or not they are all.
    pub(crate) fn literals(&self, name: &str) -> &[Rc<[u8]>] {
        self.variables.get(name).map_or(&[], |variable| variable.values.as_slice())
    }
}

/// Returns the mark that is all of a value of which nothing is known.
fn unknown(value: &[u8]) -> Option<Mark> {
    let [byte] = value else { return None };
    Mark::of(*byte).filter(|mark| matches!(mark, Mark::Hole | Mark::Made))
}

/// Returns the value of a variable that a shell sets by itself.
fn given(name: &str) -> Option<&'static [u8]> {
    match name {
        "HOME" => Some(Mark::Home.text()),
        "TMPDIR" => Some(b"/tmp"),
        "IFS" => Some(b" "),
        "USER" | "LOGNAME" | "HOSTNAME" | "UID" | "EUID" | "PPID" | "RANDOM" | "SRANDOM"
        | "SECONDS" | "LINENO" | "SHLVL" | "BASHPID" | "EPOCHSECONDS" | "EPOCHREALTIME"
        | "BASH_VERSION" | "HOSTTYPE" | "MACHTYPE" | "OSTYPE" | "COLUMNS" | "LINES" => {
            Some(Mark::Name.text())
        }
        _ => None,
    }
}
