//! How many connections there may be, and from where.
//!
//! Connections over a limit are not left to wait, since then a probe of the server's health would
//! wait with them: a few more are accepted to be answered at the health paths, and the rest closed.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::turns::Turns;
use crate::caller::slots::{Slot, Slots};
use crate::settings::config::Limits;

/// The connections that one address may have of those for health: a fourth.
const HEALTH_SHARE: u32 = 4;

/// The limits of connections, and the connections that count.
pub(super) struct Admission {
    ordinary: Pool,
    health: Pool,
}

/// A number of connections in all, and for each address.
struct Pool {
    all: Arc<Semaphore>,
    by_address: Slots<IpAddr, Turns>,
}

/// An accepted connection, until it ends.
pub(super) struct Admitted {
    /// The requests that it may make.
    pub(super) purpose: Purpose,
    _permit: OwnedSemaphorePermit,
    slot: Slot<IpAddr, Turns>,
}

impl Admitted {
    /// Returns the turns of all connections from its address.
    pub(super) fn turns(&self) -> &Arc<Turns> {
        self.slot.shared()
    }
}

/// The requests that a connection may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Anything.
    Ordinary,
    /// The health of the server, once.
    Health,
}

impl Admission {
    pub(super) fn new(limits: &Limits) -> Self {
        let health = limits.health_connections_max.get();
        Self {
            ordinary: Pool::new(limits.connections_max.get(), limits.address_connections_max.get()),
            health: Pool::new(health, health.div_ceil(HEALTH_SHARE)),
        }
    }

    /// Counts a connection from `address`; `None` if it must be closed.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Admitted> {
        let network = network(address);
        let admit = |pool: &Pool, purpose| {
            let (_permit, slot) = pool.take(network)?;
            Some(Admitted { purpose, _permit, slot })
        };
        admit(&self.ordinary, Purpose::Ordinary).or_else(|| admit(&self.health, Purpose::Health))
    }
}

impl Pool {
    fn new(all_max: u32, address_max: u32) -> Self {
        let permits = usize::try_from(all_max).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let each_max = usize::try_from(address_max).unwrap_or(usize::MAX);
        Self { all: Arc::new(Semaphore::new(permits)), by_address: Slots::new(each_max) }
    }

    fn take(&self, address: IpAddr) -> Option<(OwnedSemaphorePermit, Slot<IpAddr, Turns>)> {
        let slot = self.by_address.take(address)?;
        Some((self.all.clone().try_acquire_owned().ok()?, slot))
    }
}

/// Returns the address that connections are counted by. A host with IPv6 usually has a network of
/// 64 bits to itself.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_count_together() {
        let at = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff::9"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
    }

    #[test]
    fn one_address_leaves_room_for_others() {
        let number = |number| std::num::NonZeroU32::new(number).expect("not 0");
        let limits = Limits {
            connections_max: number(3),
            address_connections_max: number(2),
            health_connections_max: number(4),
            ..Limits::default()
        };
        let admission = Admission::new(&limits);
        let [one, two, three] = [1, 2, 3].map(|host| IpAddr::from([192, 0, 2, host]));
        let admit = |address| admission.admit(address).map(|it| (it.purpose, it));
        let held: Vec<_> = [one, one, one, two, two, three, three].map(admit).into();
        let purposes: Vec<_> =
            held.iter().map(|it| it.as_ref().map(|(purpose, _)| *purpose)).collect();
        let (ordinary, health) = (Some(Purpose::Ordinary), Some(Purpose::Health));
        assert_eq!(purposes, [ordinary, ordinary, health, ordinary, health, health, None]);
        drop(held);
        assert!(admit(one).is_some_and(|(purpose, _)| purpose == Purpose::Ordinary));
    }
}
