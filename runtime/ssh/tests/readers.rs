//! The readers of known_hosts, ssh_config and the inventory.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test ends by panicking, and asks the programs of OpenSSH"
)]

#[path = "readers/config.rs"]
mod config;
#[path = "readers/config_oracle.rs"]
mod config_oracle;
#[path = "readers/entry.rs"]
mod entry;
#[path = "readers/inventory.rs"]
mod inventory;
#[path = "readers/known_hosts.rs"]
mod known_hosts;
#[path = "readers/program.rs"]
mod program;
