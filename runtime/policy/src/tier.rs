//! Tiers and floors, which are also part of bundles.

pub use relay_bundle::{Floor, Floors, Tier};
