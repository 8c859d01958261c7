//! Connections of a relay server to other hosts over SSH.
//!
//! The crate connects, runs and transfers; it decides nothing. Its callers have asked the policy about a
//! host and a text before they come here.

#![forbid(unsafe_code)]

mod channel;
mod connection;
mod exec;
mod forward;
mod host_key;
mod limits;
mod pool;
mod route;
mod terminal;
mod transfer;

pub use connection::{ConnectError, ConnectFailure, FoundKey, ScannedKey, keyscan};
pub use exec::{Command, End, Fate, Finished};
pub use forward::{Allow, Forward, ForwardError, ForwardRequest, Target};
pub use host_key::{HostKeyMode, HostKeyVerdict, HostKeys, fingerprint};
pub use limits::Limits;
pub use pool::{Pool, Probe};
pub use route::{HOPS_MAX, Hop, IDENTITIES_MAX, Identity, Route, RouteKey};
pub use terminal::{Chunk, TERMINAL_BYTES_MAX, Terminal, TerminalError, TerminalRequest};
pub use transfer::{TransferError, TransferOptions, Transferred};
