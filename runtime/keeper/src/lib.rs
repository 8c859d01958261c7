//! The keeper: a small process that starts every process and terminal of a server.
//!
//! The server starts its own program anew as keeper, before its runtime begins, and asks it for every
//! job over a socket. That gives four properties which a server with threads and much memory lacks:
//!
//! * The keeper adopts orphans (it is a child subreaper) and sees the end of the server, however the
//!   server ends. It then ends all jobs with everything that they started.
//! * A job has the descriptors 0, 1 and 2 alone: the keeper closes those that it inherits, and the
//!   few of its own are closed on exec.
//! * `posix_spawn` starts a job in a session of its own at the cost of a plain spawn, for every
//!   size of the server.
//! * The leader of a job stays a zombie until the job is released, so every signal to
//!   its process id reaches this job.
//!
//! [`run`] is the main loop of the keeper. [`Started`] and [`Keeper`] are the server's side.
//!
//! With the feature `seccomp`, a job may be observed: the kernel reports some of its system calls to the
//! keeper, which lets each run and passes the report on. Such a job starts through a *launcher*, which is
//! this program once more.
//!
//! # Limits
//!
//! Processes leave a job's reach when they set up a session of their own, clear their environment and
//! lose their parent before the job is ended. They end with the server. A setuid program of another
//! user, and work handed to a daemon (`at`, `systemd-run`), outlive both.

#![cfg_attr(not(feature = "seccomp"), forbid(unsafe_code))]

mod attached;
mod client;
mod job;
mod keeper;
#[cfg(feature = "seccomp")]
mod launcher;
mod message;
mod observation;
mod packet;
#[cfg(feature = "seccomp")]
mod seccomp;
mod wire;

#[cfg(feature = "seccomp")]
pub use client::Observations;
pub use client::{Keeper, Running, StartError, Started};
pub use job::{
    ARGUMENT, BODY_BYTES_MAX, Ended, GRACE_MAX, JOBS_MAX, Job, JobId, MARK, Reach, STRINGS_MAX,
    Size, Step, Streams,
};
pub use keeper::run;
pub use observation::{FILTER_VERSION, observation_support};
#[cfg(feature = "seccomp")]
pub use observation::{Observation, SystemCall, Unobserved, system_call_names};
pub use rustix::process::Signal;
