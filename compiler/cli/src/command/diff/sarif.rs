//! The comparison as SARIF, for code scanning: one result a finding, at the line of B.

use std::collections::BTreeMap;

use relay_diff::{Area, Kind};
use serde_json::{Value, json};

use crate::answer::size::counted;
use crate::command::diff::comparison::{Compared, Comparison, Found, Spot};
use crate::command::diff::words;
use crate::failure::Failure;
use crate::sarif::{HOME, Log, location, message, with};
use crate::text::{on_one_line, printable, shortened};

/// The results that are listed.
const RESULTS_MAX: usize = 1_000;
/// Characters of a result's message.
const MESSAGE_CHARS_MAX: usize = 2_000;
/// What sets these results apart from those of `relay check`.
const CATEGORY: &str = "relay-diff";

/// Returns the comparison as one SARIF log with one run, the gravest findings first.
pub(crate) fn draw(comparison: &Comparison) -> Result<String, Failure> {
    let mut all = comparison.gravest_first();
    let left_out = all.len().saturating_sub(RESULTS_MAX);
    all.truncate(RESULTS_MAX);
    // A rule for each area and kind of thing, sorted; results point into this list.
    let rules: BTreeMap<String, (Area, Kind)> = all
        .iter()
        .map(|(_, found)| (found.finding.area, found.finding.subject.kind))
        .map(|(area, kind)| (rule_id(area, kind), (area, kind)))
        .collect();
    let index = |id: &str| rules.keys().position(|known| known == id);
    let results = all.iter().map(|(project, found)| result(project, found, &index)).collect();
    let mut notes = comparison.notes.clone();
    for project in &comparison.projects {
        notes.extend(project.notes.iter().cloned());
        notes.extend(words::not_shown(project.not_shown));
    }
    if comparison.same_meaning {
        notes.push(words::NO_DIFFERENCE.into());
    }
    if left_out > 0 {
        notes.push(format!("{} not listed", counted(left_out, "more finding")));
    }
    let rules = rules.iter().map(|(id, (area, kind))| rule(id, *area, *kind)).collect();
    Log { rules, results, notes, category: Some(CATEGORY) }.draw()
}

fn rule_id(area: Area, kind: Kind) -> String {
    format!("diff/{}/{}", words::area(area).to_lowercase(), words::kind(kind))
}

fn rule(id: &str, area: Area, kind: Kind) -> Value {
    let why = match area {
        Area::Authority => "What agents may do changes.",
        Area::Contexts => "What agents read changes.",
        Area::Surface => "What clients see changes.",
    };
    json!({
        "id": id,
        "shortDescription": { "text": format!("{}: {}", words::area(area), words::kind(kind)) },
        "fullDescription": { "text": why },
        "helpUri": HOME,
    })
}

fn result(project: &Compared, found: &Found, index: &dyn Fn(&str) -> Option<usize>) -> Value {
    let finding = &found.finding;
    let id = rule_id(finding.area, finding.subject.kind);
    let Spot { file, line } = project.spot(found);
    let title = on_one_line(&words::title(&finding.subject, &finding.part));
    let text = format!("{title}\n{}", words::summary(found, project));
    let text = shortened(&text, MESSAGE_CHARS_MAX);
    let result = json!({
        "ruleId": id,
        "level": found.level().in_sarif(),
        "message": message(&text),
        "locations": [location(&file, json!({ "startLine": line }))],
        // GitHub reads the first alone, and without it takes all that is on one line for the same.
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:1", found.fingerprint),
            "relayDiff/v1": found.fingerprint,
        },
        "properties": {
            "id": printable(&found.id),
            "project": printable(project.project()),
            "direction": finding.direction,
            "breaking": finding.breaking,
            "environments": found.environments,
        },
    });
    let suppressions = found.accepted.as_ref().map(|accepted| {
        json!([{ "kind": "external", "status": "accepted", "justification": printable(&accepted.reason) }])
    });
    let result = with(result, "suppressions", suppressions);
    with(result, "ruleIndex", index(&id).map(|index| json!(index)))
}
