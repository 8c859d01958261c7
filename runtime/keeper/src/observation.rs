//! The observation of the system calls of a job: the words that both sides share.
//!
//! Each observed call runs as it would otherwise. Its arguments are numbers; the memory that some point
//! to is left unread.

/// The version of the list of observed calls; 0 for a program that only starts processes.
#[cfg(feature = "seccomp")]
pub const FILTER_VERSION: u32 = table::VERSION;
/// The version of the list of observed calls; 0 for a program that only starts processes.
#[cfg(not(feature = "seccomp"))]
pub const FILTER_VERSION: u32 = 0;

/// Returns whether this process may observe the system calls of its jobs, or the reason against it.
#[cfg(feature = "seccomp")]
pub fn observation_support() -> Result<(), String> {
    crate::seccomp::support()
}

/// Returns the reason why this process only starts programs.
#[cfg(not(feature = "seccomp"))]
pub fn observation_support() -> Result<(), String> {
    Err("this program is built without the feature `seccomp`".to_owned())
}

#[cfg(feature = "seccomp")]
pub use observed::{Observation, SystemCall, Unobserved, system_call_names};

#[cfg(feature = "seccomp")]
use crate::seccomp::table;

#[cfg(feature = "seccomp")]
mod observed;
