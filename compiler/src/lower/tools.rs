//! The tools that a project offers, and what clients see of them. What there is to say of a tool is
//! in the table of `relay-engine`; only the numbers of the gate are filled in here.

use relay_bundle::{Page, Place, Tool};
use relay_engine::select::TAG_CHARS_MAX;
use relay_engine::tool::{BRIEFING, Gating, Kind, Parameter, TAGS_PLACEHOLDER, ToolSpec};
use serde_json::{Map, Value, json};

use super::pages;
use crate::model::{Gate, Model};
use crate::source::Span;

/// Returns the tools that a project offers, and the pages of their list.
pub(super) fn tools(model: &Model, place: &dyn Fn(Span) -> Place) -> (Vec<Tool>, Vec<Page>) {
    let gate = &model.gate;
    let offered = model.offered_tools();
    let tools = offered.iter().map(|(spec, at)| Tool {
        name: spec.name.into(),
        gated: gate.on.value && spec.gating == Gating::Gated,
        tier: spec.tier,
        at: place(*at),
    });
    (tools.collect(), pages::pages(offered.iter().map(|(spec, _)| listed(spec, gate))))
}

/// Returns a tool as `tools/list` shows it.
fn listed(spec: &ToolSpec, gate: &Gate) -> Value {
    let briefing = (gate.on.value && spec.takes_briefing()).then_some(&BRIEFING);
    let parameters = || spec.parameters.iter().chain(briefing);
    let properties: Map<String, Value> =
        parameters().map(|each| (each.name.to_owned(), property(each, gate))).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required: Vec<_> =
        parameters().filter(|each| each.required).map(|each| each.name).collect();
    // Older drafts of JSON Schema, which some clients read, know no empty list here.
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".into(), json!(required));
    }
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": schema,
        "annotations": {
            "title": spec.title,
            "readOnlyHint": spec.is_read_only(),
            "destructiveHint": spec.is_destructive(),
            "idempotentHint": spec.is_read_only(),
            "openWorldHint": spec.open_world,
        },
    })
}

/// Returns the schema of an argument. A range is words alone: a number out of it is clamped, and a
/// client that checks the schema would refuse it.
fn property(parameter: &Parameter, gate: &Gate) -> Value {
    let Parameter { kind, meaning, .. } = parameter;
    let described =
        |range: String| format!("{}{range}.", meaning.replace(TAGS_PLACEHOLDER, &asked(gate)));
    let description = described(String::new());
    match *kind {
        Kind::Text { default: Some(default) } => {
            json!({ "type": "string", "default": default, "description": description })
        }
        Kind::Text { default: None } => json!({ "type": "string", "description": description }),
        Kind::Integer { default, min, max } => {
            let description = described(format!(" ({min} to {max})"));
            json!({ "type": "integer", "default": default, "description": description })
        }
        Kind::Boolean => json!({ "type": "boolean", "description": description }),
        Kind::Tags => json!({
            "type": "array",
            "items": { "type": "string", "maxLength": TAG_CHARS_MAX },
            "maxItems": gate.tags_max.value,
            "description": description,
        }),
    }
}

fn asked(gate: &Gate) -> String {
    match gate.tags_ask.value {
        1 => "1 keyword".to_owned(),
        number => format!("{number} keywords"),
    }
}
