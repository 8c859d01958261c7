//! The settings of the tools that start processes.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;

/// The settings of the tools that start processes; a bundle that offers none of them has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    /// The limits of the policy, or their defaults.
    pub limits: ToolLimits,
    /// The folders and variables of processes.
    pub shell: ShellSettings,
    /// The ends of sessions; absent if no sessions are offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionSettings>,
    /// The limits of tools about other hosts; absent if none are offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteLimits>,
}

/// The numbers that limit calls about other hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoteLimits {
    /// The most forwards of all callers.
    pub forwards_max: Setting<u32>,
    /// How many hosts a command for many runs on at once, if its call names no number.
    pub fanout: Setting<u32>,
    /// The most hosts of one call.
    pub fanout_hosts_max: Setting<u32>,
}

/// The numbers that limit calls. A server may lower them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolLimits {
    /// The time limit of a call that names none, in seconds.
    pub timeout_s: Setting<u32>,
    /// The longest time limit that a call may name, in seconds.
    pub timeout_s_max: Setting<u32>,
    /// The most bytes of output for a call that names no number.
    pub output_bytes: Setting<u32>,
    /// The most bytes of output that a call may name.
    pub output_bytes_max: Setting<u32>,
    /// The most bytes of text in the arguments of a call.
    pub input_bytes_max: Setting<u32>,
    /// The most sessions of all callers.
    pub sessions_max: Setting<u32>,
}

/// Where processes run, and with which variables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShellSettings {
    /// The folders that processes may begin in, or below; the first one is the default. Absent for
    /// any folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<Vec<Setting<String>>>,
    /// The names of the server's variables that processes get, each perhaps a beginning and `*`.
    /// Absent for all except those that change which code runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Vec<Setting<String>>>,
    /// Where the project offers it; absent if it offers only sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

/// When sessions end by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionSettings {
    /// The seconds without a call about it.
    pub idle_s: Setting<u32>,
    /// The seconds since its start.
    pub lifetime_s: Setting<u32>,
}
