//! A text that holds a secret.
//!
//! What goes into a bundle can be read by every holder of the bundle and by every agent.
//! The rules know the forms that issuers give their keys, so false alarms are rare.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use miette::Diagnostic;
use regex::RegexSet;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{AllowedSecret, BodySource, Model};
use crate::source::Span;

/// Name and form of each kind of secret.
const RULES: &[(&str, &str)] = &[
    ("aws-access-key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("google-key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("hugging-face-token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("json-web-token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("openai-key", r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    ("private-key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("stripe-key", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
];

/// The forms of all rules, compiled once a process: that takes longer than a small project.
#[expect(clippy::expect_used, reason = "the rules are constants, and every test runs them")]
static FORMS: LazyLock<RegexSet> = LazyLock::new(|| {
    let forms = RULES.iter().map(|(_, form)| ascii(form));
    RegexSet::new(forms).expect("every rule is a regular expression")
});

/// Keys are ASCII, and so are their word boundaries: the tables for other scripts stay out.
fn ascii(form: &str) -> String {
    format!("(?-u){form}")
}

#[derive(Debug, Error, Diagnostic)]
#[error("the text holds a secret ({rule})")]
#[diagnostic(
    code(secret::literal),
    help(
        "take it out and revoke it; if it is only an example, write `allow-secret {rule} because=\"…\"`"
    )
)]
struct LiteralSecret {
    rule: &'static str,
    #[label(primary, "every holder of the bundle could read this")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("unknown rule `{rule}` for secrets")]
#[diagnostic(code(secret::unknown_rule))]
struct UnknownRule {
    rule: String,
    #[help]
    help: String,
    #[label(primary, "not known")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`allow-secret {rule}` suppresses nothing")]
#[diagnostic(code(secret::idle_excuse), severity(Warning), help("remove it"))]
struct IdleSuppression {
    rule: String,
    #[label(primary, "no text here looks like one")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut search = SecretSearch::default();
    let mut suppressions: Vec<&AllowedSecret> = Vec::new();
    // Taken apart in full, so that what a project may hold tomorrow asks to be searched.
    let Model {
        prompts,
        resources,
        templates,
        messages,
        project: _,
        environment: _,
        whens: _,
        disabled_prompts: _,
        gate: _,
        tools: _,
    } = model;
    for prompt in prompts {
        suppressions.extend(&prompt.allowed_secrets);
        for body in &prompt.bodies {
            search.at_body(body, &prompt.allowed_secrets, out);
        }
        for line in [&prompt.title, &prompt.description].into_iter().flatten() {
            search.at_value(&line.value, line.at, &prompt.allowed_secrets, out);
        }
        for line in prompt.summary.iter().chain(&prompt.chapters) {
            // What was made of a text is looked at in the text.
            let Some(at) = line.at else { continue };
            search.at_value(&line.value, at, &prompt.allowed_secrets, out);
        }
        for argument in &prompt.rendering.arguments {
            let texts = [&argument.default, &argument.description];
            for text in texts.into_iter().flatten() {
                search.at_value(text, prompt.name.at, &prompt.allowed_secrets, out);
            }
        }
    }
    let resources = resources.iter().map(|resource| &resource.about);
    for about in resources.chain(templates.iter().map(|template| &template.about)) {
        suppressions.extend(&about.allowed_secrets);
        search.at_body(&about.body, &about.allowed_secrets, out);
        for line in [&about.title, &about.description].into_iter().flatten() {
            search.at_value(&line.value, line.at, &about.allowed_secrets, out);
        }
    }
    for message in messages.all() {
        if let Some(at) = message.at {
            search.at_value(&message.text, at, &[], out);
        }
    }
    search.report_suppressions(&suppressions, out);
}

#[derive(Default)]
struct SecretSearch {
    /// The suppressions that were used.
    used: BTreeSet<Span>,
}

impl SecretSearch {
    fn at_body(&mut self, body: &BodySource, allowed: &[AllowedSecret], out: &mut Diagnostics) {
        let Some(text) = &body.text else { return };
        match body.inline_at {
            Some(at) => self.at_value(text, at, allowed, out),
            None => {
                let place = |found: &regex::Match<'_>| {
                    body.file.span(body.start + found.start(), body.start + found.end())
                };
                self.look(text, place, allowed, out);
            }
        }
    }

    fn at_value(&mut self, text: &str, at: Span, allowed: &[AllowedSecret], out: &mut Diagnostics) {
        self.look(text, |_| at, allowed, out);
    }

    fn look(
        &mut self,
        text: &str,
        place: impl Fn(&regex::Match<'_>) -> Span,
        allowed: &[AllowedSecret],
        out: &mut Diagnostics,
    ) {
        for index in FORMS.matches(text) {
            let Some((rule, form)) = RULES.get(index) else { continue };
            if let Some(suppression) =
                allowed.iter().find(|suppression| suppression.rule.value == *rule)
            {
                self.used.insert(suppression.rule.at);
                continue;
            }
            let found = regex::Regex::new(&ascii(form)).ok();
            let Some(at) = found.and_then(|regex| regex.find(text).map(|found| place(&found)))
            else {
                continue;
            };
            out.report(at, LiteralSecret { rule, at });
        }
    }

    fn report_suppressions(&self, suppressions: &[&AllowedSecret], out: &mut Diagnostics) {
        for suppression in suppressions {
            let (rule, at) = (suppression.rule.value.clone(), suppression.rule.at);
            if !RULES.iter().any(|(known, _)| *known == rule) {
                let known: Vec<&str> = RULES.iter().map(|(known, _)| *known).collect();
                let help = match crate::nearest::nearest(&rule, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the rules are: {}", known.join(", ")),
                };
                out.report(at, UnknownRule { rule, help, at });
            } else if !self.used.contains(&at) {
                out.report_idle(at, IdleSuppression { rule, at });
            } else {
                out.mark_used(at);
            }
        }
    }
}
