//! The state that all MCP requests share: the server, the bundle in force, and the listeners.

use std::io;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rmcp::model::CacheScope;

use super::subscriptions::Listeners;
use super::surface::Surface;
use crate::reload::{self, Follower};
use crate::server::Server;
use crate::settings::Settings;
use crate::trust::loaded::Loaded;

/// The state that all MCP requests share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) server: Arc<Server>,
    /// The clients that listen for changes.
    pub(super) listeners: Listeners,
    served: ArcSwapOption<Served>,
}

/// A bundle in force, with its MCP description. A request takes it once and uses only this one.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) loaded: Arc<Loaded>,
    pub(super) surface: Surface,
}

impl Service {
    pub(crate) fn new(server: Arc<Server>) -> Arc<Self> {
        let listeners = Listeners::new(&server.settings);
        Arc::new(Self { server, listeners, served: ArcSwapOption::empty() })
    }

    /// Returns the bundle in force.
    pub(super) fn served(&self) -> Arc<Served> {
        let loaded = self.server.loaded();
        let known = self.served.load();
        if let Some(known) = known.as_ref().filter(|known| Arc::ptr_eq(&known.loaded, &loaded)) {
            return known.clone();
        }
        let surface = Surface::new(&loaded);
        let served = Arc::new(Served { loaded: loaded.clone(), surface });
        self.served.store(Some(served.clone()));
        served
    }

    /// If callers authenticate, answers must stay out of shared caches.
    pub(super) fn cache_scope(&self) -> CacheScope {
        match self.server.settings.auth {
            Some(_) => CacheScope::Private,
            None => CacheScope::Public,
        }
    }

    /// Follows the bundle's path and SIGHUP, and notifies listeners of changes.
    ///
    /// `hang_up` is run on each SIGHUP with the settings as they are now, before the trust file and
    /// the bundle are read again.
    pub(crate) fn follow(
        self: &Arc<Self>,
        hang_up: impl Fn(&Settings) + Send + Sync + 'static,
    ) -> io::Result<()> {
        reload::follow(self.server.clone(), Following { service: self.clone(), hang_up })
    }
}

struct Following<F> {
    service: Arc<Service>,
    hang_up: F,
}

impl<F: Fn(&Settings) + Send + Sync + 'static> Follower for Following<F> {
    fn hang_up(&self, settings: &Settings) {
        (self.hang_up)(settings);
    }

    fn replaced(&self, old: &Arc<Loaded>, new: &Arc<Loaded>) {
        self.service.listeners.replaced(old, new);
    }
}
