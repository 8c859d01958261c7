//! Jobs, their limits and how they end: the words that both sides share.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

/// The most bytes of a job: program, folder, arguments and environment, with four bytes for each
/// text. The kernel has a lower limit for most machines, and its refusal is reported as such.
pub const BODY_BYTES_MAX: usize = 4 << 20;

/// The most arguments and variables of a job together.
pub const STRINGS_MAX: usize = 65_536;

/// The most jobs of a keeper, those that it is ending included.
pub const JOBS_MAX: usize = 1024;

/// The longest time between the first signal and KILL when a job is ended. A longer one is shortened
/// to this.
pub const GRACE_MAX: Duration = Duration::from_mins(1);

/// The variable that names a job in the environment of all its processes.
pub const MARK: &str = "RELAY_CALL";

/// The first argument of a program that shall run as keeper.
pub const ARGUMENT: &str = "--keeper";

/// A program to run, with everything that it gets.
#[derive(Debug)]
pub struct Job {
    /// The absolute path of the program.
    pub program: PathBuf,
    /// The arguments, the program's own name first. At least one.
    pub argv: Vec<OsString>,
    /// The complete environment. The keeper adds [`MARK`].
    pub environment: Vec<(OsString, OsString)>,
    /// The absolute path of the folder that the program begins in.
    pub cwd: PathBuf,
    /// The descriptors 0, 1 and 2.
    pub streams: Streams,
}

/// The descriptors 0, 1 and 2 of a job.
#[derive(Debug)]
pub enum Streams {
    /// These three.
    Descriptors {
        /// Descriptor 0.
        input: OwnedFd,
        /// Descriptor 1.
        output: OwnedFd,
        /// Descriptor 2.
        error: OwnedFd,
    },
    /// A new terminal, which controls the session of the job.
    Terminal(Size),
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// The identity of a job, different for every job of every keeper. It is the value of [`MARK`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId {
    /// A random number of the keeper.
    pub(crate) keeper: u64,
    /// The number of the job, counted by the server.
    pub(crate) number: u64,
}

impl JobId {
    /// Returns the beginning that the marks of all jobs of this keeper have.
    pub(crate) fn mark_of_keeper(self) -> String {
        format!("{:016x}-", self.keeper)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mark_of_keeper(), self.number)
    }
}

/// How a job's leader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The keeper ended first, so the outcome is unknown.
    Lost,
}

/// The processes of a job that a signal goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The process group of the leader.
    Group,
    /// All process groups of the leader's session, such as the jobs of an interactive shell.
    Session,
}

/// The step of a start that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Find a place among the jobs, and receive descriptors and body.
    Admit,
    /// Enter the folder.
    Cwd,
    /// Open the terminal.
    Terminal,
    /// Execute the program.
    Exec,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Admit => "admit",
            Self::Cwd => "cwd",
            Self::Terminal => "terminal",
            Self::Exec => "exec",
        })
    }
}
