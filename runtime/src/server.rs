//! The state that all requests share: the bundle in force, and the state that changes at run time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use relay_engine::audit_record::OutputHash;
use relay_machine::clock;
use relay_machine::lock::lock;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::caller::approvals::Approvals;
use crate::caller::calls::Calls;
use crate::caller::principal::Principal;
use crate::caller::refusals::{Due, Refusals};
use crate::process::Processes;
use crate::record::audit::{Audit, Entry};
use crate::record::metrics::{Metrics, Reload};
use crate::record::sent_texts::SentTexts;
#[cfg(feature = "ssh")]
use crate::remote::Remote;
use crate::settings::Settings;
use crate::trust::keyring::Keyring;
use crate::trust::load::{LoadError, Loader};
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// The server. It holds all state that changes after the start.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Settings,
    pub(crate) audit: Audit,
    pub(crate) metrics: Metrics,
    /// The keys that seal and open the handles of briefings.
    pub(crate) keyring: Keyring,
    /// The texts of skills sent to callers with a handle.
    pub(crate) sent_texts: SentTexts,
    /// The questions to persons.
    pub(crate) approvals: Approvals,
    /// The running calls of tools.
    pub(crate) calls: Calls,
    /// The processes that they start.
    pub(crate) processes: Processes,
    /// The other hosts that they reach.
    #[cfg(feature = "ssh")]
    pub(crate) remote: Remote,
    /// Cancelled when the server must stop.
    pub(crate) closing: CancellationToken,
    loader: Loader,
    current: ArcSwap<Loaded>,
    last_reload_error: Mutex<Option<String>>,
    refusals: Refusals,
}

/// The label in records of an unauthenticated request.
const AUTHENTICATION: &str = "authentication";
/// The label in records of a request that was refused unread.
const REQUEST: &str = "request";
/// The delay of the record that counts requests that are only counted.
const COUNT_DELAY: Duration = Duration::from_secs(1);

impl Server {
    pub(crate) fn new(
        settings: Settings,
        audit: Audit,
        (keyring, approvals): (Keyring, Approvals),
        loader: Loader,
        loaded: Arc<Loaded>,
    ) -> Self {
        keyring.warn_of_own_key(loaded.has_gate());
        loader.log_what_is_forgotten(settings.transport);
        Self {
            approvals,
            calls: Calls::new(settings.limits.principal_calls_max.get()),
            processes: Processes::new(&settings.processes, settings.variables.clone()),
            #[cfg(feature = "ssh")]
            remote: Remote::new(&settings.ssh, loader.host_files().account().clone()),
            settings,
            audit,
            metrics: Metrics::default(),
            keyring,
            sent_texts: SentTexts::default(),
            closing: CancellationToken::new(),
            loader,
            current: ArcSwap::new(loaded),
            last_reload_error: Mutex::default(),
            refusals: Refusals::default(),
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

    /// Puts `loaded` in force; returns the bundle before.
    pub(crate) fn replace(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.metrics.count_reload(Reload::Ok);
        self.keyring.warn_of_own_key(loaded.has_gate());
        *lock(&self.last_reload_error) = None;
        let new = loaded.manifest().project.value.clone();
        let replaced = self.current.swap(loaded);
        self.record_reload(&replaced);
        let old = &replaced.manifest().project.value;
        if *old != new {
            tracing::warn!(
                "project `{new}` replaces project `{old}`: `project = \"{old}\"` in the trust file would have refused it"
            );
        }
        replaced
    }

    /// Judges the bundle in force again, by the trust file as it is now. From here on a revoked
    /// bundle is withheld.
    pub(crate) fn judge_again(&self) -> Result<(), LoadError> {
        let loaded = self.loaded();
        let was_revoked = loaded.in_force().is_err();
        self.loader.judge_again(&loaded)?;
        let standing = loaded.standing();
        if let Some(reason) = standing.revocation().filter(|_| !was_revoked) {
            self.record_refused_bundle("bundle:revoked", reason.to_owned());
            tracing::error!("{reason}; nothing is served until a trusted bundle comes");
        }
        Ok(())
    }

    /// Returns why a starting server would refuse the bundle in force.
    pub(crate) fn doubt(&self) -> Option<String> {
        self.loaded().standing().doubt(clock::unix_seconds()).map(ToOwned::to_owned)
    }

    /// Returns why the last reload failed.
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
        self.record_refused_bundle("bundle:reload", reason);
        let loaded = self.loaded();
        match loaded.in_force() {
            Ok(()) => tracing::error!("{error}; {} stays in force", loaded.digest()),
            Err(_) => tracing::error!("{error}; nothing is served"),
        }
    }

    /// Records an unauthenticated request. `claimed` is the kind and the name of the known API key
    /// or issuer that they name.
    pub(crate) fn refuse_caller(self: &Arc<Self>, reason: &str, claimed: Option<(&str, &str)>) {
        let args = claimed.map(|(kind, name)| (kind, name.to_owned())).into_iter().collect();
        let entry = Entry::refused(AUTHENTICATION.to_owned(), args, reason.to_owned());
        self.record_refusal(Principal::unauthenticated(), entry);
    }

    /// Returns the reason for refusing a caller a place in the project, and records it.
    pub(crate) fn refuse_without_place(
        self: &Arc<Self>,
        principal: &Arc<Principal>,
    ) -> Option<String> {
        let loaded = self.loaded().clone();
        let reason = match Placed::new(loaded.clone(), principal) {
            Ok(placed) => placed.refusal()?.to_string(),
            Err(damage) => {
                loaded.note_damage(&damage);
                damage.to_string()
            }
        };
        self.refuse_request(principal, &reason);
        Some(reason)
    }

    /// Records that a request of `principal` was refused unread.
    pub(crate) fn refuse_request(self: &Arc<Self>, principal: &Arc<Principal>, reason: &str) {
        let entry = Entry::refused(REQUEST.to_owned(), BTreeMap::new(), reason.to_owned());
        self.record_refusal(principal.clone(), entry);
    }

    fn record_refusal(self: &Arc<Self>, principal: Arc<Principal>, entry: Entry<'_>) {
        let Due { counted, own, begins_count } = self.refusals.add(clock::unix_seconds());
        self.record_count(counted);
        if own {
            let named = entry.args.iter().map(|(kind, name)| format!(" ({kind} `{name}`)"));
            let named: String = named.collect();
            tracing::info!("refused a request of `{}`{named}: {}", principal.id, entry.rule);
            self.audit.record(&Caller::operator(principal), self.loaded().digest(), entry);
        }
        if begins_count {
            let server = self.clone();
            tokio::spawn(async move {
                sleep(COUNT_DELAY).await;
                server.record_counted_refusals();
            });
        }
    }

    /// Records the number of refused requests that were only counted.
    pub(crate) fn record_counted_refusals(&self) {
        self.record_count(self.refusals.take_count());
    }

    fn record_count(&self, count: u64) {
        if count == 0 {
            return;
        }
        let reason = format!("{count} more requests were refused within a second");
        let args = BTreeMap::from([("count", count.to_string())]);
        let entry = Entry::refused(REQUEST.to_owned(), args, reason);
        let caller = Caller::operator(Principal::unauthenticated());
        self.audit.record(&caller, self.loaded().digest(), entry);
    }

    /// Records that a connection to a host was ended, since the bundle in force would not let it begin.
    #[cfg(feature = "ssh")]
    pub(crate) fn record_ended_connection(&self, place: String) {
        let reason = "the bundle in force would not let it begin".to_owned();
        let args = BTreeMap::from([("host", place)]);
        let entry = Entry::refused("connection:ended".to_owned(), args, reason);
        let operator = Caller::operator(self.settings.principal.clone());
        self.audit.record(&operator, self.loaded().digest(), entry);
    }

    /// Records that a session or a forward was ended for this reason.
    pub(crate) fn record_ended(&self, kind: &str, owner: &Arc<Principal>, reason: String) {
        let entry = Entry::refused(format!("{kind}:ended"), BTreeMap::new(), reason);
        self.audit.record(&Caller::operator(owner.clone()), self.loaded().digest(), entry);
    }

    /// Records that the bundle in force differs from `replaced`.
    fn record_reload(&self, replaced: &Loaded) {
        let (old, loaded) = (replaced.digest(), self.loaded());
        if old == loaded.digest() {
            return;
        }
        let args = BTreeMap::from([("replaces", old.to_string())]);
        let rule = format!("{} is in force", loaded.digest());
        let output = OutputHash::default();
        let entry = Entry::served("bundle:reload".to_owned(), args, output, rule);
        let operator = Caller::operator(self.settings.principal.clone());
        self.audit.record(&operator, loaded.digest(), entry);
    }

    fn record_refused_bundle(&self, what: &str, reason: String) {
        let entry = Entry::refused(what.to_owned(), BTreeMap::new(), reason);
        let operator = Caller::operator(self.settings.principal.clone());
        self.audit.record(&operator, self.loaded().digest(), entry);
    }
}
