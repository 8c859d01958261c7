//! The processes of this server: where, with what and how many of them run. The keeper starts them.

mod buffer;
mod environment;
mod folder;
mod ids;
mod last_line;
mod local_terminal;
mod output;
mod program;
mod screen;
mod session;
mod sessions;
mod slots;
mod terminal;

use std::ffi::OsString;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "seccomp")]
use std::sync::Mutex;
#[cfg(feature = "seccomp")]
use std::time::Duration;

use relay_bundle::ShellSettings;
use relay_keeper::{Keeper, Started};
#[cfg(feature = "seccomp")]
use relay_machine::lock::lock;
use thiserror::Error;
use tokio::sync::OnceCell;
#[cfg(feature = "seccomp")]
use tokio::task::JoinSet;
#[cfg(feature = "seccomp")]
use tokio::time::timeout;

pub(crate) use self::buffer::Counts;
pub(crate) use self::environment::EnvironmentError;
pub(crate) use self::folder::{Folder, FolderError};
#[cfg(feature = "ssh")]
pub(crate) use self::ids::{Ids, NoRandom};
pub(crate) use self::local_terminal::LocalTerminal;
pub(crate) use self::output::{Captured, capture, open_streams};
pub(crate) use self::program::{Command, Interpreter, locate};
#[cfg(feature = "ssh")]
pub(crate) use self::screen::Screen;
pub(crate) use self::session::{Ends, Origin, Program, Received, Session, Shown};
pub(crate) use self::sessions::NoSession;
pub(crate) use self::slots::{Busy, Place};
#[cfg(feature = "ssh")]
pub(crate) use self::terminal::{Doing, Kind, Terminal};
pub(crate) use self::terminal::{End, SignalError};

use self::sessions::Sessions;
use self::slots::Places;
use crate::caller::principal::{CallerKey, Principal};
use crate::caller::slots::Slot;
use crate::settings::config::Processes as Settings;

/// This program, as the keeper is started: the file stays right when a new version replaces it.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The longest time after the end of all processes until their system calls are recorded.
#[cfg(feature = "seccomp")]
const OBSERVERS_END_MAX: Duration = Duration::from_secs(2);

/// The processes of this server.
#[derive(Debug)]
pub(crate) struct Processes {
    keeper: OnceCell<Keeper>,
    places: Places,
    sessions: Sessions,
    /// The variables of the server.
    variables: Vec<(OsString, OsString)>,
    observation: Observation,
    /// The tasks that record system calls.
    #[cfg(feature = "seccomp")]
    observers: Mutex<JoinSet<()>>,
}

/// The observation of system calls.
#[derive(Debug)]
pub(crate) struct Observation {
    /// The server is configured to observe.
    pub(crate) is_asked: bool,
    /// Whether it can, or the reason against it.
    pub(crate) supported: Result<(), String>,
    /// The most calls that are recorded of one call or session.
    pub(crate) calls_max: NonZeroU32,
}

/// The keeper cannot be started.
#[derive(Debug, Error)]
#[error("no process can be started: {0}")]
pub(crate) struct KeeperError(#[from] io::Error);

impl Processes {
    /// Returns the processes of a server with these variables.
    pub(crate) fn new(settings: &Settings, variables: Vec<(OsString, OsString)>) -> Self {
        let (places, sessions) =
            (Places::new(settings), Sessions::new(settings.principal_sessions_max.get()));
        let observation = Observation {
            is_asked: settings.observe_syscalls,
            supported: relay_keeper::observation_support(),
            calls_max: settings.observed_calls_max(),
        };
        if let (true, Err(reason)) = (observation.is_asked, &observation.supported) {
            tracing::warn!(
                "processes run unobserved, although `processes.observe-syscalls` is set: {reason}"
            );
        }
        Self {
            keeper: OnceCell::new(),
            places,
            sessions,
            variables,
            observation,
            #[cfg(feature = "seccomp")]
            observers: Mutex::default(),
        }
    }

    /// Returns the variables of a process of a call, whose own are a JSON object or empty.
    pub(crate) fn variables(
        &self,
        settings: &ShellSettings,
        json: &str,
    ) -> Result<Vec<(OsString, OsString)>, EnvironmentError> {
        environment::of_call(settings, &self.variables, json)
    }

    /// Finds the folder that a call asks for: empty for the default one, and relative to that.
    pub(crate) fn folder(
        &self,
        settings: &ShellSettings,
        asked: &str,
    ) -> Result<Folder, FolderError> {
        let home = self.variables.iter().find(|(name, _)| name == "HOME");
        let home = home.and_then(|(_, home)| home.to_str()).filter(|home| home.starts_with('/'));
        folder::find(settings, home, asked)
    }

    /// Returns the keeper, which is started with the first process.
    pub(crate) async fn keeper(&self) -> Result<&Keeper, KeeperError> {
        self.keeper
            .get_or_try_init(|| async { Ok(Started::start(Path::new(OWN_PROGRAM))?.attach()?) })
            .await
    }

    /// Returns how often a keeper ended unexpectedly and was replaced; its processes were lost.
    pub(crate) fn keepers_replaced(&self) -> u64 {
        self.keeper.get().map_or(0, Keeper::replaced)
    }

    /// Returns the state of the observation of system calls.
    pub(crate) fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Returns how many system calls of a job are recorded, if any are.
    #[cfg(feature = "seccomp")]
    pub(crate) fn observed_calls_max(&self) -> Option<NonZeroU32> {
        let Observation { is_asked, supported, calls_max } = &self.observation;
        (*is_asked && supported.is_ok()).then_some(*calls_max)
    }

    /// Runs a task that records system calls. The server waits for it before it ends.
    #[cfg(feature = "seccomp")]
    pub(crate) fn keep_observer(&self, observer: impl Future<Output = ()> + Send + 'static) {
        let mut observers = lock(&self.observers);
        while observers.try_join_next().is_some() {}
        observers.spawn(observer);
    }

    /// Waits for a place for one more process of a caller.
    pub(crate) async fn place(&self, caller: CallerKey) -> Result<Place, Busy> {
        self.places.take(caller).await
    }

    /// Takes the room for one more session of a caller, before its program starts.
    pub(crate) fn session_room(
        &self,
        owner: &Principal,
        sessions_max: usize,
    ) -> Result<Slot<CallerKey>, NoSession> {
        self.sessions.room(owner, sessions_max)
    }

    /// Adds a session whose program runs in a terminal.
    pub(crate) fn add_session(
        &self,
        owner: (Arc<Principal>, Slot<CallerKey>),
        program: Program,
        ends: Ends,
    ) -> Result<Arc<Session>, NoSession> {
        self.sessions.add(owner, program, ends)
    }

    /// Returns the session of an id, if it is the caller's.
    pub(crate) fn session(&self, id: &str, caller: &Principal) -> Option<Arc<Session>> {
        self.sessions.find(id, caller)
    }

    /// Returns the sessions of a caller, by their ids.
    pub(crate) fn sessions_of(&self, caller: &Principal) -> Vec<Arc<Session>> {
        self.sessions.of(caller)
    }

    /// Returns the sessions of all callers.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        self.sessions.all()
    }

    /// Forgets a session.
    pub(crate) fn forget_session(&self, id: &str) {
        self.sessions.remove(id);
    }

    /// Ends all processes.
    pub(crate) async fn end(&self) {
        if let Some(keeper) = self.keeper.get()
            && !keeper.close().await
        {
            tracing::warn!("some processes did not end in time");
        }
        #[cfg(feature = "seccomp")]
        {
            // With the keeper, everything that is observed has ended.
            let observers = std::mem::take(&mut *lock(&self.observers));
            if timeout(OBSERVERS_END_MAX, observers.join_all()).await.is_err() {
                tracing::warn!("some system calls are unrecorded");
            }
        }
    }
}
