//! The used proofs, each until it expires. The number of remembered proofs is limited: over a
//! limit, a request is rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use relay_bundle::Digest;
use relay_machine::lock::lock;

use crate::caller::principal::{CallerKey, Principal};

/// The most proofs of one caller.
const CALLER_MAX: usize = 16_384;
/// The most proofs of all callers.
const ALL_MAX: usize = 262_144;

/// The used proofs.
#[derive(Debug)]
pub(crate) struct Replays {
    seen: Mutex<Seen>,
    caller_max: usize,
    all_max: usize,
}

#[derive(Debug, Default)]
struct Seen {
    /// The proof -> its caller, by a number.
    proofs: BTreeMap<[u8; 32], u64>,
    /// The proofs by the time at which they expire.
    ends: BTreeSet<(u64, [u8; 32])>,
    /// The number of a caller, and of its proofs. Only callers with proofs are listed.
    callers: BTreeMap<CallerKey, u64>,
    counts: BTreeMap<u64, (CallerKey, usize)>,
    next: u64,
}

/// Whether a proof was used before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Used {
    First,
    Again,
    /// There is no room to remember it.
    TooMany(&'static str),
}

impl Default for Replays {
    fn default() -> Self {
        Self { seen: Mutex::default(), caller_max: CALLER_MAX, all_max: ALL_MAX }
    }
}

impl Replays {
    /// Remembers a proof of `principal` until `end`, in seconds since 1970.
    pub(crate) fn add(&self, principal: &Principal, proof: Digest, end: u64, now: u64) -> Used {
        let Digest(proof) = proof;
        let mut seen = lock(&self.seen);
        seen.forget(now);
        if seen.proofs.contains_key(&proof) {
            return Used::Again;
        }
        if seen.proofs.len() >= self.all_max {
            return Used::TooMany("too many proofs (`DPoP`) of all callers: try again in a minute");
        }
        let key = principal.caller_key();
        let number = seen.callers.get(&key).copied();
        let count =
            number.and_then(|number| seen.counts.get(&number)).map_or(0, |(_, count)| *count);
        if count >= self.caller_max {
            return Used::TooMany("too many proofs (`DPoP`) of this caller: try again in a minute");
        }
        let number = number.unwrap_or_else(|| {
            seen.next += 1;
            let number = seen.next;
            seen.callers.insert(key.clone(), number);
            number
        });
        seen.counts.insert(number, (key, count + 1));
        seen.proofs.insert(proof, number);
        seen.ends.insert((end, proof));
        Used::First
    }
}

impl Seen {
    /// Forgets the expired proofs.
    fn forget(&mut self, now: u64) {
        while let Some((_, proof)) = self.ends.first().copied().filter(|(end, _)| *end <= now) {
            self.ends.pop_first();
            let Some(number) = self.proofs.remove(&proof) else { continue };
            let Some((key, count)) = self.counts.get_mut(&number) else { continue };
            *count -= 1;
            if *count == 0 {
                self.callers.remove(key);
                self.counts.remove(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str) -> Principal {
        Principal { id: id.to_owned(), ..(*Principal::unauthenticated()).clone() }
    }

    fn proof(number: u8) -> Digest {
        Digest([number; 32])
    }

    #[test]
    fn a_proof_is_remembered_until_it_no_longer_counts() {
        let replays = Replays::default();
        let ann = of("ann");
        assert_eq!(replays.add(&ann, proof(1), 100, 50), Used::First);
        assert_eq!(replays.add(&ann, proof(1), 100, 99), Used::Again);
        assert_eq!(replays.add(&of("bob"), proof(1), 100, 99), Used::Again);
        assert_eq!(replays.add(&ann, proof(1), 200, 100), Used::First);
    }

    #[test]
    fn the_limits_hold_and_nothing_is_forgotten_for_them() {
        let replays = Replays { seen: Mutex::default(), caller_max: 2, all_max: 3 };
        let (ann, bob) = (of("ann"), of("bob"));
        assert_eq!(replays.add(&ann, proof(1), 100, 0), Used::First);
        assert_eq!(replays.add(&ann, proof(2), 200, 0), Used::First);
        let full = |used| matches!(used, Used::TooMany(reason) if reason.contains("this caller"));
        assert!(full(replays.add(&ann, proof(3), 200, 0)));
        assert_eq!(replays.add(&bob, proof(4), 200, 0), Used::First);
        let full = |used| matches!(used, Used::TooMany(reason) if reason.contains("all callers"));
        assert!(full(replays.add(&bob, proof(5), 200, 0)));
        for known in [1, 2, 4] {
            assert_eq!(replays.add(&ann, proof(known), 200, 99), Used::Again);
        }
        // The first proof has expired, so one of Ann has room.
        assert_eq!(replays.add(&ann, proof(3), 200, 100), Used::First);
        assert_eq!(replays.add(&ann, proof(6), 300, 200), Used::First);
        let seen = lock(&replays.seen);
        assert_eq!((seen.proofs.len(), seen.callers.len(), seen.counts.len()), (1, 1, 1));
    }
}
