//! The state that all requests share: the bundle in force, and the state that changes at run time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arc_swap::{ArcSwap, Guard};
use tokio_util::sync::CancellationToken;

use crate::audit::{Audit, Entry};
use crate::caller::Caller;
use crate::calls::Calls;
use crate::keyring::Keyring;
use crate::load::{LoadError, Loaded, Loader};
use crate::lock::lock;
use crate::metrics::{Metrics, Reload};
use crate::settings::Settings;

/// The server. It holds all state that changes after the start.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Settings,
    pub(crate) audit: Audit,
    pub(crate) metrics: Metrics,
    /// The keys that seal and open the handles of briefings.
    pub(crate) keyring: Keyring,
    /// The calls of tools that are running.
    pub(crate) calls: Calls,
    /// Cancelled when the server must stop.
    pub(crate) closing: CancellationToken,
    loader: Loader,
    current: ArcSwap<Loaded>,
    last_reload_error: Mutex<Option<String>>,
}

impl Server {
    pub(crate) fn new(
        settings: Settings,
        audit: Audit,
        keyring: Keyring,
        loader: Loader,
        loaded: Loaded,
    ) -> Self {
        keyring.warn_of_own_key(&loaded.bundle);
        Self {
            calls: Calls::new(settings.limits.principal_calls_max.get()),
            settings,
            audit,
            metrics: Metrics::default(),
            keyring,
            closing: CancellationToken::new(),
            loader,
            current: ArcSwap::from_pointee(loaded),
            last_reload_error: Mutex::default(),
        }
    }

    /// Returns the bundle in force. A request takes it once and uses only this one.
    pub(crate) fn loaded(&self) -> Guard<Arc<Loaded>> {
        self.current.load()
    }

    /// Returns the loader of the bundle.
    pub(crate) fn loader(&self) -> &Loader {
        &self.loader
    }

    /// Puts `loaded` in force; returns what was in force before.
    pub(crate) fn replace(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.metrics.count_reload(Reload::Ok);
        self.keyring.warn_of_own_key(&loaded.bundle);
        *lock(&self.last_reload_error) = None;
        self.current.swap(loaded)
    }

    /// Returns why the last reload failed, if it did.
    pub(crate) fn last_reload_error(&self) -> Option<String> {
        lock(&self.last_reload_error).clone()
    }

    /// Records in log, audit and server state that a new bundle was refused and the old one stays
    /// in force.
    pub(crate) fn refuse_reload(&self, error: &LoadError) {
        self.metrics.count_reload(Reload::Failed);
        let reason = error.to_string();
        // Before the log, since someone who reads that may look here.
        *lock(&self.last_reload_error) = Some(reason.clone());
        let digest = self.loaded().bundle.digest();
        tracing::error!("{error}; {digest} stays in force");
        let entry = Entry::refused("bundle:reload".to_owned(), BTreeMap::new(), reason);
        self.audit.record(&Caller::operator(self.settings.principal.clone()), digest, entry);
    }
}
