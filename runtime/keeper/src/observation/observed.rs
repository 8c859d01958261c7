//! Observations and their bytes.

use std::fmt;

use rustix::io::Errno;

use crate::seccomp::table::{self, TABLE};
use crate::wire::{Malformed, Reader, Writer};

/// One thing that is known of the system calls of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A process asked for this call, which then ran.
    Call(SystemCall),
    /// The job made more calls than are reported. Later ones run unreported.
    Overflow {
        /// The process that made the first one.
        pid: u32,
        /// The calls that were reported.
        reported: u32,
    },
    /// The job runs unobserved.
    Unobserved(Unobserved),
}

/// A system call that a process asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// The process id of the thread.
    pub pid: u32,
    /// The kernel's number of the architecture (`AUDIT_ARCH_…`).
    pub(crate) audit: u32,
    /// The number of the call on its architecture.
    pub number: u32,
    /// Its arguments as they were in registers. The call may read fewer.
    pub arguments: [u64; 6],
}

/// The reason why a job runs unobserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unobserved {
    /// As many jobs are observed as may be.
    Full,
    /// The kernel refused, with this error number.
    Refused(i32),
}

/// Returns the names of all calls that are observed.
pub fn system_call_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|observed| observed.name)
}

impl SystemCall {
    /// Returns the name of the call; `None` for one of another architecture than this program's.
    pub fn name(&self) -> Option<&'static str> {
        table::name(self.audit, self.number)
    }

    /// Returns the name of its architecture.
    pub fn architecture(&self) -> &'static str {
        table::architecture_name(self.audit, self.number)
    }

    /// Returns whether it is of another architecture than this program's, where every call is reported.
    pub(crate) fn is_foreign(&self) -> bool {
        table::is_foreign(self.audit, self.number)
    }
}

impl fmt::Display for Unobserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("as many processes are observed as may be"),
            Self::Refused(errno) => {
                let error = Errno::from_raw_os_error(*errno);
                write!(f, "the kernel refused to report system calls: {error}")
            }
        }
    }
}

impl Observation {
    pub(crate) fn encode(&self, out: &mut Writer) {
        match self {
            Self::Call(SystemCall { pid, audit, number, arguments }) => {
                out.u8(0).u32(*pid).u32(*audit).u32(*number);
                for argument in arguments {
                    out.u64(*argument);
                }
            }
            Self::Overflow { pid, reported } => _ = out.u8(1).u32(*pid).u32(*reported),
            Self::Unobserved(Unobserved::Full) => _ = out.u8(2),
            Self::Unobserved(Unobserved::Refused(errno)) => _ = out.u8(3).i32(*errno),
        }
    }

    pub(crate) fn decode(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match from.u8()? {
            0 => {
                let (pid, audit, number) = (from.u32()?, from.u32()?, from.u32()?);
                let mut arguments = [0; 6];
                for argument in &mut arguments {
                    *argument = from.u64()?;
                }
                Self::Call(SystemCall { pid, audit, number, arguments })
            }
            1 => Self::Overflow { pid: from.u32()?, reported: from.u32()? },
            2 => Self::Unobserved(Unobserved::Full),
            3 => Self::Unobserved(Unobserved::Refused(from.i32()?)),
            _ => return Err(Malformed),
        })
    }
}
