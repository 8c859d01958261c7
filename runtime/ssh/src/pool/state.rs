//! The connections that a pool holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::flight::Flight;
use crate::channel::Slot;
use crate::connection::Connection;
use crate::route::{Route, RouteKey};

/// The most channels on a connection. OpenSSH allows 10 by default.
const CHANNELS_MAX: usize = 8;

/// The most connections to a route that are shared.
const CONNECTIONS_MAX: usize = 8;

#[derive(Default)]
pub(super) struct State {
    pub(super) hosts: BTreeMap<RouteKey, Host>,
    /// Whether the task that ends unused connections runs.
    pub(super) sweeping: bool,
}

/// The connections of one route.
pub(super) struct Host {
    pub(super) route: Route,
    pub(super) links: Vec<Link>,
    pub(super) flight: Weak<Flight>,
    /// The connections for forwards that are being made.
    pub(super) opening: usize,
}

/// A connection in the pool.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) connection: Arc<Connection>,
    pub(super) places: Arc<Semaphore>,
    /// Whether it serves a forward.
    pub(super) private: bool,
    /// Whether the host refused a further channel. The connection then serves the channels that it has.
    pub(super) full: bool,
    pub(super) used: Instant,
}

impl State {
    /// Makes room for one connection by ending the longest unused one. False: all are in use.
    pub(super) fn make_room(&mut self, limit: usize) -> bool {
        let flights: usize = self.hosts.values().map(Host::in_progress).sum();
        let links: usize = self.hosts.values().map(|host| host.links.len()).sum();
        if links + flights < limit {
            return true;
        }
        let unused = self.hosts.iter().flat_map(|(key, host)| {
            host.links.iter().filter(|link| link.is_unused()).map(move |link| (link.used, key))
        });
        let Some((used, key)) = unused.min().map(|(used, key)| (used, key.clone())) else {
            return false;
        };
        let Some(host) = self.hosts.get_mut(&key) else { return false };
        // Dropping the last owner of a connection ends it.
        host.links.retain(|link| link.used != used || !link.is_unused());
        true
    }

    /// Drops lost connections and those unused for longer than `idle`.
    pub(super) fn sweep(&mut self, idle: Duration) {
        let now = Instant::now();
        self.hosts.retain(|_, host| {
            for link in &mut host.links {
                if !link.is_unused() {
                    link.used = now;
                }
            }
            host.links.retain(|link| {
                link.is_worth() && (!link.is_unused() || now.duration_since(link.used) < idle)
            });
            !host.links.is_empty() || host.in_progress() > 0
        });
    }
}

impl Host {
    pub(super) fn new(route: Route) -> Self {
        Self { route, links: Vec::new(), flight: Weak::new(), opening: 0 }
    }

    /// Returns the number of connections that are being made.
    pub(super) fn in_progress(&self) -> usize {
        let shared = self.flight.upgrade().is_some_and(|flight| !flight.has_landed());
        usize::from(shared) + self.opening
    }

    /// Returns whether the route has as many shared connections as it may have.
    pub(super) fn is_full(&self) -> bool {
        self.links.iter().filter(|link| !link.private).count() >= CONNECTIONS_MAX
    }

    pub(super) fn has_usable(&self) -> bool {
        self.links.iter().any(Link::is_open)
    }

    /// Takes a place on the first connection that has one, so that the others fall idle.
    pub(super) fn place(&mut self, released: &Arc<Notify>) -> Option<Slot> {
        self.links.iter_mut().filter(|link| link.is_open()).find_map(|link| link.place(released))
    }
}

impl Link {
    pub(super) fn new(connection: Connection) -> Self {
        let places = Arc::new(Semaphore::new(CHANNELS_MAX));
        Self {
            connection: Arc::new(connection),
            places,
            private: false,
            full: false,
            used: Instant::now(),
        }
    }

    pub(super) fn place(&mut self, released: &Arc<Notify>) -> Option<Slot> {
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        self.used = Instant::now();
        let connection = Arc::clone(&self.connection);
        Some(Slot { connection, permit: Some(permit), released: Arc::clone(released) })
    }

    pub(super) fn is_unused(&self) -> bool {
        self.places.available_permits() == CHANNELS_MAX
    }

    /// Returns whether the connection takes new channels.
    pub(super) fn is_open(&self) -> bool {
        self.connection.is_usable() && !self.full && !self.private
    }

    /// Returns whether the connection serves channels now or later.
    pub(super) fn is_worth(&self) -> bool {
        !self.connection.is_closed() && (self.is_open() || !self.is_unused())
    }
}
