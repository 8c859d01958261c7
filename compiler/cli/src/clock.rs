//! The only module that reads the clock. No written file depends on it; the validity of signing
//! keys does.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this module is the one that reads the clock")]
pub(crate) fn now() -> u64 {
    // With a clock before 1970 no key is valid yet, which is the safe answer.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
