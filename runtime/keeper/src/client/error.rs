//! Errors of the start of a job.

use std::io;

use crate::job::{BODY_BYTES_MAX, JOBS_MAX, STRINGS_MAX, Step};

/// The reason why the start of a job failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The job is malformed.
    #[error("{0}")]
    Invalid(&'static str),
    /// The job has too many bytes.
    #[error(
        "program, folder, arguments and environment have {bytes} bytes, and at most {BODY_BYTES_MAX} \
         may be given"
    )]
    TooLarge {
        /// The bytes of the job.
        bytes: usize,
    },
    /// The job has too many arguments and variables.
    #[error("{strings} arguments and variables are given, and at most {STRINGS_MAX} may be")]
    TooMany {
        /// The arguments and variables of the job.
        strings: usize,
    },
    /// The keeper has [`JOBS_MAX`] jobs, or failed to receive this one.
    #[error("the keeper, which runs at most {JOBS_MAX} jobs, cannot take this one: {0}")]
    Admit(io::Error),
    /// The folder is missing or closed to the user.
    #[error("cannot enter the working folder: {0}")]
    Cwd(io::Error),
    /// The machine refused a terminal.
    #[error("cannot open a terminal: {0}")]
    Terminal(io::Error),
    /// The kernel refused to execute the program: it or its interpreter is missing, it is a file of
    /// another kind, the user lacks the permission, or the arguments exceed the kernel's limit.
    #[error("cannot execute the program: {0}")]
    Exec(io::Error),
    /// The answer took too long. The job is ended if it starts later.
    #[error("the keeper gave no answer within 10 seconds")]
    Late,
    /// The keeper ended meanwhile.
    #[error("the keeper ended before the job was started")]
    Lost,
    /// The start of a new keeper failed.
    #[error("cannot start a new keeper: {0}")]
    Keeper(io::Error),
    /// Keepers end too often.
    #[error("keepers ended several times within a minute, so the next one is started later")]
    Restarts,
}

impl StartError {
    pub(super) fn of_step(step: Step, error: io::Error) -> Self {
        match step {
            Step::Admit => Self::Admit(error),
            Step::Cwd => Self::Cwd(error),
            Step::Terminal => Self::Terminal(error),
            Step::Exec => Self::Exec(error),
        }
    }
}
