//! Static rules as the file of a client, with the line of each rule, and the report.

use relay_bundle::Bundle;

use super::decider::Decider;
use super::entry::{Entry, Form};
use super::from_policy::{self, Asked, StaticRule};
use super::model::{Answer, At};
use super::report::{Match, RuleRow};
use super::{claude_code, codex, cursor, gemini, vscode};
use crate::args::Client;
use crate::caller::Asker;
use crate::failure::Failure;

/// For whom a policy is exported.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    /// The caller.
    pub(crate) asker: &'a Asker<'a>,
    /// The name of its tenant.
    pub(crate) tenant: Option<&'a str>,
    /// Whether rules that restrict more than the policy are exported.
    pub(crate) is_strict: bool,
}

/// A file and its report.
pub(crate) struct Exported {
    /// The text of the file.
    pub(crate) text: String,
    /// The report.
    pub(crate) rows: Vec<RuleRow>,
    /// Whether any rule is in the file.
    pub(crate) has_rules: bool,
}

/// Returns the form of a client's file; `None` if its rules are not exported.
fn form(client: Client) -> Option<&'static Form> {
    match client {
        Client::ClaudeCode => Some(&claude_code::FORM),
        Client::Codex => Some(&codex::FORM),
        Client::Cursor => Some(&cursor::FORM),
        Client::Gemini => Some(&gemini::FORM),
        Client::Vscode => Some(&vscode::FORM),
        Client::RelayShell => None,
    }
}

/// Makes the file of a client of a policy.
///
/// # Errors
///
/// The bundle is damaged or has no policy.
pub(crate) fn export(
    client: Client,
    bundle: &Bundle,
    asked_by: &For<'_>,
    file: &str,
) -> Result<Exported, Failure> {
    let For { asker, tenant, is_strict } = *asked_by;
    let Some(form) = form(client) else {
        return Err(Failure::error(format!("rules of {} are not exported", client.title())));
    };
    let role = asker.placement.role.and_then(|role| bundle.roles().get(role));
    let asked = Asked {
        tenant: tenant.filter(|_| asker.placement.tenant.is_some()),
        role: role.map(|role| role.name.as_str()),
        is_strict,
        forms: form.forms,
        joins: form.joins,
    };
    let decider = Decider::of(bundle, &asker.view)?;
    let rules = from_policy::rules(bundle, &decider, &asked)?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut rows = Vec::new();
    for (of, rule) in rules.into_iter().enumerate() {
        let StaticRule { mut row, answer, calls, mut matched, mut reasons } = rule;
        let mut lost = Vec::new();
        for calls in &calls {
            match (form.entries)(calls, answer, is_strict) {
                Ok(texts) => {
                    // The first line is the key of a setting.
                    let shown = |text: &String| text.rsplit('\n').next().unwrap_or(text).to_owned();
                    row.becomes.extend(texts.iter().map(shown));
                    entries.extend(texts.into_iter().map(|text| Entry { answer, text, of }));
                }
                Err(reason) => lost.push(reason.to_owned()),
            }
        }
        lost.sort();
        lost.dedup();
        if row.becomes.is_empty() {
            matched = Match::NotExpressible;
            if !calls.is_empty() {
                reasons.clear();
            }
        } else if !lost.is_empty() && matched == Match::Exact {
            matched = Match::Partial;
        }
        reasons.extend(lost);
        if matched == Match::NotExpressible && answer != Answer::Allow {
            reasons.push("decided by the hook only".to_owned());
        }
        reasons.dedup();
        row.matched = matched;
        row.reasons = reasons;
        rows.push(row);
    }
    let lines = (form.write)(&entries, &rows);
    for (number, row) in rows.iter_mut().enumerate() {
        let line = lines.iter().position(|(_, of)| *of == Some(number));
        row.written = line.map(|line| At { file: file.to_owned(), line: line + 1 });
    }
    let text = lines.into_iter().map(|(line, _)| format!("{line}\n")).collect();
    rows.sort();
    Ok(Exported { text, rows, has_rules: !entries.is_empty() })
}
