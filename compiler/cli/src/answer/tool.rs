//! Tools that a client can call.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, Kind, ToolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::table::{self, number, text};

/// A tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Tool {
    /// The name that `tools/call` takes.
    pub(crate) name: String,
    /// The title for people.
    pub(crate) title: Option<String>,
    /// 0 (reads) to 3 (cannot be undone).
    pub(crate) tier: u8,
    /// Whether a briefing must precede it; never without a gate.
    pub(crate) gated: bool,
    /// What it does, as clients are told.
    pub(crate) description: Option<String>,
    /// The JSON Schema of its arguments, as clients are told.
    pub(crate) input_schema: Value,
    /// What clients may show of its manners, in MCP's spelling.
    pub(crate) annotations: Option<Value>,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

/// What `tools/list` tells of a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Listed {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: Value,
    annotations: Option<Value>,
}

impl Tool {
    /// Reads the tools of a bundle, in the order of the list.
    pub(crate) fn all(bundle: &Bundle) -> Result<Vec<Self>, Corrupt> {
        let has_gate = bundle.gate()?.is_some();
        let mut listed = listed(bundle)?;
        let read = |tool: Result<ToolView<'_>, Corrupt>| {
            let ToolView { name, gated, tier, place } = tool?;
            let Listed { name: _, title, description, input_schema, annotations } =
                listed.remove(name).unwrap_or_default();
            Ok(Self {
                name: name.into(),
                title,
                tier,
                gated: gated && has_gate,
                description,
                input_schema,
                annotations,
                at: place.to_string(),
            })
        };
        bundle.tools().map(read).collect()
    }
}

fn listed(bundle: &Bundle) -> Result<BTreeMap<String, Listed>, Corrupt> {
    let mut all = BTreeMap::new();
    for index in 0..bundle.page_count(Kind::ToolPages) {
        let page = bundle.page(Kind::ToolPages, index)?;
        let wrong = |_| Corrupt::Record { section: Kind::ToolPages.name(), what: "JSON" };
        let tools: Vec<Listed> = serde_json::from_str(page.json).map_err(wrong)?;
        all.extend(tools.into_iter().map(|tool| (tool.name.clone(), tool)));
    }
    Ok(all)
}

/// Returns the tools as a table.
pub(crate) fn draw(tools: &[Tool], width: usize) -> String {
    let rows = tools.iter().map(|tool| {
        let gated = if tool.gated { "yes" } else { "no" };
        let description = tool.description.clone().unwrap_or_default();
        vec![tool.name.clone(), tool.tier.to_string(), gated.to_owned(), description]
    });
    let columns = [text("tool"), number("tier"), text("gated"), text("description")];
    table::draw(&columns, rows.collect(), width)
}
