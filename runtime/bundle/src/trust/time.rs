//! The times of a trust file.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Deserializer};
use toml_datetime::{Date, Datetime, Offset};

/// A time in seconds since 1970, written `2026-11-21`, `2026-11-21T00:00:00Z` or
/// `2026-11-21T01:00:00+01:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

/// The last second of the year 9999; later dates need five digits.
const LAST: u64 = 253_402_300_799;

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = UNIX_EPOCH + Duration::from_secs(self.0.min(LAST));
        humantime::format_rfc3339_seconds(time).fmt(f)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A TOML date, or a text.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Date(Datetime),
            Text(String),
        }
        let time = Written::deserialize(deserializer).ok().and_then(|written| match written {
            Written::Date(date) => Self::of(date),
            Written::Text(text) => Self::parse(&text),
        });
        time.ok_or_else(|| {
            serde::de::Error::custom(
                "a time is a date such as 2026-11-21, or a date and a time in whole seconds such as 2026-11-21T00:00:00Z or 2026-11-21T01:00:00+01:00",
            )
        })
    }
}

impl Time {
    /// Reads a date, or a date and a time, in UTC unless an offset is given; `None` for any other
    /// text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::of(text.parse().ok()?)
    }

    fn of(written: Datetime) -> Option<Self> {
        let Datetime { date: Some(date), time, offset } = written else { return None };
        let (hour, minute, second) = match time {
            None => (0, 0, 0),
            // A fraction or a leap second has no place in whole seconds, and rounding would change
            // its meaning.
            Some(time) if time.nanosecond.is_none_or(|fraction| fraction == 0) => {
                (time.hour, time.minute, time.second.unwrap_or(0))
            }
            Some(_) => return None,
        };
        let Date { year, month, day } = date;
        let local = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        let parsed = humantime::parse_rfc3339(&local).ok()?;
        if humantime::format_rfc3339_seconds(parsed).to_string() != local {
            return None;
        }
        let seconds = i64::try_from(parsed.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
        let ahead_min = match offset {
            None | Some(Offset::Z) => 0,
            Some(Offset::Custom { minutes }) => i64::from(minutes),
        };
        u64::try_from(seconds.checked_sub(ahead_min.checked_mul(60)?)?).ok().map(Self)
    }
}
