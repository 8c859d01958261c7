//! The clients that listen for changes, and their notifications when another bundle comes into
//! force.
//!
//! A legacy session is always notified of changed lists and subscribes to single resources; a
//! modern client opens a stream and names the changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_bundle::List;
use relay_engine::audit_record::OutputHash;
use relay_machine::lock::lock;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};

#[cfg(feature = "ssh")]
use super::hosts;
use super::surface::hides_tools;
use super::{lists, rejection, resources};
use crate::caller::Caller;
use crate::caller::principal::{CallerKey, Principal};
use crate::caller::rejection::Rejection;
use crate::caller::slots::{Slot, Slots};
use crate::record::audit::Entry;
use crate::record::verb::{SUBSCRIBE, UNSUBSCRIBE};
use crate::server::Server;
use crate::settings::Settings;
use crate::trust::loaded::Loaded;
use crate::trust::placed::{Placed, Seen};

/// The time limit for notifying a stalled listener.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(2);

/// The label of a stream of notifications in records.
pub(super) const LISTEN: &str = "listen";

/// The URIs of one session's subscriptions.
pub(super) type Subscribed = Arc<Mutex<BTreeSet<String>>>;

/// Adds `uri` to a session's subscriptions, `uris_max` at most. The request gets one record.
pub(super) fn subscribe(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    uri: String,
    subscribed: &Subscribed,
    uris_max: usize,
) -> Result<(), ErrorData> {
    let loaded = &placed.loaded;
    let label = format!("{SUBSCRIBE}:{}", resources::found_subject(placed, &uri));
    let done = resources::place(placed, &uri).and_then(|place| {
        let mut subscribed = lock(subscribed);
        if subscribed.len() >= uris_max && !subscribed.contains(&uri) {
            let text = format!("a session subscribes to at most {uris_max} resources");
            return Err(Rejection::Wrong { rule: text.clone(), text });
        }
        subscribed.insert(uri);
        Ok(place)
    });
    let (entry, answer) = match done {
        Ok(place) => (Entry::served(label, BTreeMap::new(), OutputHash::default(), place), Ok(())),
        Err(rejected) => {
            let entry = Entry::refused(label, BTreeMap::new(), rejected.rule());
            (entry, Err(rejection::error(rejected, loaded)))
        }
    };
    server.audit.record(caller, loaded.digest(), entry);
    answer
}

/// Removes `uri` from a session's subscriptions. The request gets one record.
pub(super) fn unsubscribe(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    uri: &str,
    subscribed: &Subscribed,
) {
    lock(subscribed).remove(uri);
    let loaded = &placed.loaded;
    let label = format!("{UNSUBSCRIBE}:{}", resources::found_subject(placed, uri));
    let entry = Entry::served(label, BTreeMap::new(), OutputHash::default(), String::new());
    server.audit.record(caller, loaded.digest(), entry);
}

/// Records a stream of notifications, with the number of named resources.
pub(super) fn record_stream(server: &Server, caller: &Caller, sink: &SubscriptionSink) {
    let uris = sink.accepted().resource_subscriptions.iter().flatten().count();
    let args = BTreeMap::from([("resources", uris.to_string())]);
    let entry = Entry::served(LISTEN.to_owned(), args, OutputHash::default(), String::new());
    server.audit.record(caller, server.loaded().digest(), entry);
}

/// The listeners with their callers, by the number of their addition.
type Added = BTreeMap<u64, (Arc<Principal>, Listener)>;

/// All listeners. Their number is limited, and so is the number of streams of each caller.
#[derive(Debug)]
pub(super) struct Listeners {
    listeners_max: usize,
    streams: Slots<CallerKey>,
    next: AtomicU64,
    all: Arc<Mutex<Added>>,
}

#[derive(Debug, Clone)]
pub(super) enum Listener {
    /// A session that began with `initialize`.
    Session { peer: Peer<RoleServer>, uris: Subscribed },
    /// An open `subscriptions/listen`. Its sink passes only the requested changes.
    Stream(SubscriptionSink),
}

/// Keeps a listener until it is dropped.
#[derive(Debug)]
pub(super) struct Listening {
    id: u64,
    all: Arc<Mutex<Added>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        // rmcp drops the future of a listener whose connection broke, so it is removed here.
        lock(&self.all).remove(&self.id);
    }
}

impl Listeners {
    pub(super) fn new(settings: &Settings) -> Self {
        let limits = &settings.limits;
        let principal_streams_max = match settings.auth {
            Some(_) => limits.principal_streams_max.get(),
            // Unauthenticated callers all look alike.
            None => usize::MAX,
        };
        Self {
            listeners_max: limits.listeners_max.get(),
            streams: Slots::new(principal_streams_max),
            next: AtomicU64::new(0),
            all: Arc::default(),
        }
    }

    /// Returns the limit of one caller's open streams.
    pub(super) fn principal_streams_max(&self) -> usize {
        self.streams.each_max()
    }

    /// Takes a slot for a stream of `principal`; `None` if all its slots are in use.
    pub(super) fn take_stream(&self, principal: &Principal) -> Option<Slot<CallerKey>> {
        self.streams.take(principal.caller_key())
    }

    /// Returns the number of open streams.
    pub(super) fn streams(&self) -> usize {
        self.streams.held()
    }

    /// Adds a listener of a caller; `None` if the limit is reached.
    pub(super) fn add(&self, principal: &Arc<Principal>, listener: Listener) -> Option<Listening> {
        let mut all = lock(&self.all);
        if all.len() >= self.listeners_max {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        all.insert(id, (principal.clone(), listener));
        Some(Listening { id, all: self.all.clone() })
    }

    /// Notifies each listener of the changes in its view, in tasks of their own.
    pub(super) fn replaced(&self, old: &Arc<Loaded>, new: &Arc<Loaded>) {
        let all: Vec<_> = lock(&self.all).values().cloned().collect();
        // Listeners of one audience see the same changes.
        let mut known: BTreeMap<[Seen; 2], Changes> = BTreeMap::new();
        for (principal, listener) in all {
            let placed = |loaded: &Arc<Loaded>| Placed::new(loaded.clone(), &principal);
            let (Ok(old), Ok(new)) = (placed(old), placed(new)) else { continue };
            let lists = known.entry([old.seen(), new.seen()]);
            let lists = lists.or_insert_with(|| Changes::between(&old, &new)).clone();
            let uris = listener.uris().into_iter();
            let updated = uris.filter(|uri| !resources::is_same(&old, &new, uri)).collect();
            notify(listener, Changes { updated, ..lists });
        }
    }

    /// Notifies all listeners of changes, in tasks of their own.
    #[cfg(feature = "conformance-tools")]
    fn notify(&self, changes: &Changes) {
        let all: Vec<_> = lock(&self.all).values().cloned().collect();
        all.into_iter().for_each(|(_, listener)| notify(listener, changes.clone()));
    }
}

/// Notifies a listener, in a task of its own.
fn notify(listener: Listener, changes: Changes) {
    if changes.is_empty() {
        return;
    }
    tokio::spawn(
        async move { tokio::time::timeout(NOTIFY_TIMEOUT, listener.notify(&changes)).await },
    );
}

impl Listener {
    /// Returns the followed URIs.
    fn uris(&self) -> BTreeSet<String> {
        match self {
            Self::Session { uris, .. } => lock(uris).clone(),
            Self::Stream(sink) => {
                sink.accepted().resource_subscriptions.iter().flatten().cloned().collect()
            }
        }
    }

    /// A failure is ignored: the listener disconnected, or asked for other changes.
    async fn notify(&self, changes: &Changes) {
        let Changes { tools, prompts, resources, updated } = changes;
        match self {
            Self::Session { peer, uris } => {
                if *tools {
                    _ = peer.notify_tool_list_changed().await;
                }
                if *prompts {
                    _ = peer.notify_prompt_list_changed().await;
                }
                if *resources {
                    _ = peer.notify_resource_list_changed().await;
                }
                for uri in updated {
                    if lock(uris).contains(uri) {
                        let params = ResourceUpdatedNotificationParam::new(uri);
                        _ = peer.notify_resource_updated(params).await;
                    }
                }
            }
            Self::Stream(sink) => {
                if *tools {
                    _ = sink.notify_tool_list_changed().await;
                }
                if *prompts {
                    _ = sink.notify_prompt_list_changed().await;
                }
                if *resources {
                    _ = sink.notify_resource_list_changed().await;
                }
                for uri in updated {
                    _ = sink.notify_resource_updated(uri).await;
                }
            }
        }
    }
}

/// The differences between two bundles that MCP reports.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The list of tools differs.
    pub(super) tools: bool,
    /// The list of prompts differs.
    pub(super) prompts: bool,
    /// The list of resources, or that of URI templates, differs.
    pub(super) resources: bool,
    /// The subscribed resources whose content changed.
    pub(super) updated: Vec<String>,
}

impl Changes {
    /// Compares the lists that a caller sees in two bundles.
    fn between(old: &Placed, new: &Placed) -> Self {
        let same = |list| lists::is_same(old, new, list);
        #[cfg(feature = "ssh")]
        let is_live_same = hosts::are_listed(old) == hosts::are_listed(new);
        #[cfg(not(feature = "ssh"))]
        let is_live_same = true;
        Self {
            // If the gate hides tools, a new bundle ends the briefing and with it the longer list.
            tools: !same(List::Tools) || hides_tools(old) || hides_tools(new),
            prompts: !same(List::Prompts),
            resources: !same(List::Resources) || !same(List::Templates) || !is_live_same,
            updated: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        let Self { tools, prompts, resources, updated } = self;
        !tools && !prompts && !resources && updated.is_empty()
    }
}

#[cfg(feature = "conformance-tools")]
impl super::conformance_tools::Listeners for Listeners {
    async fn tools_changed(&self) {
        self.notify(&Changes { tools: true, ..Changes::default() });
    }

    async fn prompts_changed(&self) {
        self.notify(&Changes { prompts: true, ..Changes::default() });
    }
}
