//! A record of the audit file, in the form for its own caller.
//!
//! Records are for the operator: they say whether a refused thing exists, and the line of its
//! declaration. Both are hidden from a caller, since the lines between two declarations say how
//! much is hidden there.

use relay_bundle::Corrupt;
use serde_json::{Map, Value};

use crate::caller::rejection::as_unknown;
use crate::record::verb;
use crate::trust::placed::Placed;

/// The word in place of a hidden name.
const UNKNOWN: &str = "unknown";

/// Returns the record in `line` as the caller of `placed` may read it; `None` for a broken record.
pub(super) fn shown(placed: &Placed, line: &str) -> Result<Option<String>, Corrupt> {
    let Ok(mut record) = serde_json::from_str::<Map<String, Value>>(line) else { return Ok(None) };
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (label, rule) = (text("tool"), text("rule"));
    let refused = record.get("denied") == Some(&Value::Bool(true));
    let as_unknown = as_unknown(&rule);
    let named = Named::of(&label);
    let is_hidden = refused && (as_unknown.is_some() || named.is_hidden(placed)?);
    if is_hidden {
        let Named { verb, kind, .. } = named;
        record.insert("tool".to_owned(), format!("{verb}{kind}:{UNKNOWN}").into());
        record.insert("tier".to_owned(), 0.into());
    }
    if is_hidden || named.name == UNKNOWN {
        // Declared arguments are recorded only for a hidden tool, so they would disclose it.
        record.insert("args".to_owned(), Map::new().into());
    }
    let rule = as_unknown.unwrap_or_else(|| placed.shown_place(&rule).to_owned());
    record.insert("rule".to_owned(), rule.into());
    // Its place in the chain says how many records others have, and follows from their contents.
    for place in ["seq", "prev", "chain"] {
        record.remove(place);
    }
    Ok(serde_json::to_string(&record).ok())
}

/// The thing that the label of a record names.
#[derive(Clone, Copy)]
struct Named<'l> {
    /// With its colon; empty for calls and reads.
    verb: &'l str,
    kind: &'static str,
    name: &'l str,
}

impl<'l> Named<'l> {
    fn of(label: &'l str) -> Self {
        let (verb, label) = verb::split(label);
        let kinds = ["prompt", "resource", "tool"].into_iter();
        let mut of_kind =
            kinds.filter_map(|kind| Some((kind, label.strip_prefix(kind)?.strip_prefix(':')?)));
        // The label of a tool is its name.
        let (kind, name) = of_kind.next().unwrap_or(("tool", label));
        Self { verb, kind, name }
    }

    /// Returns whether the thing is hidden from the caller now.
    fn is_hidden(&self, placed: &Placed) -> Result<bool, Corrupt> {
        let view = placed.view()?;
        Ok(match self.kind {
            "prompt" => view.hides_prompt(self.name),
            "resource" => view.hides_resource(self.name) || view.hides_template(self.name),
            _ => {
                let mut offered = placed.loaded.tools.iter();
                offered.any(|tool| tool.spec.name == self.name)
                    && !view.tools()?.any(|tool| tool.name == self.name)
            }
        })
    }
}
