//! The questions to persons: which of them were answered, so that each answer counts once.
//!
//! A client that repeats a call brings the state of its question back. It is used once: the number in
//! it is remembered until the question expires. The numbers and the times in it are those of this
//! process alone, as is the key that seals it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use relay_machine::lock::lock;
use ring::rand::{SecureRandom as _, SystemRandom};
use thiserror::Error;
use zeroize::Zeroizing;

use super::principal::{CallerKey, Principal};

/// The most used states of one caller that are remembered.
const USED_EACH_MAX: usize = 256;
/// The bytes of the key.
const KEY_BYTES: usize = 32;
/// The bytes of the number of a question.
const NUMBER_BYTES: usize = 16;
/// The bytes of the time of a question.
const TIME_BYTES: usize = 8;

/// The questions of one server.
#[derive(Debug)]
pub(crate) struct Approvals {
    key: Zeroizing<[u8; KEY_BYTES]>,
    begun: Instant,
    used: Mutex<BTreeMap<CallerKey, Used>>,
}

/// The used numbers of a caller, with the times at which their questions expire.
type Used = BTreeMap<[u8; NUMBER_BYTES], Instant>;

/// The system fails to give random numbers.
#[derive(Debug, Clone, Copy, Error)]
#[error("the system provides no random numbers")]
pub(crate) struct NoRandom;

/// A question, before it is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    number: [u8; NUMBER_BYTES],
    /// The milliseconds from the start of the server.
    at_ms: u64,
}

/// Why a state has lost its worth. The texts follow a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum Spent {
    #[error("the yes came too late")]
    Late,
    #[error("this yes was used already, and counts once")]
    Used,
    #[error("{USED_EACH_MAX} answers of this caller are remembered, which is the limit: wait")]
    TooMany,
}

impl Asked {
    /// Returns it as bytes.
    pub(crate) fn bytes(&self) -> [u8; NUMBER_BYTES + TIME_BYTES] {
        let mut bytes = [0; NUMBER_BYTES + TIME_BYTES];
        let (number, time) = bytes.split_at_mut(NUMBER_BYTES);
        number.copy_from_slice(&self.number);
        time.copy_from_slice(&self.at_ms.to_le_bytes());
        bytes
    }

    /// Reads it from bytes; `None` for another number of bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (number, time) = bytes.split_at_checked(NUMBER_BYTES)?;
        let at_ms = u64::from_le_bytes(time.try_into().ok()?);
        Some(Self { number: number.try_into().ok()?, at_ms })
    }
}

impl Approvals {
    pub(crate) fn new() -> Result<Self, NoRandom> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        SystemRandom::new().fill(&mut *key).map_err(|_| NoRandom)?;
        Ok(Self { key, begun: Instant::now(), used: Mutex::default() })
    }

    /// Returns the key that seals the states of questions.
    pub(crate) fn key(&self) -> &[u8] {
        &*self.key
    }

    /// Returns a question that is asked now.
    pub(crate) fn asked(&self) -> Result<Asked, NoRandom> {
        let mut number = [0; NUMBER_BYTES];
        SystemRandom::new().fill(&mut number).map_err(|_| NoRandom)?;
        let at_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Asked { number, at_ms })
    }

    /// Uses a question of a caller that expires after `ttl`, once.
    pub(crate) fn take(
        &self,
        caller: &Principal,
        asked: Asked,
        ttl: Duration,
    ) -> Result<(), Spent> {
        let now = Instant::now();
        let asked_at = self.begun.checked_add(Duration::from_millis(asked.at_ms));
        let asked_at = asked_at.filter(|asked_at| *asked_at <= now).ok_or(Spent::Late)?;
        let expires = asked_at.checked_add(ttl).ok_or(Spent::Late)?;
        let mut all = lock(&self.used);
        for used in all.values_mut() {
            used.retain(|_, expires| *expires > now);
        }
        all.retain(|_, used| !used.is_empty());
        if expires <= now {
            return Err(Spent::Late);
        }
        let used = all.entry(caller.caller_key()).or_default();
        if used.contains_key(&asked.number) {
            return Err(Spent::Used);
        }
        if used.len() >= USED_EACH_MAX {
            return Err(Spent::TooMany);
        }
        used.insert(asked.number, expires);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    #[test]
    fn a_question_is_used_once_and_in_time() {
        let approvals = Approvals::new().expect("random numbers");
        let (ann, bob) = (Principal::default(), Principal { id: "bob".into(), ..<_>::default() });
        let asked = approvals.asked().expect("random numbers");
        assert_eq!(Asked::read(&asked.bytes()), Some(asked));
        assert_eq!(approvals.take(&ann, asked, Duration::ZERO), Err(Spent::Late));
        assert_eq!(approvals.take(&ann, asked, TTL), Ok(()));
        assert_eq!(approvals.take(&ann, asked, TTL), Err(Spent::Used));
        let second = approvals.asked().expect("random numbers");
        assert_ne!(asked, second);
        assert_eq!(approvals.take(&bob, second, TTL), Ok(()));
        assert_eq!(
            approvals.take(&ann, Asked { at_ms: u64::MAX, ..second }, TTL),
            Err(Spent::Late)
        );
    }

    #[test]
    fn the_memory_of_used_questions_is_limited_for_each_caller_and_ends_with_them() {
        let approvals = Approvals::new().expect("random numbers");
        let (ann, bob) = (Principal::default(), Principal { id: "bob".into(), ..<_>::default() });
        let take = |caller: &Principal, ttl| {
            approvals.take(caller, approvals.asked().expect("random numbers"), ttl)
        };
        // Expired ones are forgotten and make room.
        for _ in 0..USED_EACH_MAX * 2 {
            assert_ne!(take(&ann, Duration::from_nanos(1)), Err(Spent::TooMany));
        }
        for _ in 0..USED_EACH_MAX {
            assert_eq!(take(&ann, TTL), Ok(()));
        }
        assert_eq!(take(&ann, TTL), Err(Spent::TooMany));
        assert_eq!(take(&bob, TTL), Ok(()));
    }
}
