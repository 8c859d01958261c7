//! Bundles, good and bad: what is written is read back, and what was altered is refused.

mod compile;
mod complete;
mod damage;
mod entry;
mod fill;
mod find;
pub(crate) mod meaning;
mod mutation;
mod places;
pub(crate) mod random;
pub(crate) mod raw;
mod round_trip;
pub(crate) mod sample;
mod signature;
mod structure;
mod tag_index;
mod tags;
mod time;
mod trust;
mod uri;
