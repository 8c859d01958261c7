//! Tiers and floors, which bundles hold too.

pub use relay_bundle::{Floor, Floors, Tier};
