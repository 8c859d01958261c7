//! The limits of connections: in all, and from each address.
//!
//! When all connections are in use, one from another address takes the place of one that waits for
//! its client, from the address with the most. So a few addresses with silent connections leave
//! room for the others. Other connections over a limit are decided at once, since a health probe
//! would wait with them: a few more are accepted for the health paths, and the rest are closed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use relay_machine::lock::lock;

use super::turns::Turns;
use crate::caller::activity::Activity;
use crate::settings::config::Limits;

/// The part of the connections for health that one address may have: a fourth.
const HEALTH_SHARE: u32 = 4;

/// The limits of connections, and the connections that count.
pub(super) struct Admission {
    ordinary: Arc<Pool>,
    health: Arc<Pool>,
}

/// A number of connections in all, and for each address.
struct Pool {
    all_max: usize,
    address_max: usize,
    held: Mutex<Held>,
}

/// The connections by their address.
#[derive(Default)]
struct Held {
    addresses: BTreeMap<IpAddr, Address>,
    count: usize,
    /// The number of the next connection.
    next: u64,
}

/// The connections from one address by their numbers, in the order of their beginnings.
#[derive(Default)]
struct Address {
    connections: BTreeMap<u64, Arc<Activity>>,
    turns: Arc<Turns>,
}

/// An accepted connection, until it ends.
pub(super) struct Admitted {
    /// The requests that it may make.
    pub(super) purpose: Purpose,
    /// The turns of all connections from its address.
    pub(super) turns: Arc<Turns>,
    pub(super) activity: Arc<Activity>,
    pool: Arc<Pool>,
    address: IpAddr,
    number: u64,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        lock(&self.pool.held).remove(self.address, self.number);
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
        let pool = |all, address| Arc::new(Pool::new(all, address));
        Self {
            ordinary: pool(limits.connections_max.get(), limits.address_connections_max.get()),
            health: pool(health, health.div_ceil(HEALTH_SHARE)),
        }
    }

    /// Counts a connection from `address`; `None` if it must be closed.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Admitted> {
        let network = network(address);
        let admit = |pool: &Arc<Pool>, purpose| {
            let (number, activity, turns) = pool.take(network)?;
            Some(Admitted {
                purpose,
                turns,
                activity,
                pool: pool.clone(),
                address: network,
                number,
            })
        };
        admit(&self.ordinary, Purpose::Ordinary).or_else(|| admit(&self.health, Purpose::Health))
    }
}

impl Pool {
    fn new(all_max: u32, address_max: u32) -> Self {
        let [all_max, address_max] =
            [all_max, address_max].map(|max| usize::try_from(max).unwrap_or(usize::MAX));
        Self { all_max, address_max, held: Mutex::default() }
    }

    fn take(&self, address: IpAddr) -> Option<(u64, Arc<Activity>, Arc<Turns>)> {
        let mut held = lock(&self.held);
        let own = held.addresses.get(&address).map_or(0, |it| it.connections.len());
        if own >= self.address_max || (held.count >= self.all_max && !held.make_room(own)) {
            return None;
        }
        let number = held.next;
        held.next += 1;
        held.count += 1;
        let Address { connections, turns } = held.addresses.entry(address).or_default();
        let activity = Arc::<Activity>::default();
        connections.insert(number, activity.clone());
        Some((number, activity, turns.clone()))
    }
}

impl Held {
    /// Ends the oldest connection that waits for its client, of the address with the most. Returns
    /// false if all are busy, or if that address would then have fewer than `own` and the new one.
    fn make_room(&mut self, own: usize) -> bool {
        let most = self.addresses.iter().max_by_key(|(_, it)| it.connections.len());
        let Some((address, Address { connections, .. })) = most else { return false };
        if connections.len() <= own + 1 {
            return false;
        }
        let mut waiting = connections.iter().filter(|(_, it)| it.waits_for_client());
        let Some((number, activity)) = waiting.next() else { return false };
        activity.replaced.cancel();
        let (address, number) = (*address, *number);
        self.remove(address, number);
        true
    }

    /// Removes a connection, unless another one has taken its place.
    fn remove(&mut self, address: IpAddr, number: u64) {
        let Some(Address { connections, .. }) = self.addresses.get_mut(&address) else { return };
        if connections.remove(&number).is_some() {
            self.count -= 1;
        }
        if connections.is_empty() {
            self.addresses.remove(&address);
        }
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
        // The first connection of the third address replaces one.
        assert_eq!(purposes, [ordinary, ordinary, health, ordinary, health, ordinary, health]);
        let replaced =
            |at: usize| held[at].as_ref().map(|(_, it)| it.activity.replaced.is_cancelled());
        assert_eq!([replaced(0), replaced(1), replaced(3)], [Some(true), Some(false), Some(false)]);
        drop(held);
        assert_eq!(lock(&admission.ordinary.held).count, 0);
        assert!(admit(one).is_some_and(|(purpose, _)| purpose == Purpose::Ordinary));
    }

    #[test]
    fn connections_that_are_answered_keep_their_place() {
        let number = |number| std::num::NonZeroU32::new(number).expect("not 0");
        let limits = Limits {
            connections_max: number(4),
            address_connections_max: number(4),
            ..Limits::default()
        };
        let admission = Admission::new(&limits);
        let [one, two] = [1, 2].map(|host| IpAddr::from([192, 0, 2, host]));
        let held: Vec<_> = [one; 4].map(|address| admission.admit(address)).into();
        let answering: Vec<_> = held.iter().flatten().map(|it| it.activity.answering()).collect();
        let other = admission.admit(two).map(|it| it.purpose);
        assert_eq!(other, Some(Purpose::Health));
        drop(answering);
        let other = admission.admit(two).map(|it| it.purpose);
        assert_eq!(other, Some(Purpose::Ordinary));
    }
}
