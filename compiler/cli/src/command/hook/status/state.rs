//! The state of the hook on a machine, as `relay hook status` prints it.

use schemars::JsonSchema;
use serde::Serialize;

use super::records::LastRecord;

/// The output of `relay hook status --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct HookStatus {
    /// The version of this JSON format.
    pub(super) format_version: u32,
    /// The state of all installed clients together.
    pub(super) state: State,
    /// The machine file, and the bundle that it names.
    pub(super) machine: MachineStatus,
    /// The clients.
    pub(super) clients: Vec<ClientStatus>,
}

/// The state of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Relay is not installed.
    Absent,
    /// It is installed, and nothing is wrong.
    Well,
    /// Something is wrong.
    Faulty,
    /// A file could not be read.
    Unknown,
}

/// The machine file, and the bundle that it names.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct MachineStatus {
    /// The path of the machine file that counts.
    pub(super) path: String,
    /// Whether there is one.
    pub(super) exists: bool,
    /// Whether it is valid.
    pub(super) valid: bool,
    /// The principal.
    pub(super) principal: Option<String>,
    /// `delegate` or `grant`.
    pub(super) allow: Option<&'static str>,
    /// The audit file.
    pub(super) audit: Option<String>,
    /// The path of the bundle.
    pub(super) bundle: Option<String>,
    /// The project of the bundle.
    pub(super) project: Option<String>,
    /// The digest of the bundle.
    pub(super) digest: Option<String>,
    /// The epoch of the bundle.
    pub(super) epoch: Option<u64>,
    /// Whether the trust file accepts the bundle.
    pub(super) trusted: Option<bool>,
    /// The faults, in words.
    pub(super) faults: Vec<String>,
}

/// A client.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ClientStatus {
    /// Its name.
    pub(super) client: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// Its state.
    pub(super) state: State,
    /// The files in which relay is installed.
    pub(super) installed: Vec<Installed>,
    /// Its version, if it is in PATH and says it.
    pub(super) version: Option<String>,
    /// Whether relay's tests run the client itself.
    pub(super) is_tried: bool,
    /// The version or the text that relay's table of its tools is from.
    pub(super) known_from: &'static str,
    /// Whether the version is new enough; null if that is unknown.
    pub(super) is_new_enough: Option<bool>,
    /// Whether a person has trusted the hook; null if the client does not ask for it.
    pub(super) trusted: Option<bool>,
    /// The number of hooks of others that run before a tool, and may rewrite its input.
    pub(super) other_hooks: usize,
    /// Its last record in the audit file.
    pub(super) last_record: Option<LastRecord>,
    /// Tools in the audit file that are not in the table of its tools.
    pub(super) unknown_tools: Vec<String>,
    /// The calls that can run undecided all the same.
    pub(super) stays_open: &'static [&'static str],
    /// The faults, in words.
    pub(super) faults: Vec<String>,
}

/// A file in which relay is installed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Installed {
    /// `user`, `project` or `managed`.
    pub(super) scope: &'static str,
    /// The path.
    pub(super) path: String,
    /// Whether `relay hook install` would write it otherwise.
    pub(super) differs: bool,
}
