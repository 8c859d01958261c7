//! Tools that a client can call.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, List};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::table::{self, number, text};

/// A tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Tool {
    /// The tool as the bundle declares it.
    #[serde(flatten)]
    pub(crate) held: relay_bundle::Tool,
    /// The tool as clients see it.
    #[serde(flatten)]
    pub(crate) listed: Listed,
}

/// A tool as `tools/list` returns it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Listed {
    /// The title for people.
    pub(crate) title: Option<String>,
    /// The description for models.
    pub(crate) description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(rename(deserialize = "inputSchema"))]
    pub(crate) input_schema: Value,
    /// The annotations, in MCP's spelling.
    pub(crate) annotations: Option<Value>,
}

impl Tool {
    /// Reads the tools of a bundle, in the order of the list.
    pub(crate) fn all(bundle: &Bundle) -> Result<Vec<Self>, Corrupt> {
        let mut listed = listed(bundle)?;
        let tool = |held: &relay_bundle::Tool| Self {
            held: held.clone(),
            listed: listed.remove(&held.name).unwrap_or_default(),
        };
        Ok(bundle.tools().iter().map(tool).collect())
    }
}

fn listed(bundle: &Bundle) -> Result<BTreeMap<String, Listed>, Corrupt> {
    /// An entry of a page.
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        #[serde(flatten)]
        listed: Listed,
    }
    let mut all = BTreeMap::new();
    for index in 0..bundle.list(List::Tools).page_count() {
        let page = bundle.list(List::Tools).page(index)?;
        let wrong = |_| Corrupt::Record { section: List::Tools.section().name(), what: "JSON" };
        let entries: Vec<Entry> = serde_json::from_str(page.json).map_err(wrong)?;
        all.extend(entries.into_iter().map(|Entry { name, listed }| (name, listed)));
    }
    Ok(all)
}

/// Returns the tools as a table; `seen_by` names the readers of each, or is empty for all callers.
pub(crate) fn draw(tools: &[Tool], seen_by: &[String], width: usize) -> String {
    let rows = tools.iter().enumerate().map(|(index, Tool { held, listed })| {
        let gated = if held.gated { "yes" } else { "no" };
        let description = listed.description.clone().unwrap_or_default();
        let mut row = vec![held.name.clone(), held.tier.number().to_string(), gated.to_owned()];
        row.extend(seen_by.get(index).cloned());
        row.push(description);
        row
    });
    let mut columns = vec![text("tool"), number("tier"), text("gated")];
    columns.extend((!seen_by.is_empty()).then(|| text("seen by")));
    columns.push(text("description"));
    table::draw(&columns, rows.collect(), width)
}
