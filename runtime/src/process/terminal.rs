//! A program in a terminal, wherever it runs.

use std::fmt;
use std::io;
use std::pin::Pin;

use relay_keeper::{Signal, Size};
use thiserror::Error;

use super::screen::Screen;

/// The work of a terminal.
pub(crate) type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A program in a terminal, here or on another host.
pub(crate) trait Terminal: fmt::Debug + Send + Sync {
    /// Returns where it runs.
    fn kind(&self) -> Kind;

    /// Waits for output, which goes to `screen`, or for the end of the program, before which all of its
    /// output was given. Only the keeper of its session calls it. Dropping the future loses nothing.
    fn next<'a>(&'a self, screen: &'a Screen) -> Doing<'a, Option<End>>;

    /// Types a text. After an error, an unknown part of it was typed.
    fn write<'a>(&'a self, text: &'a str) -> Doing<'a, io::Result<()>>;

    /// Changes the size.
    fn resize(&self, size: Size) -> Doing<'_, io::Result<()>>;

    /// Signals the program and its jobs.
    fn signal(&self, signal: Signal) -> Doing<'_, Result<(), SignalError>>;

    /// Ends the program and its jobs; returns whether they surely ended.
    fn end(&self) -> Doing<'_, bool>;

    /// Returns whether it is known to take a line without showing it, as for a password.
    fn hides_input(&self) -> bool;
}

/// Where the program of a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On this machine.
    Local,
    /// On another host.
    #[cfg(feature = "ssh")]
    Remote,
}

impl Kind {
    /// Returns its word in lists.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Local => "shell",
            #[cfg(feature = "ssh")]
            Self::Remote => "ssh",
        }
    }

    /// Returns the beginning of the ids of its sessions.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Local => "sh",
            #[cfg(feature = "ssh")]
            Self::Remote => "ssh",
        }
    }
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It returned this exit code; negative for a death by the signal of that number.
    Exited(i32),
    /// Its exit code is unknown, for this reason.
    Unknown(&'static str),
}

impl End {
    /// Returns the exit code, as Python numbers the death by a signal.
    pub(crate) fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Unknown(_) => None,
        }
    }
}

/// A signal did not reach the program. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum SignalError {
    /// It has ended, which is as good.
    #[error("the program has ended")]
    Ended,
    #[cfg(feature = "ssh")]
    #[error("SSH has no such signal: send INT, QUIT, TSTP, HUP, TERM, KILL, ALRM, USR1 or USR2")]
    Unknown,
    #[cfg(feature = "ssh")]
    #[error("the host takes nothing, so the signal is not sent: end the session")]
    Blocked,
}
