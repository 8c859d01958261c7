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
//! # Limits
//!
//! Processes leave a job's reach when they set up a session of their own, clear their environment and
//! lose their parent before the job is ended. They end with the server. A setuid program of another
//! user, and work handed to a daemon (`at`, `systemd-run`), outlive both.

#![forbid(unsafe_code)]

mod client;
mod job;
mod keeper;
mod message;
mod packet;
mod wire;

pub use client::{Keeper, Running, StartError, Started};
pub use job::{
    BODY_BYTES_MAX, Ended, GRACE_MAX, JOBS_MAX, Job, JobId, MARK, Reach, STRINGS_MAX, Size, Step,
    Streams,
};
pub use keeper::{ARGUMENT, run};
pub use rustix::process::Signal;
