//! The clock, which only this module reads.

#![expect(clippy::disallowed_methods, reason = "this is the module that reads the clock")]

use std::time::SystemTime;

/// Returns the time.
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the seconds since 1970.
pub fn unix_seconds() -> u64 {
    now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the time in the form of audit records: RFC 3339 with milliseconds.
pub fn timestamp() -> String {
    humantime::format_rfc3339_millis(now()).to_string()
}
