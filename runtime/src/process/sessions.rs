//! The sessions of this server, by their ids.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_machine::lock::lock;
use thiserror::Error;

use super::ids::{Ids, NoRandom};
use super::session::{Ends, Program, Session};
use crate::caller::principal::{CallerKey, Principal};
use crate::caller::slots::{Slot, Slots};

/// How long an ended session is kept for calls about it.
const ENDED_MAX: Duration = Duration::from_secs(300);

/// The sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    ids: Ids,
    all: Mutex<BTreeMap<String, Kept>>,
    of_callers: Slots<CallerKey>,
}

#[derive(Debug)]
struct Kept {
    session: Arc<Session>,
    _of_caller: Slot<CallerKey>,
}

/// No session can begin. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum NoSession {
    #[error("the limit of {max} sessions of this server is reached: end one with session_kill")]
    Full { max: usize },
    #[error("the limit of {max} of your sessions is reached: end one with session_kill")]
    Caller { max: usize },
    #[error(transparent)]
    Random(#[from] NoRandom),
}

impl Sessions {
    pub(super) fn new(principal_sessions_max: usize) -> Self {
        Self {
            ids: Ids::new(),
            all: Mutex::default(),
            of_callers: Slots::new(principal_sessions_max),
        }
    }

    /// Takes the room for one more session of a caller, before its program starts.
    pub(super) fn room(
        &self,
        owner: &Principal,
        sessions_max: usize,
    ) -> Result<Slot<CallerKey>, NoSession> {
        self.sweep();
        if lock(&self.all).len() >= sessions_max {
            return Err(NoSession::Full { max: sessions_max });
        }
        let max = self.of_callers.each_max();
        self.of_callers.take(owner.caller_key()).ok_or(NoSession::Caller { max })
    }

    /// Adds a session whose program runs in a terminal.
    pub(super) fn add(
        &self,
        (owner, room): (Arc<Principal>, Slot<CallerKey>),
        program: Program,
        ends: Ends,
    ) -> Result<Arc<Session>, NoSession> {
        let id = self.ids.next(program.terminal.kind().prefix())?;
        let session = Session::begin(id.clone(), owner, program, ends);
        let kept = Kept { session: session.clone(), _of_caller: room };
        lock(&self.all).insert(id, kept);
        Ok(session)
    }

    /// Returns the session of an id, if it is the caller's.
    pub(super) fn find(&self, id: &str, caller: &Principal) -> Option<Arc<Session>> {
        let all = lock(&self.all);
        let found = all.get(id).filter(|kept| kept.session.owner.is_same_caller(caller));
        found.map(|kept| kept.session.clone())
    }

    /// Forgets a session.
    pub(super) fn remove(&self, id: &str) {
        lock(&self.all).remove(id);
    }

    /// Returns the sessions of a caller, by their ids.
    pub(super) fn of(&self, caller: &Principal) -> Vec<Arc<Session>> {
        self.sweep();
        let all = lock(&self.all);
        let own = all.values().filter(|kept| kept.session.owner.is_same_caller(caller));
        own.map(|kept| kept.session.clone()).collect()
    }

    /// Returns all sessions.
    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        lock(&self.all).values().map(|kept| kept.session.clone()).collect()
    }

    /// Forgets sessions that ended long ago.
    fn sweep(&self) {
        lock(&self.all)
            .retain(|_, kept| kept.session.ended_for().is_none_or(|since| since < ENDED_MAX));
    }
}
