//! Sessions of legacy clients, and their owners.
//!
//! rmcp finds a session by its id alone and does not limit the number of sessions. Here a session
//! belongs to the caller who began it, and their number is limited.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::config::Limits;
use crate::lock::lock;
use crate::principal::Principal;

/// Owners of ended sessions are dropped when there are this many more owners than sessions.
const ENDED_MAX: usize = 64;

/// The sessions of one server.
#[derive(Debug)]
pub(super) struct Sessions {
    sessions_max: usize,
    /// Sessions that are about to begin.
    beginning: Arc<AtomicUsize>,
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, Arc<Principal>>>,
}

/// A slot for one session, until it has begun or failed to begin.
pub(super) struct Room(Arc<AtomicUsize>);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut manager = LocalSessionManager::default();
        let idle_s_max = limits.session_idle_s_max.get().into();
        manager.session_config.keep_alive = Some(Duration::from_secs(idle_s_max));
        Self {
            sessions_max: limits.sessions_max.get(),
            beginning: Arc::default(),
            manager: Arc::new(manager),
            owners: Mutex::default(),
        }
    }

    /// Returns rmcp's store of sessions.
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        self.manager.clone()
    }

    /// Reserves a slot for a session that may begin; `None` if all are in use.
    pub(super) async fn reserve(&self) -> Option<Room> {
        let begun = self.manager.sessions.read().await.len();
        let beginning = self.beginning.fetch_add(1, Ordering::AcqRel);
        let room = Room(self.beginning.clone());
        (begun + beginning < self.sessions_max).then_some(room)
    }

    /// Records the owner of the session `id`.
    pub(super) async fn claim(&self, id: &str, principal: Arc<Principal>) {
        let sessions = self.manager.sessions.read().await;
        let mut owners = lock(&self.owners);
        owners.insert(id.to_owned(), principal);
        if owners.len() > sessions.len() + ENDED_MAX {
            owners.retain(|id, _| sessions.contains_key(id.as_str()));
        }
    }

    /// Returns whether `principal` began the session `id`.
    pub(super) fn is_owner(&self, id: &str, principal: &Principal) -> bool {
        lock(&self.owners).get(id).is_some_and(|owner| owner.is_same_caller(principal))
    }
}
