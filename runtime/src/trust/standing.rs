//! Whether the bundle in force is still trusted, as the trust file was last read.

use relay_bundle::Bundle;
use relay_bundle::trust::{self, Time, Trust, TrustError};

/// Whether the bundle in force is still trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is trusted. If a key expires, the trust ends then, for this reason.
    Trusted { expiry: Option<(Time, String)> },
    /// It would be refused now, yet is unrevoked: it is served, and the reason is reported.
    Doubted { reason: String },
    /// The bundle or a key that signed it is revoked: nothing is served.
    Revoked { reason: String },
}

impl Standing {
    /// Judges `bundle` under `trust` at the time `now` (seconds since 1970).
    pub(crate) fn of(bundle: &Bundle, trust: &Trust, now: u64) -> Self {
        match trust::verify(bundle, trust, now) {
            Ok(_) => Self::trusted(bundle, trust, now),
            Err(error) => Self::of_error(&error),
        }
    }

    /// Returns the standing of a bundle that `trust` accepts at the time `now`.
    pub(crate) fn trusted(bundle: &Bundle, trust: &Trust, now: u64) -> Self {
        let expiry = trust::expiry(bundle, trust, now);
        Self::Trusted { expiry: expiry.map(|(end, error)| (end, error.to_string())) }
    }

    fn of_error(error: &TrustError) -> Self {
        let reason = error.to_string();
        if error.is_revocation() { Self::Revoked { reason } } else { Self::Doubted { reason } }
    }

    /// Returns why nothing is served; `None` while the bundle is served.
    pub(crate) fn revocation(&self) -> Option<&str> {
        match self {
            Self::Revoked { reason } => Some(reason),
            Self::Trusted { .. } | Self::Doubted { .. } => None,
        }
    }

    /// Returns why a server that starts at the time `now` would refuse the bundle.
    pub(crate) fn doubt(&self, now: u64) -> Option<&str> {
        match self {
            Self::Trusted { expiry } => {
                expiry.as_ref().filter(|(Time(end), _)| *end <= now).map(|(_, reason)| &**reason)
            }
            Self::Doubted { reason } | Self::Revoked { reason } => Some(reason),
        }
    }

    /// Returns when a key of the bundle expires.
    pub(crate) fn expires(&self) -> Option<Time> {
        match self {
            Self::Trusted { expiry } => expiry.as_ref().map(|(end, _)| *end),
            Self::Doubted { .. } | Self::Revoked { .. } => None,
        }
    }
}
