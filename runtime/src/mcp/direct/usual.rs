//! The usual form of `prompts/get`, and its answer.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, JsonRpcVersion2_0, RequestId, RequestMetaObject,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;

use crate::caller::principal::Principal;
use crate::mcp::caller::of_request;
use crate::mcp::prompts;
use crate::mcp::service::Service;
use crate::record::metrics::{Method, Outcome};

/// A request in the usual form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    pub(super) id: RequestId,
    #[serde(rename = "method")]
    _method: Wanted,
    pub(super) params: Params,
}

/// The method that is answered here; reading ends at the name of any other one.
#[derive(Deserialize)]
enum Wanted {
    #[serde(rename = "prompts/get")]
    PromptsGet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    pub(super) name: String,
    pub(super) arguments: Option<JsonObject>,
    /// Requests of the stateless protocol alone have it.
    #[serde(rename = "_meta")]
    pub(super) meta: Option<RequestMetaObject>,
}

/// Returns the request in `bytes`, if it has the usual form.
pub(super) fn read(bytes: &[u8]) -> Option<Message> {
    // The prompts of the conformance suite are the handler's.
    let is_answered = !cfg!(feature = "conformance-tools");
    is_answered.then(|| serde_json::from_slice(bytes).ok())?
}

/// Returns the answer to a request for the prompt of this name. `meta` is that of a request of the
/// stateless protocol, whose answers carry the server's identity.
pub(super) fn answer(
    service: &Service,
    principal: &Arc<Principal>,
    id: RequestId,
    (name, arguments): (&str, Option<JsonObject>),
    meta: Option<&RequestMetaObject>,
) -> ServerJsonRpcMessage {
    let mut timer = service.server.metrics.time(Method::PromptsGet);
    let got = get(service, principal, &id, (name, arguments), meta);
    if got.is_ok() {
        timer.outcome = Outcome::Answered;
    }
    drop(timer);
    match got {
        Ok(result) => ServerJsonRpcMessage::response(ServerResult::GetPromptResult(result), id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}

fn get(
    service: &Service,
    principal: &Arc<Principal>,
    id: &RequestId,
    (name, arguments): (&str, Option<JsonObject>),
    meta: Option<&RequestMetaObject>,
) -> Result<GetPromptResult, ErrorData> {
    let served = service.served();
    let none = RequestMetaObject::default();
    let (placed, caller) =
        of_request(&served.loaded, principal.clone(), id, meta.unwrap_or(&none))?;
    let mut result = prompts::get(&service.server, &placed, &caller, name, arguments)?;
    match meta {
        Some(_) => served.surface.stamp(&mut result.meta),
        // Older protocols lack it.
        None => result.result_type = None,
    }
    Ok(result)
}
