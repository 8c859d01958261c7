//! Requests of the stateless protocol over HTTP.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::model::{ProtocolVersion, ServerJsonRpcMessage};

use super::usual::{Message, Params, answer as answer_to, read};
use crate::caller::principal::Principal;
use crate::mcp::edge;
use crate::mcp::service::Service;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The room for an answer at first: most prompts are shorter.
const ANSWER_BYTES: usize = 8 << 10;

/// Answers a request of `principal`; `None` if it is rmcp's: it has other headers or members.
pub(in crate::mcp) fn answer(
    service: &Service,
    request: &Request,
    body: &Bytes,
    principal: &Arc<Principal>,
) -> Option<Response> {
    let headers = request.headers();
    let is_usual = request.method() == Method::POST
        && has(headers, "mcp-method", "prompts/get")
        && has(headers, "mcp-protocol-version", ProtocolVersion::V_2026_07_28.as_str())
        && has(headers, header::CONTENT_TYPE.as_str(), "application/json")
        && edge::accepts_as_clients_do(headers);
    if !is_usual {
        return None;
    }
    let Message { id, params: Params { name, arguments, meta }, .. } = read(body)?;
    let meta = meta?;
    let is_modern = meta.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
        && meta.client_capabilities().is_some();
    // A name in base64 differs from itself.
    if !is_modern || !has(headers, "mcp-name", &name) || is_encoded(&name) {
        return None;
    }
    Some(json(&answer_to(service, principal, id, (&name, arguments), Some(&meta))))
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
fn json(message: &ServerJsonRpcMessage) -> Response {
    let mut body = Vec::with_capacity(ANSWER_BYTES);
    if let Err(error) = serde_json::to_writer(&mut body, message) {
        tracing::error!("an answer is not JSON: {error}");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
