//! The open forwards of this server, by their ids.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use relay_engine::tool::ForwardSpec;
use relay_machine::lock::lock;
use relay_ssh::Forward;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::caller::principal::{CallerKey, Principal};
use crate::caller::slots::{Slot, Slots};
use crate::process::{Ids, NoRandom, Origin};

/// The open forwards.
#[derive(Debug)]
pub(crate) struct Forwards {
    ids: Ids,
    all: Mutex<BTreeMap<String, Kept>>,
    of_callers: Slots<CallerKey>,
}

#[derive(Debug)]
struct Kept {
    open: Arc<OpenForward>,
    _of_caller: Slot<CallerKey>,
}

/// A forward of one caller.
pub(crate) struct OpenForward {
    pub(crate) id: String,
    pub(crate) owner: Arc<Principal>,
    /// The call that opened it.
    pub(crate) origin: Origin,
    pub(crate) spec: ForwardSpec,
    /// The host, as the call named it.
    pub(crate) host: String,
    /// The alias of the host.
    pub(crate) alias: String,
    pub(crate) begun: Instant,
    pub(crate) forward: Forward,
    closed: CancellationToken,
}

/// A forward that opened.
pub(crate) struct Opened {
    pub(crate) origin: Origin,
    pub(crate) spec: ForwardSpec,
    pub(crate) host: String,
    pub(crate) alias: String,
    pub(crate) forward: Forward,
}

/// No forward can be opened. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum NoForward {
    #[error(
        "the limit of {max} forwards of this server is reached: close one with ssh_forward_close"
    )]
    Full { max: usize },
    #[error("the limit of {max} of your forwards is reached: close one with ssh_forward_close")]
    Caller { max: usize },
    #[error(transparent)]
    Random(#[from] NoRandom),
}

impl Forwards {
    pub(super) fn new(principal_forwards_max: usize) -> Self {
        Self {
            ids: Ids::new(),
            all: Mutex::default(),
            of_callers: Slots::new(principal_forwards_max),
        }
    }

    /// Takes the room for one more forward of a caller, before it opens.
    pub(crate) fn room(
        &self,
        owner: &Principal,
        forwards_max: usize,
    ) -> Result<Slot<CallerKey>, NoForward> {
        // Held, so that two callers do not take the last room.
        let _turn = lock(&self.all);
        if self.of_callers.held() >= forwards_max {
            return Err(NoForward::Full { max: forwards_max });
        }
        let max = self.of_callers.each_max();
        self.of_callers.take(owner.caller_key()).ok_or(NoForward::Caller { max })
    }

    /// Adds a forward that opened.
    pub(crate) fn add(
        &self,
        (owner, room): (Arc<Principal>, Slot<CallerKey>),
        opened: Opened,
    ) -> Result<Arc<OpenForward>, NoForward> {
        let Opened { origin, spec, host, alias, forward } = opened;
        let open = Arc::new(OpenForward {
            id: self.ids.next("fwd")?,
            owner,
            origin,
            spec,
            host,
            alias,
            begun: Instant::now(),
            forward,
            closed: CancellationToken::new(),
        });
        let kept = Kept { open: open.clone(), _of_caller: room };
        lock(&self.all).insert(open.id.clone(), kept);
        Ok(open)
    }

    /// Closes a forward; returns whether it was open.
    pub(crate) fn close(&self, id: &str) -> bool {
        let removed = lock(&self.all).remove(id);
        removed.map(|kept| kept.open.closed.cancel()).is_some()
    }

    /// Returns the forwards of a caller, by their ids.
    pub(crate) fn of(&self, caller: &Principal) -> Vec<Arc<OpenForward>> {
        let mut all = self.all();
        all.retain(|open| open.owner.is_same_caller(caller));
        all
    }

    /// Returns all forwards.
    pub(crate) fn all(&self) -> Vec<Arc<OpenForward>> {
        lock(&self.all).values().map(|kept| kept.open.clone()).collect()
    }
}

impl OpenForward {
    /// Waits until it was closed, or the connection to the host is lost; returns whether it was lost.
    pub(crate) async fn lost(&self) -> bool {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => false,
            () = self.forward.ended() => true,
        }
    }
}

impl fmt::Debug for OpenForward {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, spec, host, .. } = self;
        out.debug_struct("OpenForward")
            .field("id", id)
            .field("spec", spec)
            .field("host", host)
            .finish_non_exhaustive()
    }
}
