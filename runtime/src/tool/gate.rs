//! The gate: who was briefed, and briefings (selection, sealed handle, text).
//!
//! The gate is guidance, not authority: policy decides which calls are allowed. For stateless
//! callers the server stores nothing. The handle that they send back names the prompts that they
//! were sent, and every server with the same key accepts it.

use relay_bundle::{Corrupt, List, Unlock};
use relay_engine::briefing::{self, Occasion};
use relay_engine::handle::{self, Binding, HandleError};
use relay_engine::select::{Selection, TagError, Tags};
use relay_engine::sent::Sent;
use relay_engine::tool::{Gating, Offered};
use relay_engine::view::View;
use relay_machine::clock;
use thiserror::Error;

use super::call::Call;
use crate::record::memory::Recalled;

/// How a call passed the gate.
#[derive(Debug)]
pub(crate) enum Passage {
    /// The project or the tool is ungated.
    Free,
    /// The caller was sent these prompts.
    Briefed(Sent),
    /// The caller had no briefing, and gets one with its result.
    Unbriefed,
}

/// The reason for which a call stops at the gate. The messages are for the agent.
#[derive(Debug, Error)]
pub(crate) enum GateError {
    #[error(
        "no briefing yet: call begin_session with {tags_ask} keywords that describe your task, then repeat this call with the `briefing` that it returns"
    )]
    Unbriefed { tags_ask: u32 },
    #[error(transparent)]
    Handle(#[from] HandleError),
    #[error("this project has no gate")]
    NoGate,
    #[error(transparent)]
    Tags(#[from] TagError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// A given briefing.
#[derive(Debug)]
pub(crate) struct Briefing {
    /// The text; empty after it was moved into the answer.
    pub(crate) text: String,
    /// The sealed handle, which the text contains too.
    pub(crate) handle: String,
    /// The names of the prompts sent in full.
    pub(crate) full: Vec<String>,
}

/// Checks the handle of a call, or else the memory of the session.
///
/// An empty handle counts as absent: models fill in optional arguments.
pub(crate) fn pass(
    call: &Call,
    offered: &Offered,
    handle: Option<&str>,
) -> Result<Passage, GateError> {
    // If the handle is missing, `read_prompts` gives the first briefing, even where the gate
    // refuses calls.
    let (concerns, is_required) = match offered.spec.gating {
        Gating::Begins => (false, false),
        Gating::Continues => (true, false),
        Gating::Gated => (offered.gated, true),
    };
    let view = call.placed.view()?;
    let Some(gate) = view.gate().filter(|_| concerns) else {
        return Ok(Passage::Free);
    };
    let memory = call.memory.as_deref();
    let recalled = memory.map_or(Recalled::Nothing, |memory| memory.recall(&call.placed.loaded));
    let Some(handle) = handle.filter(|handle| !handle.trim().is_empty()) else {
        return match (recalled, gate.unlock.value) {
            (Recalled::Briefed(sent), _) => Ok(Passage::Briefed(sent)),
            (_, Unlock::Intercept) => Ok(Passage::Unbriefed),
            _ if !is_required => Ok(Passage::Unbriefed),
            (Recalled::Outdated, Unlock::Refuse) => Err(HandleError::OtherBundle.into()),
            (Recalled::Nothing, Unlock::Refuse) => {
                Err(GateError::Unbriefed { tags_ask: gate.tags_ask.value })
            }
        };
    };
    let keys = call.server.keyring.keys();
    let places = handle::open(keys.open(), &binding(call, &view), now_min(), handle)?;
    let mut sent = view.rows_of(&places)?;
    match (recalled, memory) {
        (Recalled::Briefed(remembered), _) => sent.extend(remembered.iter()),
        (_, Some(memory)) => memory.remember(&call.placed.loaded, sent.clone()),
        (_, None) => {}
    }
    Ok(Passage::Briefed(sent))
}

/// Returns whether this bundle gave the handle to this caller, and it is still valid.
pub(crate) fn is_own_handle(call: &Call, handle: &str) -> Result<bool, Corrupt> {
    let view = call.placed.view()?;
    let keys = call.server.keyring.keys();
    let open = || handle::open(keys.open(), &binding(call, &view), now_min(), handle);
    Ok(view.gate().is_some() && open().is_ok())
}

/// Returns the tags of a call, within the limits of the gate.
pub(crate) fn tags(call: &Call, given: &[&str]) -> Result<Tags, GateError> {
    let gate = call.placed.view()?.gate().ok_or(GateError::NoGate)?;
    Ok(Tags::new(given, gate.tags_max.value as usize)?)
}

/// Selects unsent prompts by `tags`, and seals the new set of sent prompts.
pub(crate) fn brief(
    call: &Call,
    occasion: Occasion,
    tags: &Tags,
    mut sent: Sent,
) -> Result<Briefing, GateError> {
    let Call { server, placed, memory, .. } = call;
    let view = placed.view()?;
    let gate = view.gate().ok_or(GateError::NoGate)?;
    let has_session = memory.is_some();
    let request =
        briefing::Request { occasion, tags, sent: &sent, has_session, budget_bytes: None };
    let briefing = briefing::brief(&view, gate, &request)?;
    let full = names(&view, &briefing.selection)?;
    sent.extend(briefing.selection.full.iter().filter_map(|index| u32::try_from(*index).ok()));
    let keys = server.keyring.keys();
    let expires_min = now_min().saturating_add(server.keyring.lifetime_min());
    let handle =
        handle::seal(keys.seal(), &binding(call, &view), expires_min, &view.places_of(&sent)?);
    if let Some(memory) = memory {
        memory.remember(&placed.loaded, sent);
    }
    Ok(Briefing { text: briefing.text(&handle), handle, full })
}

fn names(view: &View<'_>, selection: &Selection) -> Result<Vec<String>, Corrupt> {
    let name = |index: &usize| Ok(view.prompt(*index)?.name()?.to_owned());
    selection.full.iter().map(name).collect()
}

fn binding<'a>(call: &'a Call, view: &View<'_>) -> Binding<'a> {
    let Call { placed, caller, .. } = call;
    Binding {
        principal: &caller.principal.id,
        issuer: caller.principal.issuer.as_deref(),
        tenant: caller.principal.tenant.as_deref(),
        bundle: placed.loaded.digest(),
        audience: view.audience(),
        prompts: view.count(List::Prompts),
    }
}

fn now_min() -> u32 {
    u32::try_from(clock::unix_seconds() / 60).unwrap_or(u32::MAX)
}
