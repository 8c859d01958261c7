//! The settings of the gate.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;

/// The settings of the gate: how clients are briefed, and the treatment of calls before a briefing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The treatment of a gated call without a briefing.
    pub unlock: Setting<Unlock>,
    /// Whether clients with a session see only `begin_session` until they called it.
    pub hide_tools: Setting<bool>,
    /// How many tags the messages and the tool descriptions ask for.
    pub tags_ask: Setting<u32>,
    /// How many tags are accepted at most.
    pub tags_max: Setting<u32>,
    /// Bytes of bodies in one briefing; prompts of priority 10 are sent even if they exceed it.
    pub budget_bytes: Setting<u32>,
    /// The same, where a client without a session gets a briefing with each call; 0 if such calls
    /// are denied.
    pub repeat_bytes: Setting<u32>,
    /// Bytes of the index entries and names in one answer.
    pub remaining_bytes: Setting<u32>,
    /// Where the gate was declared.
    pub at: Place,
}

/// The treatment of a gated call without a briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unlock {
    /// It runs, and a briefing is put before its result.
    Intercept,
    /// It is denied, with a text that says how to get a briefing.
    Refuse,
}
