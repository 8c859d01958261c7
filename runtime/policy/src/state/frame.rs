//! Where and how commands run.

use std::rc::Rc;

use super::folder::Folder;
use super::parameters::Parameters;
use crate::value::{MADE, Text};

/// Where and how commands run, which changes along the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// The folder that relative paths begin at.
    pub(crate) folder: Folder,
    pub(crate) parameters: Parameters,
    /// The folders that `pushd` left.
    pub(crate) stack: Vec<Folder>,
    /// `$0`, if the text says what it is.
    pub(crate) zero: Option<Rc<Text<'static>>>,
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
    /// Which shell reads the code here.
    pub(crate) dialect: Dialect,
}

impl Frame {
    /// After commands that may not have run, the folder is known only if they left it as it was.
    pub(crate) fn rejoin(&mut self, inner: &Self) {
        self.folder = self.folder.either(&inner.folder);
        if !self.parameters.is_same(&inner.parameters) {
            let is_made = self.parameters.mark() == MADE || inner.parameters.mark() == MADE;
            self.parameters = if is_made { Parameters::Made } else { Parameters::Outside };
        }
        if self.stack.len() != inner.stack.len() {
            self.stack.clear();
        }
        self.is_connected |= inner.is_connected;
    }
}

/// Which shell reads code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// bash.
    #[default]
    Bash,
    /// One that may be bash, or another: `sh`, or that of another user or host.
    Other,
    /// As `Other`, in the reading of bash.
    OtherAsBash,
    /// As `Other`, in the reading of a shell that has nothing of bash.
    Posix,
}

impl Dialect {
    /// Returns which shell a program of this name is.
    pub(crate) fn of_shell(name: &[u8]) -> Self {
        match name {
            b"bash" | b"rbash" => Self::Bash,
            // It has all that of bash which other shells read otherwise.
            b"zsh" => Self::OtherAsBash,
            _ => Self::Other,
        }
    }

    pub(crate) const fn is_bash(self) -> bool {
        matches!(self, Self::Bash)
    }
}
