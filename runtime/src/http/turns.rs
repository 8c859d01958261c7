//! Turns: a request waits for the others from its own address only.
//!
//! hyper answers several requests that a client sent at once before another connection runs, and
//! hundreds of connections may send at once. Turns keep a request from waiting for all of them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;
use tokio::task::yield_now;

use crate::caller::activity::{Activity, Answering};

/// Requests of one address that may begin before another address is looked at.
const TURNS: usize = 4;

/// The turns of one address.
#[derive(Debug)]
pub(super) struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Self {
        Self(Semaphore::new(TURNS))
    }
}

impl Turns {
    /// Waits until earlier requests and connections with something to read had their turn. Only the
    /// beginning of a request takes a turn: it may then last.
    async fn wait(&self) {
        let _turn = self.0.acquire().await;
        yield_now().await;
    }
}

/// Routes whose requests begin in turns.
pub(super) struct InTurn {
    routes: TowerToHyperService<Router>,
    turns: Arc<Turns>,
    activity: Arc<Activity>,
}

impl InTurn {
    pub(super) fn new(routes: Router, turns: Arc<Turns>, activity: Arc<Activity>) -> Self {
        Self { routes: TowerToHyperService::new(routes), turns, activity }
    }
}

impl Service<Request<Incoming>> for InTurn {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let (routes, turns) = (self.routes.clone(), self.turns.clone());
        let activity = self.activity.clone();
        request.extensions_mut().insert(activity.clone());
        Box::pin(async move {
            turns.wait().await;
            let response = routes.call(request).await?;
            let answering = activity.answering();
            Ok(response.map(|body| Body::new(Answer { body, _answering: answering })))
        })
    }
}

/// The body of an answer, while it is being sent.
struct Answer {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn a_crowd_of_one_address_does_not_go_before_another() {
        let (crowd, other) = (Arc::new(Turns::default()), Arc::new(Turns::default()));
        let begun = Arc::new(Mutex::new(Vec::new()));
        let requests = (0..100).map(|_| ("crowd", &crowd)).chain([("other", &other)]);
        let requests: Vec<_> = requests
            .map(|(name, turns)| {
                let (turns, begun) = (turns.clone(), begun.clone());
                tokio::spawn(async move {
                    turns.wait().await;
                    begun.lock().expect("no panic").push(name);
                })
            })
            .collect();
        for request in requests {
            request.await.expect("no panic");
        }
        let begun = begun.lock().expect("no panic");
        let before = begun.iter().take_while(|name| **name != "other").count();
        assert_eq!(begun.len(), 101);
        assert!(before <= 2 * TURNS, "{before} requests of the crowd went before the other");
    }
}
