//! Open streams end when the credentials of their caller expire or are withdrawn: a request checks
//! them once, but a stream may stay open for days.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use hyper::body::Frame;
use relay_bundle::trust::Time;
use relay_machine::clock;
use tokio::time::sleep;

use super::auth::{Authenticator, Identity};

/// The longest time between two looks at the clock, since it may be set.
const LOOK_MAX: Duration = Duration::from_secs(60);
/// The shortest time between two looks at the clock.
const LOOK_MIN: Duration = Duration::from_secs(1);

/// Ends the body of a stream when the credentials in `headers` cease to name its caller.
pub(super) fn end_with_credentials(
    response: Response,
    auth: &Arc<Authenticator>,
    headers: HeaderMap,
    identity: Identity,
) -> Response {
    let content = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !content.is_some_and(|content| content.starts_with(b"text/event-stream")) {
        return response;
    }
    let lapsed = Box::pin(lapsed(auth.clone(), headers, identity));
    response.map(|body| Body::new(Ending { body, lapsed }))
}

/// Completes when the credentials in `headers` cease to name this caller.
async fn lapsed(auth: Arc<Authenticator>, headers: HeaderMap, identity: Identity) {
    let mut changes = auth.changes();
    loop {
        let until = match auth.identify_again(&headers) {
            Ok(now) if now.principal == identity.principal => now.until,
            Ok(_) | Err(_) => break,
        };
        let left = until.map(|Time(end)| end.saturating_sub(clock::unix_seconds()));
        let wait =
            left.map_or(LOOK_MAX, |left| Duration::from_secs(left).clamp(LOOK_MIN, LOOK_MAX));
        tokio::select! {
            _ = changes.changed() => {}
            () = sleep(wait) => {}
        }
    }
    tracing::debug!("a stream ends, since the credentials of its caller no longer count");
}

/// A body that ends when `lapsed` completes.
struct Ending<F> {
    body: Body,
    lapsed: Pin<Box<F>>,
}

impl<F: Future<Output = ()>> HttpBody for Ending<F> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, lapsed } = self.get_mut();
        match lapsed.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => Pin::new(body).poll_frame(context),
        }
    }
}
