//! Connections of a relay server to other hosts over SSH.
//!
//! The crate connects, runs and transfers; it decides nothing. Its callers have asked the policy about a
//! host and a text before they come here. Its public items are plain data: no type of an SSH library
//! appears in them.
//!
//! A [`Pool`] is the entrance. It takes a [`Route`] and runs a [`Command`], opens a [`Terminal`] or a
//! [`Forward`], copies files, or only logs in. Four rules hold for all of them:
//!
//! * A command is sent at most once. What became of it is an [`End`]: a lost connection is an unknown
//!   outcome, and a command that the host does not signal may still run.
//! * A host proves itself by a key or a certificate that [`HostKeys`] trusts. Jump hosts do the same,
//!   each with its own keys. Nothing is sent to a host before that.
//! * A private key with a passphrase, and every key on a token, stays in an agent. Agents and passwords
//!   are never sent to a host.
//! * Every wait, buffer and list has a limit. A connect that is given up frees its socket, and a channel
//!   that is dropped is closed.

#![forbid(unsafe_code)]

mod channel;
pub mod config;
mod connection;
mod exec;
mod forward;
mod host_key;
mod host_name;
pub mod inventory;
pub mod known_hosts;
mod limits;
mod name_pattern;
mod place;
mod pool;
mod route;
mod terminal;
mod text_file;
mod transfer;
pub mod user_name;

pub use connection::{ConnectError, ConnectFailure, FoundKey, ScannedKey, keyscan};
pub use exec::{Command, End, Fate, Finished};
pub use forward::{Allow, Forward, ForwardError, ForwardRequest, Target};
pub use host_key::{HostKeyMode, HostKeyVerdict, HostKeys, fingerprint};
pub use limits::Limits;
pub use place::Place;
pub use pool::{Pool, Probe};
pub use route::{HOPS_MAX, Hop, IDENTITIES_MAX, Identity, Route, RouteKey};
pub use terminal::{Chunk, TERMINAL_BYTES_MAX, Terminal, TerminalError, TerminalRequest};
pub use transfer::{TransferError, TransferOptions, Transferred};
