//! The frame of commands.

use std::rc::Rc;

use super::folder::Folder;
use super::parameters::Parameters;
use crate::value::{Join, Text};

/// The frame of commands: the state that they change, and the constructs around them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) state: State,
    /// `$0`, if the text defines it.
    pub(crate) zero: Option<Rc<Text<'static>>>,
    /// Whether commands here run for many things: in a loop, below `find` or `xargs`.
    pub(crate) is_many: bool,
    /// The number of assignments read before the surrounding loop, whose turns may change a value
    /// again.
    pub(crate) loop_since: usize,
    /// Whether it runs beside others: in a pipeline or in the background.
    pub(crate) is_beside: bool,
    /// The number of texts of code around it.
    pub(crate) nesting: u8,
    /// The number of programs around it that run it.
    pub(crate) wrappers: u8,
    /// The shell that reads the code here.
    pub(crate) dialect: Dialect,
}

/// The state of a shell that its commands change along the text, beside its variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// The folder that relative paths start at.
    pub(crate) folder: Folder,
    pub(crate) parameters: Parameters,
    /// The folders left by `pushd`; empty if their number is unknown.
    pub(crate) stack: Vec<Folder>,
    /// Whether its input or output is a connection.
    pub(crate) is_connected: bool,
}

/// The state after either of two parts of a text.
impl Join for State {
    fn join(self, other: Self) -> Self {
        let is_as_deep = self.stack.len() == other.stack.len();
        let stack = self.stack.into_iter().zip(other.stack);
        Self {
            folder: self.folder.join(other.folder),
            parameters: self.parameters.join(other.parameters),
            stack: if is_as_deep {
                stack.map(|(one, other)| one.join(other)).collect()
            } else {
                Vec::new()
            },
            is_connected: self.is_connected || other.is_connected,
        }
    }
}

impl Frame {
    /// Joins the state after commands that may not have run with the state before them.
    pub(crate) fn rejoin(&mut self, after: State) {
        self.state = std::mem::take(&mut self.state).join(after);
    }
}

/// The shell that reads code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// bash.
    #[default]
    Bash,
    /// A shell that may be bash or another: `sh`, or the shell of another user or host.
    Other,
    /// As `Other`, in the reading of bash.
    OtherAsBash,
    /// As `Other`, in the reading of a shell without the extensions of bash.
    Posix,
}

impl Dialect {
    /// Returns the dialect of a shell with this name.
    pub(crate) fn of_shell(name: &[u8]) -> Self {
        match name {
            b"bash" | b"rbash" => Self::Bash,
            // It has every extension of bash that other shells read differently.
            b"zsh" => Self::OtherAsBash,
            _ => Self::Other,
        }
    }

    pub(crate) const fn is_bash(self) -> bool {
        matches!(self, Self::Bash)
    }
}
