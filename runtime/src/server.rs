//! What all requests share: the bundle in force, and what changes while the server runs.

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
use crate::settings::Settings;

/// The server. Everything that changes after the start is in here.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Settings,
    pub(crate) audit: Audit,
    /// What seals and opens the handles of briefings.
    pub(crate) keyring: Keyring,
    /// The calls of tools that run.
    pub(crate) calls: Calls,
    /// Cancelled when the server shall stop.
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
            keyring,
            closing: CancellationToken::new(),
            loader,
            current: ArcSwap::from_pointee(loaded),
            last_reload_error: Mutex::default(),
        }
    }

    /// Returns the bundle in force. A request takes it once and keeps to it.
    pub(crate) fn loaded(&self) -> Guard<Arc<Loaded>> {
        self.current.load()
    }

    /// Returns what loads the bundle anew.
    pub(crate) fn loader(&self) -> &Loader {
        &self.loader
    }

    /// Puts `loaded` in force; returns what was in force before.
    pub(crate) fn replace(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.keyring.warn_of_own_key(&loaded.bundle);
        *lock(&self.last_reload_error) = None;
        self.current.swap(loaded)
    }

    /// Returns why the last reload changed nothing, if it did not.
    pub(crate) fn last_reload_error(&self) -> Option<String> {
        lock(&self.last_reload_error).clone()
    }

    /// Reports in log, audit and state that a new bundle was refused and the old one stays.
    pub(crate) fn refuse_reload(&self, error: &LoadError) {
        let digest = self.loaded().bundle.digest();
        tracing::error!("{error}; {digest} stays in force");
        let reason = error.to_string();
        let entry = Entry::refused("bundle:reload".to_owned(), BTreeMap::new(), reason.clone());
        self.audit.record(&Caller::operator(self.settings.principal.clone()), digest, entry);
        *lock(&self.last_reload_error) = Some(reason);
    }
}
