//! The table of tools. Agents read these texts on every turn of every session, so they are short.

use relay_bundle::Tier;

use super::spec::{Gating, Group, Keep, Kind, Parameter, ToolSpec};

/// The placeholder in the meaning of a parameter for the number of keywords that the gate of the
/// project requests.
pub const TAGS_PLACEHOLDER: &str = "{tags}";

const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The argument of every tool except `begin_session` in a gated project.
pub const BRIEFING: Parameter = Parameter {
    name: crate::keywords::BRIEFING_ARGUMENT,
    kind: Kind::Text { default: None },
    required: false,
    meaning: "The most recent handle from begin_session or read_prompts",
};

/// All tools, in the order of `tools/list`.
pub const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "begin_session",
        title: "Begin session",
        description: "Returns prompts: rules of this project to follow, selected by keywords of your task. Call it first, and pass the `briefing` that it returns to later calls.",
        group: Group::Gate,
        tier: Tier::ReadOnly,
        gating: Gating::Begins,
        open_world: false,
        parameters: &[Parameter {
            name: "tags",
            kind: Kind::Tags,
            required: true,
            meaning: "{tags} for your task: systems, files, actions",
        }],
        run_s_max: 30,
        output_bytes_max: None,
        keep: Keep::Start,
    },
    ToolSpec {
        name: "read_prompts",
        title: "Read prompts",
        description: "Returns more prompts that match your keywords, without those you already have. Call it when your task moves to a new topic.",
        group: Group::Gate,
        tier: Tier::ReadOnly,
        gating: Gating::Continues,
        open_world: false,
        parameters: &[Parameter {
            name: "tags",
            kind: Kind::Tags,
            required: true,
            meaning: "Keywords for what you need to know",
        }],
        run_s_max: 30,
        output_bytes_max: None,
        keep: Keep::Start,
    },
    ToolSpec {
        name: "server_info",
        title: "Server info",
        description: "Returns the state of this server as JSON: bundle in force, gate, limits, audit, warnings. Call it when an answer is unexpected.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[],
        run_s_max: 30,
        output_bytes_max: Some(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "audit_tail",
        title: "Audit tail",
        description: "Returns the newest audit records, one JSON object a line, oldest first. Call it to see which calls were served and which were denied.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[
            Parameter {
                name: "lines",
                kind: Kind::Integer { default: 50, min: 1, max: 1000 },
                required: false,
                meaning: "How many of the newest records to search",
            },
            Parameter {
                name: "tool",
                kind: Kind::Text { default: Some("") },
                required: false,
                meaning: "Only records of this tool; empty for all",
            },
            Parameter {
                name: "tier",
                kind: Kind::Integer { default: -1, min: -1, max: Tier::Irreversible as i64 },
                required: false,
                meaning: "Only records of this tier, -1 for all",
            },
            Parameter {
                name: "denied",
                kind: Kind::Boolean,
                required: false,
                meaning: "true: only denied calls; false: only calls that were not denied",
            },
        ],
        run_s_max: 30,
        output_bytes_max: Some(OUTPUT_BYTES_MAX),
        keep: Keep::End,
    },
    ToolSpec {
        name: "explain_context",
        title: "Explain context",
        description: "Returns the rules that a call of a tool is given, as JSON: the text, the skills that make it, and those that miss by one selector. Call it to see beforehand what a call brings, and why.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
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
        run_s_max: 30,
        output_bytes_max: Some(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
];

/// Returns the tool with a name, if relay has one.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|spec| spec.name == name)
}
