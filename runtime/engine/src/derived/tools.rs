//! Tools -> their entries in `tools/list`. The table has their texts; only the numbers of the gate
//! and the limits are filled in here. The tools that name them are offered only with a gate.

use relay_bundle::Gate;
use serde_json::{Map, Value, json};

use crate::select::TAG_CHARS_MAX;
use crate::tool::{
    BRIEFING, Bound, Gating, Kind, Limit, Limits, Parameter, TAGS_PLACEHOLDER, ToolSpec,
};

/// Returns whether a briefing must precede calls of a tool.
#[must_use]
pub fn is_gated(spec: &ToolSpec, gate: Option<&Gate>) -> bool {
    gate.is_some() && spec.gating == Gating::Gated
}

/// Returns the entry of a tool in `tools/list`.
#[must_use]
pub fn listed(spec: &ToolSpec, gate: Option<&Gate>, limits: &Limits) -> Value {
    let briefing = gate.filter(|_| spec.takes_briefing()).map(|_| &BRIEFING);
    let parameters = || spec.parameters.iter().chain(briefing);
    let properties: Map<String, Value> =
        parameters().map(|each| (each.name.to_owned(), property(each, gate, limits))).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required: Vec<_> =
        parameters().filter(|each| each.required).map(|each| each.name).collect();
    // Older drafts of JSON Schema, which some clients read, require a non-empty list here.
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

/// Returns the schema of an argument. A range is only described: the server clamps a number outside
/// of it, and a client that checks the schema would reject it.
fn property(parameter: &Parameter, gate: Option<&Gate>, limits: &Limits) -> Value {
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
            let (default, max) = (limits.number(default), limits.number(max));
            let description = described(format!(" ({min} to {max})"));
            json!({ "type": "integer", "default": default.min(max), "description": description })
        }
        Kind::Timeout { default } => {
            let max = limits.number(Bound::Limit(Limit::MaxTimeout));
            let description = described(format!(" (1 to {max})"));
            let default = limits.number(default).min(max);
            json!({ "type": "integer", "default": default, "description": description })
        }
        Kind::Decimal { default_ms, max_ms } => {
            let description = described(format!(" (0 to {})", seconds(max_ms)));
            json!({ "type": "number", "default": seconds(default_ms), "description": description })
        }
        Kind::Boolean { default: Some(default) } => {
            json!({ "type": "boolean", "default": default, "description": description })
        }
        Kind::Boolean { default: None } => {
            json!({ "type": "boolean", "description": description })
        }
        Kind::Tags => json!({
            "type": "array",
            "items": { "type": "string", "maxLength": TAG_CHARS_MAX },
            "maxItems": gate.map_or(0, |gate| gate.tags_max.value),
            "description": description,
        }),
    }
}

fn seconds(milliseconds: u32) -> f64 {
    f64::from(milliseconds) / 1000.0
}

fn asked(gate: Option<&Gate>) -> String {
    match gate.map_or(0, |gate| gate.tags_ask.value) {
        1 => "1 keyword".to_owned(),
        number => format!("{number} keywords"),
    }
}
