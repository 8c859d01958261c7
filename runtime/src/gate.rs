//! Who was briefed, and the briefing itself: selection, sealed handle, text.
//!
//! The gate is guidance, not authority: what a caller may do is decided elsewhere. Nothing is
//! stored for callers without a session; what they were sent stands in the handle that they send
//! back, which every server with the same key takes.

use std::sync::Mutex;

use relay_bundle::{Corrupt, Digest, GateView};
use relay_engine::briefing::{self, Occasion};
use relay_engine::handle::{self, Binding, HandleError};
use relay_engine::select::{Selection, Tags};
use relay_engine::sent::Sent;

use crate::caller::Caller;
use crate::clock;
use crate::load::Loaded;
use crate::mcp::lock;
use crate::server::Server;

/// What a session of the older era remembers, so that clients that drop the handle still work.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Option<Remembered>>);

/// What was sent, and from which bundle: in another one the same prompts have other numbers.
#[derive(Debug, Clone)]
struct Remembered {
    bundle: Digest,
    sent: Sent,
}

/// How a caller comes to the gate.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It had a briefing, and these prompts.
    Briefed(Sent),
    /// It had none.
    Unbriefed,
    /// Its session remembers one from another bundle.
    Outdated,
    /// It sent a handle that is not good. The error says why and how to go on.
    Ended(HandleError),
}

/// What a briefing gave, beside its text.
#[derive(Debug)]
pub(crate) struct Briefing {
    /// The sealed handle, which the text shows too.
    pub(crate) handle: String,
    /// The names of the prompts in full.
    pub(crate) full: Vec<String>,
}

impl Memory {
    /// Returns whether the session had a briefing from this bundle.
    pub(crate) fn is_briefed(&self, loaded: &Loaded) -> bool {
        let remembered = lock(&self.0);
        remembered.as_ref().is_some_and(|briefed| briefed.bundle == loaded.bundle.digest())
    }

    fn recall(&self, loaded: &Loaded) -> Entry {
        match &*lock(&self.0) {
            None => Entry::Unbriefed,
            Some(briefed) if briefed.bundle == loaded.bundle.digest() => {
                Entry::Briefed(briefed.sent.clone())
            }
            Some(_) => Entry::Outdated,
        }
    }

    fn remember(&self, loaded: &Loaded, sent: Sent) {
        *lock(&self.0) = Some(Remembered { bundle: loaded.bundle.digest(), sent });
    }
}

/// Judges the handle that came with a call, or what the session remembers if none came.
///
/// An empty handle is none: models fill in what is optional.
pub(crate) fn enter(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    memory: Option<&Memory>,
    handle: Option<&str>,
) -> Entry {
    let remembered = memory.map_or(Entry::Unbriefed, |memory| memory.recall(loaded));
    let Some(handle) = handle.map(str::trim).filter(|handle| !handle.is_empty()) else {
        return remembered;
    };
    let keys = server.keyring.keys();
    let opened = handle::open(keys.open(), &binding(loaded, caller), now_min(), handle);
    match (opened, remembered) {
        (Ok(mut sent), Entry::Briefed(remembered)) => {
            sent.extend(remembered.iter());
            Entry::Briefed(sent)
        }
        (Ok(sent), _) => {
            if let Some(memory) = memory {
                memory.remember(loaded, sent.clone());
            }
            Entry::Briefed(sent)
        }
        (Err(fault), _) => Entry::Ended(fault),
    }
}

/// Selects by `tags` among what was not `sent`, and seals what will have been; returns the text.
pub(crate) fn brief(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    memory: Option<&Memory>,
    gate: &GateView<'_>,
    (occasion, tags, mut sent): (Occasion, &Tags, Sent),
) -> Result<(String, Briefing), Corrupt> {
    let has_session = memory.is_some();
    let request =
        briefing::Request { occasion, tags, sent: &sent, has_session, budget_bytes: None };
    let briefing = briefing::brief(&loaded.bundle, gate, &request)?;
    let full = names(loaded, &briefing.selection)?;
    sent.extend(briefing.selection.full.iter().filter_map(|index| u32::try_from(*index).ok()));
    let keys = server.keyring.keys();
    let expires_min = now_min().saturating_add(server.keyring.lifetime_min());
    let handle = handle::seal(keys.seal(), &binding(loaded, caller), expires_min, &sent);
    if let Some(memory) = memory {
        memory.remember(loaded, sent);
    }
    Ok((briefing.text(&handle), Briefing { handle, full }))
}

fn names(loaded: &Loaded, selection: &Selection) -> Result<Vec<String>, Corrupt> {
    let name = |index: &usize| Ok(loaded.bundle.prompt(*index)?.name()?.to_owned());
    selection.full.iter().map(name).collect()
}

fn binding<'a>(loaded: &Loaded, caller: &'a Caller) -> Binding<'a> {
    Binding {
        principal: &caller.principal.id,
        tenant: caller.principal.tenant.as_deref(),
        bundle: loaded.bundle.digest(),
        prompts: loaded.bundle.prompt_count(),
    }
}

fn now_min() -> u32 {
    u32::try_from(clock::unix_seconds() / 60).unwrap_or(u32::MAX)
}
