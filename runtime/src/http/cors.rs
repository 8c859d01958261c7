//! Pages of allowed origins: browsers ask before they send a request, and give a page the answer
//! only if the answer names its origin (CORS).

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

/// The methods of MCP.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// The headers of answers that a client of MCP reads.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");
/// How long a browser may keep the answer, in seconds.
const MAX_AGE_S: HeaderValue = HeaderValue::from_static("600");

/// Answers a browser that asks whether a page may send a request; `None` for any other request.
/// Browsers send it before any credentials, and the answer is its only effect.
pub(super) fn preflight(request: &Request) -> Option<Response> {
    let headers = request.headers();
    if request.method() != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let answers = response.headers_mut();
    answers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_S);
    // The page is trusted, and clients have headers of their own (`Mcp-Param-…`).
    if let Some(wanted) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        answers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    Some(response)
}

/// Lets the page of this origin read a response.
pub(super) fn allow(mut response: Response, origin: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(VARY, HeaderValue::from_static("Origin"));
    response
}
