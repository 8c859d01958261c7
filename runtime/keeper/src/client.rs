//! The server's side of the keeper.

use std::collections::VecDeque;
use std::io;
#[cfg(feature = "seccomp")]
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[cfg(feature = "seccomp")]
use tokio::sync::mpsc;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout};

use crate::job::{Job, JobId, Streams};
use crate::message::Request;
#[cfg(feature = "seccomp")]
use crate::observation::Observation;
use link::Link;
use process::Process;

pub use error::StartError;
pub use running::Running;

mod error;
mod link;
mod order;
mod process;
mod running;
mod table;

/// The longest time that a spawn takes, a replacement of the keeper included.
const SPAWN_TIME_MAX: Duration = Duration::from_secs(10);

/// The most spawns that wait for the keeper at once; others wait for their turn.
const SPAWNS_MAX: usize = 32;

/// The most keepers that are started within [`RESTART_WINDOW`] to replace one that ended.
const RESTARTS_MAX: usize = 3;

/// The time in which restarts are counted.
const RESTART_WINDOW: Duration = Duration::from_mins(1);

/// The most lost keepers whose processes a new keeper ends.
const SWEEPS_MAX: usize = 4;

/// The longest time that an orderly end takes.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(9);

/// A keeper that was started and waits for the runtime.
///
/// Dropping it ends the keeper.
#[derive(Debug)]
pub struct Started {
    program: PathBuf,
    process: Process,
}

impl Started {
    /// Starts this program as keeper and waits until it is ready, at most five seconds.
    ///
    /// The program calls [`run`](crate::run) when its first argument is
    /// [`ARGUMENT`](crate::ARGUMENT). Call this before the runtime begins, with an absolute path;
    /// `/proc/self/exe` stays right when the program's file is replaced by a new version. An error
    /// names the cause: the program, the machine, another version, or silence.
    pub fn start(program: &Path) -> io::Result<Self> {
        Ok(Self { program: program.to_owned(), process: Process::start(program)? })
    }

    /// Returns the handle of the keeper. Must be called inside a tokio runtime with I/O and time;
    /// an error is one of registering the socket there.
    pub fn attach(self) -> io::Result<Keeper> {
        let current = Current {
            link: Arc::new(Link::open(self.process)?),
            restarts: VecDeque::new(),
            lost: VecDeque::new(),
            closed: false,
        };
        Ok(Keeper(Arc::new(Shared {
            program: self.program,
            current: Mutex::new(current),
            spawns: Semaphore::new(SPAWNS_MAX),
            next: AtomicU64::new(1),
            replaced: AtomicU64::new(0),
        })))
    }
}

/// A handle of the keeper, cheap to clone. When the last handle and the last [`Running`] are dropped,
/// the keeper ends.
#[derive(Clone, Debug)]
pub struct Keeper(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    current: Mutex<Current>,
    spawns: Semaphore,
    /// The number of the next job.
    next: AtomicU64,
    replaced: AtomicU64,
}

#[derive(Debug)]
struct Current {
    link: Arc<Link>,
    /// The times of the latest restarts.
    restarts: VecDeque<Instant>,
    /// The keys of the latest lost keepers.
    lost: VecDeque<u64>,
    closed: bool,
}

/// The observation of one job.
#[derive(Debug, Default)]
struct Watch {
    /// The most calls that are reported; 0 for an unobserved job.
    calls_max: u32,
    #[cfg(feature = "seccomp")]
    to: Option<mpsc::UnboundedSender<Observation>>,
}

/// The observations of one job, in order. Their number is bounded by that of its calls.
#[cfg(feature = "seccomp")]
#[derive(Debug)]
pub struct Observations(mpsc::UnboundedReceiver<Observation>);

#[cfg(feature = "seccomp")]
impl Observations {
    /// Returns the next observation; `None` when the job was dropped, and its last was returned.
    pub async fn next(&mut self) -> Option<Observation> {
        self.0.recv().await
    }
}

impl Keeper {
    /// Starts a job and returns it running.
    ///
    /// A failed exec is an error, also that of a script whose interpreter is missing. A
    /// keeper that ended is replaced first, at most three times a minute. An answer takes at most
    /// ten seconds. Dropping the future ends the job that it started.
    pub async fn spawn(&self, job: Job) -> Result<Running, StartError> {
        let body = order::encode(&job)?;
        let start = self.start(body, job.streams, Watch::default());
        timeout(SPAWN_TIME_MAX, start).await.unwrap_or(Err(StartError::Late))
    }

    /// Starts a job whose system calls are observed, and returns them too, at most `calls_max` of them.
    ///
    /// The calls of a job that is dropped are reported up to the drop. A kernel that refuses, or a
    /// keeper that observes as many jobs as it may, starts the job unobserved and says so among the
    /// observations. Everything else is as for [`spawn`](Self::spawn).
    #[cfg(feature = "seccomp")]
    pub async fn spawn_observed(
        &self,
        job: Job,
        calls_max: NonZeroU32,
    ) -> Result<(Running, Observations), StartError> {
        let body = order::encode(&job)?;
        let (to, observations) = mpsc::unbounded_channel();
        let start =
            self.start(body, job.streams, Watch { calls_max: calls_max.get(), to: Some(to) });
        let running = timeout(SPAWN_TIME_MAX, start).await.unwrap_or(Err(StartError::Late))?;
        Ok((running, Observations(observations)))
    }

    /// Returns how often a keeper ended unexpectedly and was replaced. Its jobs were lost.
    pub fn replaced(&self) -> u64 {
        self.0.replaced.load(Ordering::Relaxed)
    }

    /// Returns the process id of the present keeper.
    pub async fn pid(&self) -> u32 {
        self.0.current.lock().await.link.pid()
    }

    /// Ends all jobs and the keeper, and returns whether it is gone. Takes about one second when a
    /// job ignores TERM, at most nine. Later spawns fail.
    pub async fn close(&self) -> bool {
        let link = {
            let mut current = self.0.current.lock().await;
            current.closed = true;
            Arc::clone(&current.link)
        };
        timeout(CLOSE_TIME_MAX, link.close()).await.is_ok()
    }

    async fn start(
        &self,
        body: Vec<u8>,
        streams: Streams,
        watch: Watch,
    ) -> Result<Running, StartError> {
        let _turn = self.0.spawns.acquire().await.map_err(|_| StartError::Lost)?;
        let link = self.link().await?;
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let has_terminal = matches!(streams, Streams::Terminal(_));
        let (request, attached) = order::start(number, body, streams, watch.calls_max)?;
        let (claim, started) = running::claim(&link, number).await?;
        #[cfg(feature = "seccomp")]
        watch.to.into_iter().for_each(|to| link.observe(number, to));
        link.send(&request, &attached).await.map_err(StartError::Admit)?;
        // The job alone holds them now, so its end is seen by the reader.
        drop(attached);
        let id = JobId { keeper: link.key(), number };
        let (pid, terminal) = started.await.map_err(|_| StartError::Lost)??;
        if has_terminal && terminal.is_none() {
            let error = io::Error::from_raw_os_error(libc::EMFILE);
            return Err(StartError::Terminal(error));
        }
        Ok(Running::new(id, pid, terminal, claim))
    }

    /// Returns the link to a living keeper, a new one if need be.
    async fn link(&self) -> Result<Arc<Link>, StartError> {
        let mut current = self.0.current.lock().await;
        if current.closed {
            return Err(StartError::Lost);
        }
        if !current.link.is_lost() {
            return Ok(Arc::clone(&current.link));
        }
        let now = Instant::now();
        current.restarts.retain(|restart| now.duration_since(*restart) < RESTART_WINDOW);
        if current.restarts.len() >= RESTARTS_MAX {
            return Err(StartError::Restarts);
        }
        current.restarts.push_back(now);
        let program = self.0.program.clone();
        let started = tokio::task::spawn_blocking(move || Process::start(&program)).await;
        let process = started.map_err(io::Error::other).flatten().map_err(StartError::Keeper)?;
        let link = Arc::new(Link::open(process).map_err(StartError::Keeper)?);
        // The jobs of lost keepers are ended by the new one. Those of earlier ones may still be
        // there, since the last keeper may have been killed while it ended them.
        let key = current.link.key();
        current.lost.push_back(key);
        while current.lost.len() > SWEEPS_MAX {
            current.lost.pop_front();
        }
        for keeper in &current.lost {
            let sweep = Request::Sweep { keeper: *keeper };
            link.send(&sweep, &[]).await.map_err(StartError::Keeper)?;
        }
        self.0.replaced.fetch_add(1, Ordering::Relaxed);
        current.link = Arc::clone(&link);
        Ok(link)
    }
}
