//! Sessions of legacy clients, and their owners.
//!
//! rmcp finds a session by its id alone, allows any number of them, and loses the stream of a
//! request when another one with its id comes before it is answered. Here a session belongs to the
//! caller who began it, all callers and each of them have limits, and a session has one request
//! with an id at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_machine::lock::lock;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::caller::principal::Principal;
use crate::settings::Settings;

/// Owners of ended sessions are dropped when there are this many more owners than sessions.
const ENDED_MAX: usize = 64;

/// The sessions of one server.
#[derive(Debug)]
pub(super) struct Sessions {
    sessions_max: usize,
    /// Only callers that authenticate can be distinguished.
    principal_sessions_max: Option<usize>,
    manager: Arc<LocalSessionManager>,
    owners: Arc<Mutex<Owners>>,
    /// The requests in flight, by session.
    in_flight: Arc<Mutex<BTreeSet<(String, String)>>>,
}

#[derive(Debug, Default)]
struct Owners {
    /// The owner of each session, by its id.
    begun: HashMap<String, Arc<Principal>>,
    /// The owners of sessions that are about to begin.
    beginning: BTreeMap<u64, Arc<Principal>>,
    next: u64,
}

/// The limit that keeps a session from beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The server has all of its sessions.
    All,
    /// The caller has all of its sessions.
    OfCaller,
}

/// A slot for one session, until it has begun or failed to begin.
pub(super) struct Room {
    number: u64,
    owners: Arc<Mutex<Owners>>,
}

impl Drop for Room {
    fn drop(&mut self) {
        lock(&self.owners).beginning.remove(&self.number);
    }
}

/// A request in flight. Its id can be used again when this is dropped.
pub(super) struct InFlight {
    request: (String, String),
    all: Arc<Mutex<BTreeSet<(String, String)>>>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.request);
    }
}

impl Sessions {
    pub(super) fn new(settings: &Settings) -> Self {
        let limits = &settings.limits;
        let mut manager = LocalSessionManager::default();
        let idle_s_max = limits.session_idle_s_max.get().into();
        manager.session_config.keep_alive = Some(Duration::from_secs(idle_s_max));
        let principal_sessions_max = limits.principal_sessions_max.get();
        Self {
            sessions_max: limits.sessions_max.get(),
            principal_sessions_max: settings.auth.is_some().then_some(principal_sessions_max),
            manager: Arc::new(manager),
            owners: Arc::default(),
            in_flight: Arc::default(),
        }
    }

    /// Returns rmcp's store of sessions.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        self.manager.clone()
    }

    /// Returns the number of sessions.
    pub(super) async fn count(&self) -> usize {
        self.manager.sessions.read().await.len()
    }

    /// Reserves a slot for a session that `principal` may begin.
    pub(super) async fn reserve(&self, principal: &Arc<Principal>) -> Result<Room, Full> {
        let sessions = self.manager.sessions.read().await;
        // Locked until the slot is taken, so that concurrent requests stay within the limits.
        let mut owners = lock(&self.owners);
        if sessions.len() + owners.beginning.len() >= self.sessions_max {
            return Err(Full::All);
        }
        if let Some(max) = self.principal_sessions_max {
            let begun = owners.begun.iter().filter(|(id, _)| sessions.contains_key(id.as_str()));
            let of_all = begun.map(|(_, owner)| owner).chain(owners.beginning.values());
            if of_all.filter(|owner| owner.is_same_caller(principal)).count() >= max {
                return Err(Full::OfCaller);
            }
        }
        let number = owners.next;
        owners.next += 1;
        owners.beginning.insert(number, principal.clone());
        Ok(Room { number, owners: self.owners.clone() })
    }

    /// Records the owner of the session `id`.
    pub(super) async fn claim(&self, id: &str, principal: Arc<Principal>) {
        let sessions = self.manager.sessions.read().await;
        let begun = &mut lock(&self.owners).begun;
        begun.insert(id.to_owned(), principal);
        if begun.len() > sessions.len() + ENDED_MAX {
            begun.retain(|id, _| sessions.contains_key(id.as_str()));
        }
    }

    /// Returns whether `principal` began the session `id`.
    pub(super) fn is_owner(&self, id: &str, principal: &Principal) -> bool {
        lock(&self.owners).begun.get(id).is_some_and(|owner| owner.is_same_caller(principal))
    }

    /// Marks a request of a session as in flight; `None` if one with the same id is.
    pub(super) fn take_id(&self, session: &str, id: &RequestId) -> Option<InFlight> {
        // As JSON, which tells the number 1 from the text "1".
        let id = serde_json::to_string(id).unwrap_or_default();
        let request = (session.to_owned(), id);
        let is_new = lock(&self.in_flight).insert(request.clone());
        is_new.then(|| InFlight { request, all: self.in_flight.clone() })
    }
}
