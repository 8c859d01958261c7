//! Requests of the stateless protocol over HTTP.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::model::ProtocolVersion;

use super::answer::answer as answer_to;
use super::usual::{Asked, read};
use crate::caller::principal::Principal;
use crate::mcp::edge;
use crate::mcp::service::Service;

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Answers a request of `principal`; `None` if it is rmcp's: it has other headers or members.
pub(in crate::mcp) fn answer(
    service: &Service,
    request: &Request,
    body: &Bytes,
    principal: &Arc<Principal>,
) -> Option<Response> {
    let headers = request.headers();
    // Bodies of other methods may be long.
    let is_usual = request.method() == Method::POST
        && Asked::METHODS.iter().any(|method| has(headers, METHOD, method))
        && has(headers, "mcp-protocol-version", ProtocolVersion::V_2026_07_28.as_str())
        && has(headers, header::CONTENT_TYPE.as_str(), "application/json")
        && edge::accepts_as_clients_do(headers);
    if !is_usual {
        return None;
    }
    let usual = read(body)?;
    let meta = usual.meta.as_ref()?;
    let is_modern = meta.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
        && meta.client_capabilities().is_some();
    let is_named = match usual.asked.name() {
        // A name in base64 differs from itself.
        Some(name) => has(headers, NAME, name) && !is_encoded(name),
        None => !headers.contains_key(NAME),
    };
    if !is_modern || !is_named || !has(headers, METHOD, usual.asked.method()) {
        return None;
    }
    Some(response(answer_to(service, principal, usual)))
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

/// Returns an answer as rmcp sends it: errors of a method have the status 200 too.
fn response(answer: serde_json::Result<Vec<u8>>) -> Response {
    let body = match answer {
        Ok(body) => body,
        Err(error) => {
            tracing::error!("an answer is not JSON: {error}");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}
