//! Answers that wait for their records: the one place between all that answers and the connection.
//!
//! An answer may be a stream whose parts are made later, so each part waits for the records before it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use crate::server::Server;

/// Returns an answer that waits for its records.
pub(super) async fn answer(server: Arc<Server>, response: Response) -> Response {
    if !server.audit.waits() {
        return response;
    }
    server.audit.settled().await;
    response.map(|body| Body::new(Settling { body, server, waiting: None }))
}

/// A frame of a body that waits, and the end of the wait.
type Waiting = (Frame<Bytes>, Pin<Box<dyn Future<Output = ()> + Send>>);

struct Settling {
    body: Body,
    server: Arc<Server>,
    waiting: Option<Waiting>,
}

impl HttpBody for Settling {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.waiting.is_none() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                ended => return Poll::Ready(ended),
            };
            let server = self.server.clone();
            self.waiting = Some((frame, Box::pin(async move { server.audit.settled().await })));
        }
        if let Some((_, settled)) = &mut self.waiting {
            ready!(settled.as_mut().poll(context));
        }
        Poll::Ready(self.waiting.take().map(|(frame, _)| Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.waiting {
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}
