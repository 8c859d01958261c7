//! The state of the server, its records, and the rules of calls.

use relay_bundle::Tier;

use super::shared::TOOL;
use crate::tool::spec::{Bound, Group, Keep, Kind, Parameter, ToolSpec};

pub(super) const SERVER_INFO: ToolSpec = ToolSpec {
    name: "server_info",
    title: "Server info",
    description: "Returns the state of this server as JSON: bundle in force, gate, limits, audit, warnings. Call it when an answer is unexpected.",
    group: Group::Diagnostics,
    ..TOOL
};

pub(super) const AUDIT_TAIL: ToolSpec = ToolSpec {
    name: "audit_tail",
    title: "Audit tail",
    description: "Returns the newest audit records, one JSON object a line, oldest first. Call it to see which calls were served and which were denied.",
    group: Group::Diagnostics,
    parameters: &[
        Parameter {
            name: "lines",
            kind: Kind::Integer { default: Bound::Fixed(50), min: 1, max: Bound::Fixed(1000) },
            required: false,
            meaning: "How many of the newest records to search",
        },
        Parameter::optional_text("tool", "Only records of this tool; empty for all"),
        Parameter {
            name: "tier",
            kind: Kind::Integer {
                default: Bound::Fixed(-1),
                min: -1,
                max: Bound::Fixed(Tier::Irreversible as i64),
            },
            required: false,
            meaning: "Only records of this tier, -1 for all",
        },
        Parameter {
            name: "denied",
            kind: Kind::Boolean { default: None },
            required: false,
            meaning: "true: only denied calls; false: only calls that were not denied",
        },
    ],
    keep: Keep::End,
    ..TOOL
};

pub(super) const EXPLAIN_CONTEXT: ToolSpec = ToolSpec {
    name: "explain_context",
    title: "Explain context",
    description: "Returns the rules that a call of a tool is given, as JSON: the text, the skills that make it, and those that miss by one selector. Call it to see beforehand what a call brings, and why.",
    group: Group::Diagnostics,
    parameters: &[
        Parameter {
            name: "tenant",
            kind: Kind::Text { default: None },
            required: false,
            meaning: "The tenant; without it, yours. If you have one, no other is accepted",
        },
        Parameter {
            name: "tool",
            kind: Kind::Text { default: None },
            required: false,
            meaning: "The tool that would be called",
        },
        Parameter {
            name: "user",
            kind: Kind::Text { default: None },
            required: false,
            meaning: "The id of the user; without it, yours. If you have a tenant, users of others are not accepted",
        },
    ],
    ..TOOL
};
