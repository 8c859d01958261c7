//! The limit of logins in progress at one address.
//!
//! OpenSSH drops new connections at random once ten wait for their login.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::route::Route;

/// The most connects in progress to one address.
const CONNECTS_MAX: usize = 8;

/// A gate for each address with a connect in progress.
#[derive(Default)]
pub(super) struct Gates {
    gates: Mutex<BTreeMap<(String, u16), Arc<Semaphore>>>,
}

impl Gates {
    /// Waits until a connect to each hop may begin. The permits last as long as the connect.
    pub(super) async fn enter(&self, route: &Route) -> Vec<OwnedSemaphorePermit> {
        let addresses: BTreeSet<_> =
            route.hops.iter().map(|hop| (hop.address.clone(), hop.port)).collect();
        let mut permits = Vec::new();
        // Every caller takes its gates in the same order, which excludes a ring of waiting callers.
        for address in addresses {
            let gate = self.gate(address);
            // A gate stays open.
            if let Ok(permit) = gate.acquire_owned().await {
                permits.push(permit);
            }
        }
        permits
    }

    fn gate(&self, address: (String, u16)) -> Arc<Semaphore> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        // The permits and the waiters hold their gate; others are forgotten.
        gates.retain(|_, gate| Arc::strong_count(gate) > 1);
        let gate = gates.entry(address).or_insert_with(|| Arc::new(Semaphore::new(CONNECTS_MAX)));
        Arc::clone(gate)
    }
}
