//! The tools and what clients see of them. Each word here is read on every turn of every session,
//! so there are few.

use relay_bundle::{Page, Place, Tool};
use relay_engine::tool::Tool as Own;
use serde_json::{Map, Value, json};

use super::pages;
use crate::ast::ToolGroup;
use crate::model::{Gate, Model};
use crate::source::Span;

/// A tag is a word or a few.
const TAG_CHARS_MAX: u32 = 200;

/// Returns the tools that a project offers, and the pages of their list.
pub(super) fn tools(model: &Model, place: &dyn Fn(Span) -> Place) -> (Vec<Tool>, Vec<Page>) {
    let offered: Vec<(Own, Span)> = Own::ALL
        .into_iter()
        .filter_map(|tool| offered_at(tool, model).map(|at| (tool, at)))
        .collect();
    let tools = offered.iter().map(|(tool, at)| Tool {
        name: tool.name().into(),
        gated: model.gate.on.value && tool.is_gated(),
        tier: tool.tier(),
        at: place(*at),
    });
    let listed = offered.iter().map(|(tool, _)| listed(*tool, &model.gate));
    (tools.collect(), pages::pages(listed))
}

/// Returns the node that offers a tool; `None` if none does.
fn offered_at(tool: Own, model: &Model) -> Option<Span> {
    let group = |group| model.tools.iter().find(|each| each.value == group).map(|each| each.at);
    match tool {
        Own::BeginSession | Own::ReadPrompts if model.gate.on.value => model.gate.at,
        Own::BeginSession | Own::ReadPrompts => None,
        Own::ServerInfo | Own::AuditTail => group(ToolGroup::Diagnostics),
    }
}

/// Returns a tool as `tools/list` shows it.
fn listed(tool: Own, gate: &Gate) -> Value {
    let (title, description) = words(tool);
    let (mut properties, required) = arguments(tool, gate);
    if gate.on.value && tool != Own::BeginSession {
        properties.insert("briefing".into(), briefing());
    }
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    // Older drafts of JSON Schema, which some clients read, know no empty list here.
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".into(), json!(required));
    }
    json!({
        "name": tool.name(),
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": {
            "title": title,
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

fn words(tool: Own) -> (&'static str, &'static str) {
    match tool {
        Own::BeginSession => (
            "Begin session",
            "Call first: gives the project's prompts for your task, names the others, and returns a briefing handle.",
        ),
        Own::ReadPrompts => (
            "Read prompts",
            "Gives more of the project's prompts by keyword, at any time, without those that you had.",
        ),
        Own::ServerInfo => {
            ("Server info", "Tells what this server is, and which bundle is in force.")
        }
        Own::AuditTail => ("Audit tail", "Shows the last audit records of this server."),
    }
}

/// Returns the properties of a tool's arguments, and which of them are required.
fn arguments(tool: Own, gate: &Gate) -> (Map<String, Value>, Vec<&'static str>) {
    let mut properties = Map::new();
    let mut add = |name: &str, schema: Value| drop(properties.insert(name.into(), schema));
    let required = match tool {
        Own::BeginSession => {
            let asked = match gate.tags_ask.value {
                1 => "1 keyword".to_owned(),
                number => format!("{number} keywords"),
            };
            add("tags", tags(&format!("{asked} for your task: systems, files, actions."), gate));
            vec!["tags"]
        }
        Own::ReadPrompts => {
            add("tags", tags("Keywords for what you need to know.", gate));
            vec!["tags"]
        }
        Own::ServerInfo => Vec::new(),
        Own::AuditTail => {
            let lines = "How many of the last records to look at; 1 to 1000, others are clamped.";
            add("lines", json!({ "type": "integer", "default": 50, "description": lines }));
            let tool = "Only records of this tool; empty: of all.";
            add("tool", json!({ "type": "string", "default": "", "description": tool }));
            let tier = "Only records of this tier; -1: of all.";
            add("tier", json!({ "type": "integer", "default": -1, "description": tier }));
            let denied = "true: only what was refused; false: only what was served.";
            add("denied", json!({ "type": "boolean", "description": denied }));
            Vec::new()
        }
    };
    (properties, required)
}

fn tags(description: &str, gate: &Gate) -> Value {
    json!({
        "type": "array",
        "items": { "type": "string", "maxLength": TAG_CHARS_MAX },
        "maxItems": gate.tags_max.value,
        "description": description,
    })
}

fn briefing() -> Value {
    json!({
        "type": "string",
        "description": "The handle that begin_session or read_prompts returned last; optional.",
    })
}
