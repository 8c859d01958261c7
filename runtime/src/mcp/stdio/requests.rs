//! The requests in flight on standard input: their ids and their limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use relay_machine::lock::lock;
use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The requests in flight.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    counted_max: usize,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether each request counts. Streams stay in flight for long, and have a limit of their own.
    in_flight: Mutex<InFlight>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct InFlight {
    ids: HashMap<RequestId, bool>,
    counted: usize,
}

/// A request in flight, until its handler is done. Clones are the same request.
#[derive(Debug, Clone)]
pub(super) struct Request(#[expect(dead_code, reason = "it is held to be dropped")] Arc<Ending>);

#[derive(Debug)]
struct Ending {
    id: RequestId,
    shared: Arc<Shared>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut in_flight = lock(&self.shared.in_flight);
        if in_flight.ids.remove(&self.id) == Some(true) {
            in_flight.counted -= 1;
        }
        drop(in_flight);
        self.shared.ended.notify_one();
    }
}

impl Requests {
    pub(super) fn new(counted_max: usize) -> Self {
        Self { counted_max, shared: Arc::default() }
    }

    /// Waits until another request may be read.
    pub(super) async fn have_room(&self) {
        while lock(&self.shared.in_flight).counted >= self.counted_max {
            self.shared.ended.notified().await;
        }
    }

    /// Waits until all counted requests are answered.
    pub(super) async fn are_answered(&self) {
        while lock(&self.shared.in_flight).counted > 0 {
            self.shared.ended.notified().await;
        }
    }

    /// Marks a request as in flight; `None` if one with the same id is.
    pub(super) fn begin(&self, id: &RequestId, counts: bool) -> Option<Request> {
        let mut in_flight = lock(&self.shared.in_flight);
        if in_flight.ids.contains_key(id) {
            return None;
        }
        in_flight.ids.insert(id.clone(), counts);
        in_flight.counted += usize::from(counts);
        Some(Request(Arc::new(Ending { id: id.clone(), shared: self.shared.clone() })))
    }
}
