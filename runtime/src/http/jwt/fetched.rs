//! The keys of an issuer from a URL, fetched outside of requests.
//!
//! A task fetches the set at the start, at intervals, and (rarely) when a token names an unknown
//! key. A request uses the set at hand, at once. A set stays in force until the next one arrives,
//! up to its greatest age.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_bundle::Digest;
use relay_machine::clock;
use relay_machine::lock::lock;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::download::Download;
use super::error::TokenError;
use super::keys::Keys;
use crate::record::metrics::{Fetch, Metrics};
use crate::server::Server;
use crate::settings::config;

/// The most characters of a reason from another server.
const REASON_CHARS_MAX: usize = 400;

/// The keys of an issuer in force now.
pub(crate) struct Fetched {
    config: Arc<config::Jwt>,
    download: Download,
    state: Mutex<State>,
    /// Changes if a token names an unknown key.
    wanted: watch::Sender<()>,
    /// Whether the first fetch ended.
    tried: watch::Sender<bool>,
}

/// A set of keys, and the time since when it is known to be right.
#[derive(Clone)]
pub(super) struct Dated {
    pub(super) keys: Arc<Keys>,
    /// When it was fetched, in seconds since 1970.
    pub(super) since: u64,
}

#[derive(Default)]
struct State {
    in_force: Option<Dated>,
    /// The digest of the text of the keys, if this task fetched it.
    text: Option<Digest>,
    /// The reason why the last fetch failed.
    error: Option<String>,
}

/// The set of an issuer, for `/readyz`.
#[derive(Debug, Serialize)]
pub(crate) struct KeySetStatus {
    issuer: String,
    pub(crate) state: KeySetState,
    /// The time since it was fetched.
    age_s: Option<u64>,
    /// The reason why the last fetch failed.
    error: Option<String>,
}

/// Whether a set is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeySetState {
    /// In force, and the last fetch succeeded.
    Current,
    /// In force, but the last fetch failed.
    Old,
    /// Out of force: too old, or still to be fetched.
    Missing,
}

impl KeySetState {
    /// Every state, with its text in metrics.
    pub(crate) const ALL: [(Self, &str); 3] =
        [(Self::Current, "current"), (Self::Old, "old"), (Self::Missing, "missing")];
}

/// The state that the tasks of all issuers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) server: Arc<Server>,
    /// Changes when keys change.
    pub(crate) changes: watch::Sender<()>,
}

impl Fetched {
    /// Begins to follow the set of `config`. Until it arrives, `before` is in force, as long as its
    /// age allows. The task ends when the guard is dropped, or the server closes.
    pub(super) fn follow(
        config: &Arc<config::Jwt>,
        download: Download,
        before: Option<Dated>,
        shared: &Shared,
    ) -> (Arc<Self>, DropGuard) {
        let fetched = Arc::new(Self {
            config: config.clone(),
            download,
            state: Mutex::new(State { in_force: before, ..State::default() }),
            wanted: watch::Sender::default(),
            tried: watch::Sender::new(false),
        });
        let ending = shared.server.closing.child_token();
        tokio::spawn(fetched.clone().keep(shared.clone(), ending.clone()));
        (fetched, ending.drop_guard())
    }

    /// Waits until the first fetch ended, which has a limit of time.
    pub(super) async fn first(&self) {
        // It fails only after the sender is dropped, which is a field of `self`.
        _ = self.tried.subscribe().wait_for(|tried| *tried).await;
    }

    /// Returns the keys in force.
    pub(super) fn in_force(&self) -> Result<Dated, TokenError> {
        let in_force = lock(&self.state).in_force.clone();
        let in_force = in_force.ok_or_else(|| {
            TokenError::no_keys("the keys of the token's issuer could not be fetched yet")
        })?;
        if self.is_too_old(&in_force) {
            let reason = "the keys of the token's issuer are too old: they cannot be fetched again";
            return Err(TokenError::no_keys(reason));
        }
        Ok(in_force)
    }

    /// Asks for a fetch, since a token names an unknown key. It follows a pause after the last one.
    pub(super) fn want(&self) {
        self.wanted.send_replace(());
    }

    /// Returns the state of the set.
    pub(super) fn status(&self) -> KeySetStatus {
        let State { in_force, text: _, error } = &*lock(&self.state);
        let state = match (in_force, error) {
            (None, _) => KeySetState::Missing,
            (Some(dated), _) if self.is_too_old(dated) => KeySetState::Missing,
            (Some(_), Some(_)) => KeySetState::Old,
            (Some(_), None) => KeySetState::Current,
        };
        let age_s = in_force.as_ref().map(age);
        KeySetStatus { issuer: self.config.issuer.clone(), state, age_s, error: error.clone() }
    }

    fn is_too_old(&self, dated: &Dated) -> bool {
        age(dated) > self.config.jwks_max_age_s.get().into()
    }

    async fn keep(self: Arc<Self>, shared: Shared, ending: CancellationToken) {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let refresh = seconds(self.config.jwks_refresh_s.get());
        let cooldown = seconds(self.config.jwks_cooldown_s.get());
        let mut wanted = self.wanted.subscribe();
        loop {
            let begun = Instant::now();
            // This fetch serves all requests for one so far.
            wanted.mark_unchanged();
            let arrived = tokio::select! {
                () = ending.cancelled() => return,
                arrived = self.fetch() => arrived,
            };
            let succeeded = self.take(arrived, &shared);
            self.tried.send_replace(true);
            let next = begun + if succeeded { refresh } else { refresh.min(cooldown) };
            let again = async {
                // It fails only after the sender is dropped, which is a field of `self`.
                _ = wanted.changed().await;
                sleep_until(begun + cooldown).await;
            };
            tokio::select! {
                () = ending.cancelled() => return,
                () = sleep_until(next) => {}
                () = again => {}
            }
        }
    }

    /// Fetches the set; the error is printable.
    async fn fetch(&self) -> Result<String, String> {
        self.download.get().await.map_err(|error| printable(&error.to_string()))
    }

    /// Puts a set in force; returns whether it was valid.
    fn take(&self, arrived: Result<String, String>, shared: &Shared) -> bool {
        let metrics: &Metrics = &shared.server.metrics;
        match arrived.and_then(|text| self.put_in_force(&text)) {
            Ok(None) => {}
            Ok(Some(count)) => {
                tracing::info!(
                    "keys of the issuer `{}` in force: {count}, from {}",
                    self.config.issuer,
                    self.download.url()
                );
                shared.changes.send_replace(());
            }
            Err(reason) => {
                metrics.count_key_fetch(Fetch::Failed);
                self.report_failure(reason);
                return false;
            }
        }
        metrics.count_key_fetch(Fetch::Ok);
        true
    }

    /// Puts the text's keys in force; returns their number if the text is new.
    fn put_in_force(&self, text: &str) -> Result<Option<usize>, String> {
        let digest = Digest::of(text.as_bytes());
        let since = clock::unix_seconds();
        if let State { in_force: Some(dated), text: Some(known), error } = &mut *lock(&self.state)
            && *known == digest
        {
            dated.since = since;
            *error = None;
            return Ok(None);
        }
        let keys =
            Keys::parse(text, &self.config.algorithms).map_err(|reason| printable(&reason))?;
        let count = keys.count();
        let in_force = Some(Dated { keys: Arc::new(keys), since });
        *lock(&self.state) = State { in_force, text: Some(digest), error: None };
        Ok(Some(count))
    }

    /// Logs why a fetch failed, and the consequence.
    fn report_failure(&self, reason: String) {
        lock(&self.state).error = Some(reason.clone());
        let then = match self.in_force() {
            Ok(dated) => {
                let left = u64::from(self.config.jwks_max_age_s.get()).saturating_sub(age(&dated));
                format!("the keys fetched before stay in force for {left} seconds")
            }
            Err(_) => "no token of this issuer is accepted".to_owned(),
        };
        let (url, issuer) = (self.download.url(), &self.config.issuer);
        tracing::error!(
            "cannot fetch the keys of the issuer `{issuer}` from {url}: {reason}; {then}"
        );
    }
}

fn age(dated: &Dated) -> u64 {
    clock::unix_seconds().saturating_sub(dated.since)
}

/// Returns a reason from another server as one printable line.
fn printable(reason: &str) -> String {
    let escaped = reason.chars().flat_map(|c| {
        let plain = matches!(c, ' '..='~');
        let escaped = (!plain).then(|| c.escape_default());
        plain.then_some(c).into_iter().chain(escaped.into_iter().flatten())
    });
    escaped.take(REASON_CHARS_MAX).collect()
}
