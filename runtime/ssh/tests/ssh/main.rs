//! Connections, commands and terminals over a real socket, with a server in the test process.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do"
)]

mod exec;
mod files;
mod forward;
mod host_key;
mod login;
mod openssh;
mod pool;
mod server;
mod support;
mod terminal;
mod transfer;
