//! MCP: requests and answers, over stdio and HTTP, in the modern and the legacy protocol.
//!
//! Only the modules in here name rmcp. They decide nothing: the content of answers comes from
//! `relay-engine`, and lists were written into the bundle when it was built.

mod agent_skills;
mod bad_params;
mod body;
mod caller;
mod completion;
#[cfg(feature = "conformance-tools")]
mod conformance_tools;
mod convert;
mod direct;
mod edge;
mod endpoint;
mod entry;
mod handler;
#[cfg(feature = "ssh")]
mod hosts;
mod lane;
mod lists;
mod person;
mod progress;
mod prompts;
mod reached;
mod rejection;
mod resources;
mod service;
mod sessions;
mod stdio;
mod subscriptions;
mod surface;
mod tools;

use rmcp::model::ProtocolVersion;

pub(crate) use endpoint::{Endpoint, Open};
pub(crate) use resources::found_subject as resource_label;
pub(crate) use service::Service;
pub(crate) use stdio::serve_stdio;

/// Returns the oldest and the newest served version of MCP.
pub(crate) fn protocols() -> [&'static str; 2] {
    [ProtocolVersion::V_2024_11_05.as_str(), ProtocolVersion::V_2026_07_28.as_str()]
}

/// The log target of two kinds of rmcp reports that an operator rarely needs: a warning for each
/// rejected request, and an error for each client that disconnected while it listened.
pub(crate) const CHATTY_TARGET: &str = "rmcp::service";
