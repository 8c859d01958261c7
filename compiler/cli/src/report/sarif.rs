//! The report as SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use relay_bundle::Digest;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::report::json::{Finding, Findings, Range, Replacement};
use crate::report::rule::Rule;
use crate::sarif::{self, HOME, Log, message, with};

/// Returns the report as one SARIF log with one run.
pub(crate) fn draw(findings: &Findings) -> Result<String, Failure> {
    // A rule for each code, sorted; results point into this list.
    let mut rules: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in &findings.diagnostics {
        rules.entry(&finding.code).or_insert(finding);
    }
    let index = |code: &str| rules.keys().position(|known| *known == code);
    let known = Rule::all();
    let documented = |code: &str| known.iter().find(|rule| rule.code == code);
    let mut fingerprints = Fingerprints::default();
    let results: Vec<Value> = findings
        .diagnostics
        .iter()
        .map(|finding| result(finding, index(&finding.code), fingerprints.next(finding)))
        .collect();
    let notes = match findings.omitted {
        0 => Vec::new(),
        omitted => vec![format!("{omitted} more findings are not listed")],
    };
    let rules = rules.iter().map(|(code, finding)| rule(finding, documented(code))).collect();
    Log { rules, results, notes, category: None }.draw()
}

fn rule(finding: &Finding, documented: Option<&Rule>) -> Value {
    let code = &finding.code;
    // Readable form of a code: `skill::priority_tie` becomes "skill: priority tie".
    let words = code.replace("::", ": ").replace('_', " ");
    let rule = json!({
        "id": code,
        "shortDescription": { "text": words },
        "defaultConfiguration": { "level": finding.severity.level().in_sarif() },
    });
    let rule = with(rule, "help", finding.help.as_deref().map(message));
    let why = documented.map(|documented| json!({ "text": documented.why.join("\n\n") }));
    let rule = with(rule, "fullDescription", why);
    // In the anchor of a heading, `_` is the only punctuation.
    let address =
        |_| json!(format!("{HOME}/blob/main/docs/diagnostics.md#{}", code.replace(':', "")));
    with(rule, "helpUri", documented.map(address))
}

fn result(finding: &Finding, rule_index: Option<usize>, fingerprint: String) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.placed_message()),
        None => finding.placed_message(),
    };
    let others: Vec<Value> = finding
        .labels
        .iter()
        .filter(|label| !label.primary)
        .zip(1u32..)
        .map(|(label, id)| {
            let message = label.message.as_ref().map(|text| message(text));
            with(with(location(&label.place), "id", Some(json!(id))), "message", message)
        })
        .collect();
    let result = json!({
        "ruleId": finding.code,
        "level": finding.severity.level().in_sarif(),
        "message": message(&text),
        "locations": [location(&finding.place)],
        "partialFingerprints": { "relayFinding/v1": fingerprint },
    });
    let result = with(result, "ruleIndex", rule_index.map(|index| json!(index)));
    let environments =
        (!finding.environments.is_empty()).then(|| json!({ "environments": finding.environments }));
    let result = with(result, "properties", environments);
    let result = with(result, "fixes", fix(finding).map(|fix| json!([fix])));
    with(result, "relatedLocations", (!others.is_empty()).then_some(Value::Array(others)))
}

/// Returns the correction of a finding, with one change for each file.
fn fix(finding: &Finding) -> Option<Value> {
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for Replacement { place, text } in &finding.edits {
        let replacement =
            json!({ "deletedRegion": region(place), "insertedContent": { "text": text } });
        files.entry(&place.file).or_default().push(replacement);
    }
    let change = |(file, replacements)| json!({ "artifactLocation": sarif::artifact(file), "replacements": replacements });
    let changes: Vec<Value> = files.into_iter().map(change).collect();
    (!changes.is_empty()).then(|| json!({ "artifactChanges": changes }))
}

fn location(place: &Range) -> Value {
    sarif::location(&place.file, region(place))
}

fn region(place: &Range) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    })
}

/// Fingerprints of findings, which stay the same when other lines are added or removed.
#[derive(Default)]
struct Fingerprints {
    seen: BTreeMap<Digest, u32>,
}

impl Fingerprints {
    fn next(&mut self, finding: &Finding) -> String {
        let parts = [&finding.code, &finding.place.file, &finding.line_text];
        let digest = Digest::of(parts.map(String::as_str).join("\0").as_bytes());
        let times = self.seen.entry(digest).or_default();
        *times += 1;
        format!("{}:{times}", digest.hex())
    }
}
