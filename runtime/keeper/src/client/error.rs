//! Why a job was not started.

use std::io;

use crate::job::{BODY_BYTES_MAX, JOBS_MAX, STRINGS_MAX, Step};

/// The job was not started.
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
    /// The keeper has [`JOBS_MAX`] jobs, or could not receive this one.
    #[error("the keeper, which runs at most {JOBS_MAX} jobs, cannot take this one: {0}")]
    Admit(io::Error),
    /// The folder cannot be entered.
    #[error("cannot enter the working folder: {0}")]
    Cwd(io::Error),
    /// The terminal cannot be opened.
    #[error("cannot open a terminal: {0}")]
    Terminal(io::Error),
    /// The program cannot be executed: it or its interpreter is missing, it is no program, the user
    /// may not execute it, or the kernel takes fewer arguments.
    #[error("cannot execute the program: {0}")]
    Exec(io::Error),
    /// The keeper gave no answer in time. The job is ended if it starts later.
    #[error("the keeper gave no answer within 10 seconds")]
    Late,
    /// The keeper ended meanwhile.
    #[error("the keeper ended before the job was started")]
    Lost,
    /// A new keeper cannot be started.
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
