//! What is known of the shell that runs the text: variables, functions, folder, parameters.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::span::Span;
use crate::syntax::Script;
use crate::text::{HOME, NAME, Text};

/// The most values of a variable that are kept.
pub(crate) const VALUES_MAX: usize = 8;

/// The shell, as far as the order of commands does not matter.
#[derive(Debug, Default)]
pub(crate) struct Shell {
    /// Shared with the shells around this one until either changes.
    variables: Rc<BTreeMap<String, Variable>>,
    /// Functions and aliases: what a call runs.
    pub(crate) functions: BTreeMap<String, Rc<Function>>,
    /// The functions whose bodies are being classified.
    pub(crate) calls: Vec<String>,
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

/// What a call of a function or alias runs.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) text: Text<'static>,
    /// The text, once it was parsed: every call reads the same.
    pub(crate) parsed: OnceCell<Parsed>,
}

/// A text that was parsed, as it was read.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) text: Text<'static>,
    pub(crate) script: Script,
}

impl Function {
    pub(crate) fn new(text: Text<'static>) -> Self {
        Self { text, parsed: OnceCell::new() }
    }
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
    /// The value that was assigned last.
    last: Option<Rc<[u8]>>,
    /// When it got one that was not added to what was there.
    assigned: usize,
    unknown: bool,
    read: bool,
    is_certain: bool,
}

/// What a variable holds where it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Held<'s> {
    /// One of these.
    Values(&'s [Rc<[u8]>]),
    /// This, which a shell gives it by itself.
    Given(&'static [u8]),
    /// Anything.
    Unknown,
}

impl Shell {
    /// Forgets what was certain, and which functions there are, to read the text once more.
    pub(crate) fn begin(&mut self) {
        self.functions.clear();
        self.calls.clear();
        self.exports.clear();
        self.is_stale = false;
        self.leave(0);
        for variable in Rc::make_mut(&mut self.variables).values_mut() {
            variable.read = false;
        }
    }

    /// Notes that a variable got a value that does not depend on what it held.
    pub(crate) fn set(&mut self, name: &str, value: Option<Rc<[u8]>>) {
        self.assignments += 1;
        self.assign(name, value);
        let now = self.assignments;
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.assigned = now;
        }
    }

    /// Adds a value; `None` is one that is not known.
    pub(crate) fn assign(&mut self, name: &str, value: Option<Rc<[u8]>>) {
        let variables = Rc::make_mut(&mut self.variables);
        if !variables.contains_key(name) {
            variables.insert(name.to_owned(), Variable::default());
        }
        let Some(variable) = variables.get_mut(name) else { return };
        variable.last.clone_from(&value);
        let changed = match value {
            Some(value) if variable.values.contains(&value) => false,
            Some(value) if variable.values.len() < VALUES_MAX => {
                variable.values.push(value);
                true
            }
            _ => !std::mem::replace(&mut variable.unknown, true),
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
        variable.last.as_deref().filter(|_| is_known)
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

    /// Returns how many variables there are.
    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Returns a mark of what is certain now, for `leave`.
    pub(crate) fn enter(&self) -> usize {
        self.certain.len()
    }

    /// What became certain since the mark is not certain any more: the part of the text that made it so
    /// may not run.
    pub(crate) fn leave(&mut self, mark: usize) {
        if mark >= self.certain.len() {
            return;
        }
        let variables = Rc::make_mut(&mut self.variables);
        for name in self.certain.drain(mark..) {
            if let Some(variable) = variables.get_mut(&name) {
                variable.is_certain = false;
            }
        }
    }

    /// Returns what a variable holds.
    pub(crate) fn held(&mut self, name: &str) -> Held<'_> {
        if self.lost {
            return Held::Unknown;
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
                if variable.unknown || !variable.is_certain {
                    Held::Unknown
                } else {
                    Held::Values(&variable.values)
                }
            }
            None => Held::Unknown,
        }
    }

    /// Returns all values that the text gives a variable, whether or not they are all.
    pub(crate) fn literals(&self, name: &str) -> &[Rc<[u8]>] {
        self.variables.get(name).map_or(&[], |variable| variable.values.as_slice())
    }
}

/// Returns the value of a variable that a shell sets by itself.
fn given(name: &str) -> Option<&'static [u8]> {
    match name {
        "HOME" => Some(&[HOME]),
        "PWD" => Some(b"."),
        "TMPDIR" => Some(b"/tmp"),
        "IFS" => Some(b" "),
        "USER" | "LOGNAME" | "HOSTNAME" | "UID" | "EUID" | "PPID" | "RANDOM" | "SRANDOM"
        | "SECONDS" | "LINENO" | "SHLVL" | "BASHPID" | "EPOCHSECONDS" | "EPOCHREALTIME"
        | "BASH_VERSION" | "HOSTTYPE" | "MACHTYPE" | "OSTYPE" | "COLUMNS" | "LINES" => {
            Some(&[NAME])
        }
        _ => None,
    }
}

/// Where and how commands run, which changes along the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The folder that relative paths begin at.
    pub(crate) folder: Folder,
    /// The positional parameters; `None` if they are not known.
    pub(crate) parameters: Option<Rc<[Text<'static>]>>,
    /// Whether what runs here runs for many things: in a loop, below `find` or `xargs`.
    pub(crate) is_many: bool,
    /// How many assignments were read before the loop around it, whose turns may change a value again.
    pub(crate) loop_since: usize,
    /// Whether it runs beside others: in a pipeline or in the background.
    pub(crate) is_beside: bool,
    /// Whether its input or output is a connection.
    pub(crate) is_connected: bool,
    /// How many texts of code are around it.
    pub(crate) nesting: u8,
    /// How many programs that run it are around it.
    pub(crate) wrappers: u8,
}

/// The folder that relative paths begin at.
#[derive(Debug, Clone, Default)]
pub(crate) enum Folder {
    /// The folder that the text begins in, which is the work tree.
    #[default]
    Work,
    /// This one, absolute, in home or below the work tree.
    Known(Rc<[u8]>),
    /// Another one.
    Unknown,
}

impl Folder {
    /// Returns whether two folders are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Work, Self::Work) => true,
            (Self::Known(one), Self::Known(other)) => one == other,
            _ => false,
        }
    }
}
