//! The only module that reads the clock. Nothing that is written depends on it; whether a
//! signing key is valid does.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this is the module that may")]
pub(crate) fn now() -> u64 {
    // A clock before 1970 makes every key not valid yet, which is the safe answer.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
