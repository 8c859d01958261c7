//! The comparison as SARIF, for code scanning: one result a finding, at the line of B.

use std::collections::BTreeMap;

use relay_diff::Area;
use serde_json::{Value, json};

use crate::answer::size::counted;
use crate::command::diff::comparison::Spot;
use crate::command::diff::outline::{Outline, Row};
use crate::command::diff::words;
use crate::failure::Failure;
use crate::sarif::{HOME, Log, location, message, with};
use crate::text::{printable, shortened};

/// The most listed results.
const RESULTS_MAX: usize = 1_000;
/// Characters of a result's message.
const MESSAGE_CHARS_MAX: usize = 2_000;
/// The category that keeps these results apart from those of `relay check`.
const CATEGORY: &str = "relay-diff";

/// Returns the comparison as one SARIF log with one run, the gravest findings first.
pub(crate) fn draw(outline: &Outline<'_>) -> Result<String, Failure> {
    let mut all = outline.gravest_first();
    let left_out = all.len().saturating_sub(RESULTS_MAX);
    all.truncate(RESULTS_MAX);
    // A rule for each area and kind of thing, sorted; results point into this list.
    let rules: BTreeMap<String, (Area, &str)> =
        all.iter().map(|row| (rule_id(row), (row.area, row.kind))).collect();
    let index = |id: &str| rules.keys().position(|known| known == id);
    let results = all.iter().map(|row| result(row, &index)).collect();
    let mut notes = outline.all_notes();
    if left_out > 0 {
        notes.push(format!("{} not listed", counted(left_out, "more finding")));
    }
    let rules = rules.iter().map(|(id, (area, kind))| rule(id, *area, kind)).collect();
    Log { rules, results, notes, category: Some(CATEGORY) }.draw()
}

fn rule_id(row: &Row<'_>) -> String {
    format!("diff/{}/{}", words::area(row.area).to_lowercase(), row.kind)
}

fn rule(id: &str, area: Area, kind: &str) -> Value {
    let why = match area {
        Area::Authority => "What agents may do changes.",
        Area::Contexts => "What agents read changes.",
        Area::Surface => "What clients see changes.",
    };
    json!({
        "id": id,
        "shortDescription": { "text": format!("{}: {kind}", words::area(area)) },
        "fullDescription": { "text": why },
        "helpUri": HOME,
    })
}

fn result(row: &Row<'_>, index: &dyn Fn(&str) -> Option<usize>) -> Value {
    let id = rule_id(row);
    let Spot { file, line } = &row.spot;
    let text = format!("{}\n{}", printable(&row.title()), row.summary());
    let text = shortened(&text, MESSAGE_CHARS_MAX);
    let result = json!({
        "ruleId": id,
        "level": row.level.in_sarif(),
        "message": message(&text),
        "locations": [location(file, json!({ "startLine": line }))],
        // GitHub reads only the first, and if it is missing treats all results on one line as the
        // same.
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:1", row.fingerprint),
            "relayDiff/v1": row.fingerprint,
        },
        "properties": {
            "id": printable(row.id),
            "project": printable(row.project),
            "direction": row.direction,
            "proved": row.proved,
            "breaking": row.breaking,
            "environments": row.environments,
        },
    });
    let suppressions = row.accepted.map(|reason| {
        json!([{ "kind": "external", "status": "accepted", "justification": printable(reason) }])
    });
    let result = with(result, "suppressions", suppressions);
    with(result, "ruleIndex", index(&id).map(|index| json!(index)))
}
