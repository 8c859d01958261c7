//! Compiles an imported policy before it is written, and asks it about a call of each rule: a restriction of the client
//! holds, and the expectations state each decision.

use relay_bundle::Bundle;
use relay_compiler::{Compiled, Options, Report, Severity, Sources};
use relay_engine::decide::{Call, Door, Outcome, decide};
use relay_engine::place::Placement;
use relay_engine::tool;
use relay_engine::view::View;
use relay_policy::facts::Facts;
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::kdl::{self, Expected, PartId, Written};
use super::model::{Answer, ClientRule, ClientRules, Fate, Subject};
use super::node::{Kind, Sample};
use super::report::{Match, RuleRow};
use super::translate::{self, Item, PartForm};
use crate::failure::Failure;
use crate::files::WithFiles;
use crate::judge;
use crate::shipped;
use crate::subject;

/// The rule about unlisted calls, and a command that is one.
const UNLISTED: &str = "unlisted";
/// The most trials: each takes a part out, or replaces it.
const TRIALS_MAX: usize = 400;

/// The finding on a rule that another one makes idle.
const SHADOWED: &str = "rule::shadowed";
/// The finding on a program that rules mean by its name alone; a policy may have it.
const UNKNOWN_PROGRAM: &str = "rule::unknown_program";
/// The finding on a project with a policy alone.
const NO_PROMPTS: &str = "project::empty";

/// A policy to write, and its report.
pub(crate) struct Settled {
    /// The project's text.
    pub(crate) text: String,
    /// The report.
    pub(crate) rows: Vec<RuleRow>,
}

/// Makes a policy of a client's rules.
///
/// # Errors
///
/// A restriction of the client is beyond a policy, which would be wider.
pub(crate) fn settle(name: &str, document: &str, client: &ClientRules) -> Result<Settled, Failure> {
    let facts =
        Facts::reopen(shipped::facts()).map_err(|error| Failure::error(error.to_string()))?;
    let mut items = translate::all(client, &facts).map_err(|(rule, reason)| {
        client
            .rules
            .get(rule)
            .map_or_else(|| Failure::error(reason.clone()), |rule| wider(rule, &reason))
    })?;
    let mut trial = Trial { name, document, client, expected: Vec::new() };
    for _ in 0..TRIALS_MAX {
        let (written, compiled) = trial.compile(&items);
        let (bundle, unknown) = match compiled {
            Ok(made) => made,
            Err(findings) => {
                trial.give_way(&mut items, &written, &findings)?;
                trial.expected.clear();
                continue;
            }
        };
        if !trial.expected.is_empty() || items.iter().all(|item| item.parts.is_empty()) {
            note_unknown(&mut items, &written, &unknown);
            let rows = rows(client, &items, &written, document);
            return Ok(Settled { text: written.text(), rows });
        }
        trial.expect(&mut items, bundle)?;
        if trial.expected.is_empty()
            && items.iter().all(|it| it.parts.iter().all(|it| it.samples.is_empty()))
        {
            let rows = rows(client, &items, &written, document);
            return Ok(Settled { text: written.text(), rows });
        }
    }
    Err(Failure::error("the policy did not settle")
        .help("this is a bug in relay: report it with the files"))
}

/// Returns the failure for a rule that would be wider.
fn wider(rule: &ClientRule, reason: &str) -> Failure {
    let answer = if rule.answer == Answer::Deny { "denies" } else { "asks" };
    let at = crate::text::printable(&rule.at.shown());
    let written = crate::text::printable(&rule.written);
    Failure::no(format!("`{at}`: `{written}` {answer}, and the policy cannot: {reason}"))
        .help("an import is never wider than its source, so nothing was written: change the rule, or take it out")
}

/// A finding of the compiler.
struct Finding {
    line: Option<usize>,
    code: String,
    words: String,
}

/// A bundle, and findings that it may have.
type Made = (Vec<u8>, Vec<Finding>);

struct Trial<'t> {
    name: &'t str,
    document: &'t str,
    client: &'t ClientRules,
    expected: Vec<Expected>,
}

impl Trial<'_> {
    /// Compiles the project as it would be written.
    fn compile(&self, items: &[Item]) -> (Written, Result<Made, Vec<Finding>>) {
        let written = kdl::write(self.name, self.client, items, &self.expected);
        let added = [(self.document.to_owned(), written.text().into_bytes())].into();
        let none = NoFiles;
        let files = WithFiles { files: &none, added };
        let sources = Sources::new(&files, self.document).with_facts(shipped::facts());
        let Compiled { bundle, diagnostics, .. } =
            relay_compiler::compile(&sources, &Options::default());
        let sorted = diagnostics.sorted();
        let all = || sorted.iter().flat_map(|report| report.all());
        let finding = |report: &Report| Finding {
            line: Some(sources.place(report.at).line as usize),
            code: report.code(),
            words: format!("{}: {}", report.code(), report.diagnostic),
        };
        let errors: Vec<Finding> = all().filter(|report| report.is_error()).map(finding).collect();
        let is_of_rules = |report: &&Report| {
            let is_kept = [NO_PROMPTS, UNKNOWN_PROGRAM].contains(&report.code().as_str());
            report.severity() == Severity::Warning && !is_kept
        };
        let warnings = || all().filter(is_of_rules).map(finding).collect::<Vec<_>>();
        // A warning may be the consequence of an error.
        let findings = if errors.is_empty() { warnings() } else { errors };
        let unknown = all().filter(|report| report.code() == UNKNOWN_PROGRAM).map(finding);
        let compiled = match bundle {
            Some(bundle) if findings.is_empty() => Ok((bundle, unknown.collect())),
            None if findings.is_empty() => Err(vec![Finding {
                line: None,
                code: String::new(),
                words: "no bundle was made".to_owned(),
            }]),
            _ => Err(findings),
        };
        (written, compiled)
    }

    /// Replaces each part that a finding is about by its next form, or takes it out if it permits.
    fn give_way(
        &self,
        items: &mut [Item],
        written: &Written,
        findings: &[Finding],
    ) -> Result<(), Failure> {
        // The last comes first, so that the numbers of the others hold when a part is taken out.
        let mut of: std::collections::BTreeMap<PartId, &Finding> =
            std::collections::BTreeMap::new();
        for finding in findings {
            let part = finding.line.and_then(|line| written.part_at(line));
            let Some(part) = part else {
                return Err(Failure::error(format!("the policy has a finding: {}", finding.words))
                    .help(
                        "give the project another name with --name, or report this with the files",
                    ));
            };
            of.entry(part).or_insert(finding);
        }
        for ((item, number), finding) in of.into_iter().rev() {
            let part = items.get_mut(item).and_then(|item| item.parts.get_mut(number));
            match part {
                Some(part)
                    if finding.code == SHADOWED
                        && matches!(&part.form, PartForm::Rule(node) if node.kind != Kind::Allow) =>
                {
                    part.form = PartForm::Covered;
                    // Of two rules that mean the same, each may be said to add nothing.
                    return Ok(());
                }
                _ => self.next_form(items, (item, number), &finding.words)?,
            }
        }
        Ok(())
    }

    fn next_form(
        &self,
        items: &mut [Item],
        (item, number): PartId,
        reason: &str,
    ) -> Result<(), Failure> {
        let Some(rule) = self.client.rules.get(item) else { return Ok(()) };
        let Some(item) = items.get_mut(item) else { return Ok(()) };
        let Some(part) = item.parts.get_mut(number) else { return Ok(()) };
        match &mut part.form {
            PartForm::Rule(node) if node.kind != Kind::Allow => {
                let Some(next) = part.others.pop() else { return Err(wider(rule, reason)) };
                node.selectors = next.selectors;
                part.is_exact = next.wider.is_none();
                item.reasons.extend(next.wider);
            }
            PartForm::Covered => return Err(wider(rule, reason)),
            PartForm::Rule(_) | PartForm::Listed(_) => {
                item.reasons.push(reason.to_owned());
                item.parts.remove(number);
            }
        }
        Ok(())
    }

    /// Asks the policy about the samples, and expects its decisions.
    fn expect(&mut self, items: &mut [Item], bundle: Vec<u8>) -> Result<(), Failure> {
        let bundle = subject::in_memory(bundle)?.bundle;
        let mut decided = Vec::new();
        for (number, item) in items.iter().enumerate() {
            for (part, each) in item.parts.iter().enumerate() {
                for sample in &each.samples {
                    let (outcome, rule) = ask(&bundle, sample)?;
                    decided.push(((number, part), sample.clone(), outcome, rule));
                }
            }
        }
        for (of, sample, outcome, rule) in decided {
            let kind = items.get(of.0).and_then(|item| item.parts.get(of.1)).map(|part| &part.form);
            let is_narrow = match kind {
                Some(PartForm::Rule(node)) => match node.kind {
                    Kind::Deny => outcome == Outcome::Deny,
                    Kind::Approve => outcome != Outcome::Allow,
                    Kind::Allow => true,
                },
                Some(PartForm::Covered) => {
                    let answer = self.client.rules.get(of.0).map(|rule| rule.answer);
                    match answer {
                        Some(Answer::Deny) => outcome == Outcome::Deny,
                        _ => outcome != Outcome::Allow,
                    }
                }
                Some(PartForm::Listed(_)) | None => true,
            };
            if !is_narrow {
                // A text that is only like the rule proves nothing.
                let is_sure = !matches!(
                    self.client.rules.get(of.0).map(|rule| &rule.subject),
                    Some(Subject::Commands(all)) if all.iter().any(|it| matches!(it, super::model::Command::Regex(_)))
                );
                if is_sure {
                    self.next_form(items, of, "a call of the rule is not decided so")?;
                    self.expected.clear();
                    return Ok(());
                }
                if let Some(part) = items.get_mut(of.0).and_then(|item| item.parts.get_mut(of.1)) {
                    part.samples.clear();
                }
                continue;
            }
            if outcome == Outcome::Reject {
                continue;
            }
            let Sample { tool, text } = sample;
            self.expected.push(Expected { of, decision: outcome.word(), rule, tool, text });
        }
        if self.client.unlisted != Answer::Allow {
            let sample = Sample { tool: None, text: UNLISTED.to_owned() };
            let (outcome, rule) = ask(&bundle, &sample)?;
            let Sample { tool, text } = sample;
            // A rule may permit every command.
            if rule.as_deref() == Some(UNLISTED) {
                let of = (usize::MAX, 0);
                self.expected.push(Expected { of, decision: outcome.word(), rule, tool, text });
            }
        }
        self.expected.sort_by_key(|expected| expected.of);
        let mut seen = std::collections::BTreeSet::new();
        self.expected.retain(|it| seen.insert((it.decision, it.tool.clone(), it.text.clone())));
        Ok(())
    }
}

/// Notes programs that rules mean by their names alone.
fn note_unknown(items: &mut [Item], written: &Written, unknown: &[Finding]) {
    for finding in unknown {
        let part = finding.line.and_then(|line| written.part_at(line));
        if let Some(item) = part.and_then(|(item, _)| items.get_mut(item)) {
            item.unknown.push(finding.words.clone());
        }
    }
}

/// Decides a call, and returns the rule of the policy that decides.
fn ask(bundle: &Bundle, sample: &Sample) -> Result<(Outcome, Option<String>), Failure> {
    let Sample { tool, text } = sample;
    let arguments = match tool {
        None => Map::from_iter([("command".to_owned(), Value::from(text.as_str()))]),
        Some(_) => serde_json::from_str(text)?,
    };
    let placement = Placement { tenant: None, role: None, row: None };
    let view = View::of(bundle, &placement)?;
    let location = Location::default();
    let call = Call {
        tool: tool.as_deref().unwrap_or(tool::SHELL),
        arguments: &arguments,
        client: None,
        location: &location,
        door: Door::Elsewhere,
    };
    let decision = decide(&view, &judge::authority(bundle)?, &call)?;
    Ok((decision.outcome, decision.named.map(|named| named.name)))
}

/// Returns the report.
fn rows(client: &ClientRules, items: &[Item], written: &Written, document: &str) -> Vec<RuleRow> {
    let mut rows = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let Some(rule) = client.rules.get(item.rule) else { continue };
        let becomes: Vec<String> = item
            .parts
            .iter()
            .map(|part| match &part.form {
                PartForm::Rule(node) => format!("{} {}", node.kind.word(), node.name),
                PartForm::Listed(_) => "an exception of `unlisted`".to_owned(),
                PartForm::Covered => "another rule".to_owned(),
            })
            .collect();
        let lines = (0..item.parts.len()).filter_map(|part| written.line_of((number, part)));
        let line = lines.min();
        let is_exact = item.parts.iter().all(|part| part.is_exact) && rule.notes == item.reasons;
        let matched = match (&rule.subject, becomes.is_empty()) {
            (Subject::Inert(_), _) => Match::Inert,
            (_, true) => Match::NotExpressible,
            (_, false) if is_exact => Match::Exact,
            (_, false) => Match::Stricter,
        };
        let mut reasons = [item.reasons.as_slice(), &item.unknown].concat();
        reasons.dedup();
        if line.is_none() && !becomes.is_empty() {
            reasons.push("another rule says the same".to_owned());
        }
        rows.push(RuleRow {
            matched,
            at: rule.at.clone(),
            level: Some(rule.level.word()),
            rule: rule.written.clone(),
            becomes,
            written: line.map(|line| super::model::At { file: document.to_owned(), line }),
            reasons,
        });
    }
    for setting in &client.settings {
        let matched = match setting.fate {
            Fate::Kept => Match::Exact,
            Fate::Stricter => Match::Stricter,
            Fate::Outside => Match::NotExpressible,
            Fate::Inert => Match::Inert,
        };
        rows.push(RuleRow {
            matched,
            at: setting.at.clone(),
            level: Some(setting.level.word()),
            rule: setting.written.clone(),
            becomes: Vec::new(),
            written: None,
            reasons: vec![setting.reason.clone()],
        });
    }
    rows.sort();
    rows
}

/// An empty folder of a project.
struct NoFiles;

impl relay_compiler::Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, relay_compiler::ReadError> {
        Err(relay_compiler::ReadError::NotFound)
    }

    fn list(&self, _: &str) -> Result<Vec<relay_compiler::Listed>, relay_compiler::ReadError> {
        Err(relay_compiler::ReadError::NotFound)
    }
}
