//! The times of a trust file.

use std::borrow::Cow;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Deserializer};
use toml_datetime::Datetime;

/// A time in seconds since 1970, written `2026-11-21T00:00:00Z` or `2026-11-21`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// As a TOML date, or as a text.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Date(Datetime),
            Text(String),
        }
        let text = Written::deserialize(deserializer).ok().map(|written| match written {
            Written::Date(date) => date.to_string(),
            Written::Text(text) => text,
        });
        text.as_deref().and_then(Self::parse).ok_or_else(|| {
            serde::de::Error::custom("a time is written 2026-11-21T00:00:00Z or 2026-11-21")
        })
    }
}

impl Time {
    /// Reads a date, or a date and time in UTC; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = match text.contains('T') {
            true => Cow::Borrowed(text),
            false => Cow::Owned(format!("{text}T00:00:00Z")),
        };
        let time = humantime::parse_rfc3339(&text).ok()?;
        // Fractions, offsets and leap seconds would be accepted, but with another meaning than
        // written.
        let is_exact = humantime::format_rfc3339_seconds(time).to_string() == text;
        is_exact.then_some(Self(time.duration_since(UNIX_EPOCH).ok()?.as_secs()))
    }
}
