//! Sessions and forwards that outlive the call which began them: a new bundle is asked about them again.

use std::sync::Arc;

use relay_bundle::Corrupt;
use relay_engine::decide::{self, Door};

use super::decide::recorded_reason;
use crate::caller::principal::Principal;
use crate::process::Origin;
use crate::server::Server;
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// Ends the sessions and forwards that the bundle in force would not let begin, and records it.
pub(crate) fn end_refused(server: &Arc<Server>) {
    let loaded = server.loaded().clone();
    for session in server.processes.sessions() {
        let Err(reason) = may_begin(&loaded, &session.owner, &session.origin) else { continue };
        server.record_ended("session", &session.owner, reason);
        let server = server.clone();
        tokio::spawn(async move {
            session.end().await;
            server.processes.forget_session(&session.id);
        });
    }
    #[cfg(feature = "ssh")]
    for open in server.remote.forwards.all() {
        let Err(reason) = may_begin(&loaded, &open.owner, &open.origin) else { continue };
        if server.remote.forwards.close(&open.id) {
            server.record_ended("forward", &open.owner, reason);
        }
    }
}

/// Returns why a bundle would not let a call of `owner` begin.
pub(super) fn may_begin(
    loaded: &Arc<Loaded>,
    owner: &Arc<Principal>,
    origin: &Origin,
) -> Result<(), String> {
    loaded.in_force().map_err(|revoked| revoked.to_string())?;
    let damaged = |damage: Corrupt| damage.to_string();
    let placed = Placed::new(loaded.clone(), owner).map_err(damaged)?;
    if let Some(refusal) = placed.refusal() {
        return Err(refusal.to_string());
    }
    let Origin { tool, arguments, location, is_approved } = origin;
    let (client, door) = (None, Door::Server);
    let call = decide::Call { tool, arguments, client, location, door };
    let view = placed.view().map_err(damaged)?;
    let decision = decide::decide(&view, &loaded.authority, &call).map_err(damaged)?;
    match decision.outcome {
        decide::Outcome::Allow => Ok(()),
        decide::Outcome::Approve if *is_approved => Ok(()),
        _ => Err(recorded_reason(&decision)),
    }
}
