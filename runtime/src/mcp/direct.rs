//! `prompts/get` of the stateless protocol over HTTP, answered without rmcp.
//!
//! rmcp reads the JSON of a request three times, and starts a service with three tasks for it. A
//! prompt needs none of that: it is one function of the request. Only a request in the usual form is
//! answered here, with the bytes that rmcp would send. Every other one is rmcp's, with the errors that
//! it has for them: other headers, further members, a wrong version, and all other methods.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method as HttpMethod, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, JsonRpcVersion2_0, ProtocolVersion, RequestId, RequestMetaObject,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;

use super::caller::of_request;
use super::edge;
use super::prompts;
use super::service::Service;
use crate::caller::principal::Principal;
use crate::record::metrics::{Method, Outcome};

const METHOD: &str = "prompts/get";
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The room for an answer at first: most prompts are shorter.
const ANSWER_BYTES: usize = 8 << 10;

/// A request in the usual form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'a, str>,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    arguments: Option<JsonObject>,
    #[serde(rename = "_meta")]
    meta: RequestMetaObject,
}

/// Answers a request of `principal`; `None` if it is rmcp's.
pub(super) fn answer(
    service: &Service,
    request: &Request,
    body: &Bytes,
    principal: &Arc<Principal>,
) -> Option<Response> {
    let headers = request.headers();
    let is_usual = request.method() == HttpMethod::POST
        && has(headers, "mcp-method", METHOD)
        && has(headers, "mcp-protocol-version", ProtocolVersion::V_2026_07_28.as_str())
        && has(headers, header::CONTENT_TYPE.as_str(), "application/json")
        && edge::accepts_as_clients_do(headers);
    if !is_usual {
        return None;
    }
    let Message { id, method, params: Params { name, arguments, meta }, .. } =
        serde_json::from_slice(body).ok()?;
    let is_modern = meta.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
        && meta.client_capabilities().is_some();
    // A name in base64 differs from itself.
    if method != METHOD || !is_modern || !has(headers, "mcp-name", &name) || is_encoded(&name) {
        return None;
    }
    let mut timer = service.server.metrics.time(Method::PromptsGet);
    let got = get(service, principal, &id, (&name, arguments), &meta);
    if got.is_ok() {
        timer.outcome = Outcome::Answered;
    }
    drop(timer);
    Some(json(got, id))
}

fn get(
    service: &Service,
    principal: &Arc<Principal>,
    id: &RequestId,
    (name, arguments): (&str, Option<JsonObject>),
    meta: &RequestMetaObject,
) -> Result<GetPromptResult, ErrorData> {
    let served = service.served();
    let (placed, caller) = of_request(&served.loaded, principal.clone(), id, meta)?;
    let mut result = prompts::get(&service.server, &placed, &caller, name, arguments)?;
    served.surface.stamp(&mut result.meta);
    Ok(result)
}

/// Returns whether a header is there once, with this value.
fn has(headers: &HeaderMap, name: &str, value: &str) -> bool {
    let mut sent = headers.get_all(name).iter();
    // rmcp rejects other characters than visible ones of ASCII.
    matches!((sent.next(), sent.next()), (Some(sent), None) if sent.to_str().is_ok_and(|sent| sent == value))
}

/// Returns whether a header with this value is one in base64 (`=?base64?…?=`).
fn is_encoded(name: &str) -> bool {
    name.starts_with("=?")
}

/// Returns the answer as rmcp sends it: errors of a prompt have the status 200 too.
fn json(got: Result<GetPromptResult, ErrorData>, id: RequestId) -> Response {
    let message = match got {
        Ok(result) => ServerJsonRpcMessage::response(ServerResult::GetPromptResult(result), id),
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    };
    let mut body = Vec::with_capacity(ANSWER_BYTES);
    if let Err(error) = serde_json::to_writer(&mut body, &message) {
        tracing::error!("an answer is not JSON: {error}");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
