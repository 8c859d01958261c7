//! A request's context -> the caller.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{MetaObject, ProtocolVersion, RequestId};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::reached::Reached;
use super::rejection::damaged;
use crate::caller::principal::Principal;
use crate::caller::{Caller, truncate};
use crate::server::Server;
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// Returns the bundle in force as the caller sees it, and the caller: from the HTTP request that
/// carried the message, or from the configuration on stdio.
pub(super) fn placed(
    server: &Server,
    loaded: &Arc<Loaded>,
    context: &RequestContext<RoleServer>,
) -> Result<(Placed, Caller), ErrorData> {
    let principal = match context.extensions.get::<Parts>() {
        None => server.settings.principal.clone(),
        Some(parts) => {
            if let Some(reached) = parts.extensions.get::<Arc<Reached>>() {
                reached.set();
            }
            // The HTTP layer adds a principal to every request.
            let principal = parts.extensions.get::<Arc<Principal>>().cloned();
            principal
                .ok_or_else(|| ErrorData::internal_error("the request has no principal", None))?
        }
    };
    of_request(loaded, principal, &context.id, &context.meta)
}

/// Returns the bundle in force as `principal` sees it, and the caller of the request with this id and
/// this `_meta`.
pub(super) fn of_request(
    loaded: &Arc<Loaded>,
    principal: Arc<Principal>,
    id: &RequestId,
    meta: &MetaObject,
) -> Result<(Placed, Caller), ErrorData> {
    let placed =
        Placed::new(loaded.clone(), &principal).map_err(|damage| damaged(loaded, &damage))?;
    let traceparent = meta.get_traceparent().map(truncate);
    let caller = caller(&placed, principal, id.to_string(), traceparent);
    Ok((placed, caller))
}

/// Returns the caller of a request: a principal, in its place in the project.
pub(super) fn caller(
    placed: &Placed,
    principal: Arc<Principal>,
    request_id: String,
    traceparent: Option<String>,
) -> Caller {
    let tenant = placed.tenant().map(ToOwned::to_owned).or_else(|| principal.tenant.clone());
    let role = placed.role().map(ToOwned::to_owned);
    Caller { principal, tenant, role, request_id, traceparent }
}

/// Returns whether a request is of the stateless protocol (2026-07-28 and later).
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
