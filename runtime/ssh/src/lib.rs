//! Connections of a relay server to other hosts over SSH.
//!
//! The crate connects, runs and transfers; it decides nothing. Its callers have asked the policy about a
//! host and a text before they come here.

pub mod config;
mod host_name;
pub mod inventory;
pub mod known_hosts;
mod name_pattern;
mod place;
mod text_file;
mod user_name;

pub use self::place::Place;
