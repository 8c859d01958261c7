//! What all requests share: the bundle in force, and what changes while the server runs.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use relay_engine::audit_record::{Action, AuditRecord, OutputHash};
use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::clock;
use crate::keyring::Keyring;
use crate::load::{LoadError, Loaded, Loader};
use crate::mcp::Listeners;
use crate::settings::Settings;

/// The server. Everything that changes after the start is in here.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Settings,
    pub(crate) audit: Audit,
    /// What seals and opens the handles of briefings.
    pub(crate) keyring: Keyring,
    /// Who wants to hear of changes.
    pub(crate) listeners: Listeners,
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
            listeners: Listeners::new(&settings.limits),
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

    /// Returns the bundle in force for a request that waits for something while it is answered.
    pub(crate) fn loaded_full(&self) -> Arc<Loaded> {
        self.current.load_full()
    }

    /// Returns what loads the bundle anew.
    pub(crate) fn loader(&self) -> &Loader {
        &self.loader
    }

    /// Puts `loaded` in force; returns what was in force before.
    pub(crate) fn replace(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.keyring.warn_of_own_key(&loaded.bundle);
        *self.last_reload_error.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.current.swap(loaded)
    }

    /// Returns why the last reload changed nothing, if it did not.
    pub(crate) fn last_reload_error(&self) -> Option<String> {
        self.last_reload_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells everywhere that a new bundle was refused and the old one stays in force.
    pub(crate) fn refuse_reload(&self, error: &LoadError) {
        let digest = self.loaded().bundle.digest();
        tracing::error!("{error}; {digest} stays in force");
        let reason = error.to_string();
        if self.audit.is_on() {
            let (output_sha256, output_len) = OutputHash::default().finish();
            self.audit.record(&AuditRecord {
                ts: clock::timestamp(),
                tool: "bundle:reload".to_owned(),
                tier: 0,
                denied: true,
                args: Default::default(),
                output_sha256,
                output_len,
                exit_code: None,
                request_id: String::new(),
                principal: &self.settings.principal.id,
                tenant: None,
                bundle: digest.to_string(),
                rule: reason.clone(),
                action: Action::Refused,
                prompts: Vec::new(),
                traceparent: None,
            });
        }
        *self.last_reload_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }
}
