//! A decision, for people and programs.

use relay_engine::decide::{Decision, Missed, Named, Outcome};
use relay_policy::span::Span;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::verdict;
use crate::output::{bad, bold, dim, doubtful, good};
use crate::text::printable;

/// The decision on a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DecisionExplained {
    /// `allow`, `approve` if a person is asked first, `deny`, or `reject`.
    decision: &'static str,
    /// The deciding rule: `policy.` and its name, or the kind of another rule.
    rule: String,
    /// The reason of the rule.
    reason: String,
    /// The place of the rule: `file:line:column`; absent where no line decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The mode in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    /// The first byte of the text that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u32>,
    /// The byte after the last of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u32>,
    /// Whether the rule only may mean the request: a word is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    doubtful: bool,
    /// The denials that are only observed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observed: Vec<Observed>,
    /// The rule that comes nearest to allowing the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Nearest>,
}

/// A denial that is only observed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Observed {
    /// Its name.
    rule: String,
    /// Its place.
    at: String,
}

/// A rule that would allow a request but for some of its selectors.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Nearest {
    /// Its name.
    rule: String,
    /// Its place.
    at: String,
    /// The selectors that do not mean the request, or the part that it does not name.
    fails_on: Vec<String>,
}

impl DecisionExplained {
    /// Takes a decision.
    pub(crate) fn of(decision: &Decision) -> Self {
        let observed = decision
            .observed
            .iter()
            .map(|named: &Named| Observed { rule: named.name.clone(), at: named.at.to_string() });
        let nearest = decision.nearest.as_ref().map(|missed| {
            let Missed { name, at, fails_on } = missed;
            Nearest { rule: name.clone(), at: at.to_string(), fails_on: fails_on.clone() }
        });
        Self {
            decision: decision.outcome.word(),
            rule: decision.rule_name(),
            reason: decision.reason(),
            at: decision.at.as_ref().map(ToString::to_string),
            mode: decision.mode.map(relay_bundle::Mode::word),
            start: decision.span.map(|span| span.start),
            end: decision.span.map(|span| span.end),
            doubtful: decision.named.as_ref().is_some_and(|named| named.is_doubtful),
            observed: observed.collect(),
            nearest,
        }
    }

    /// Returns the decision in one word, and the rule unless it is the mode's.
    pub(crate) fn short(&self) -> String {
        let Self { decision, rule, .. } = self;
        let rule = rule.strip_prefix("policy.").unwrap_or(rule);
        match *decision {
            word if word == Outcome::Allow.word() => "yes".to_owned(),
            word if word == Outcome::Approve.word() => format!("asks: {rule}"),
            _ => format!("no: {rule}"),
        }
    }

    /// Returns the decision for people, with carets under the words that decide.
    pub(crate) fn drawn(&self, text: &str, span: Option<Span>, width: usize) -> String {
        let Self { decision, rule, reason, at: place, mode, observed, nearest, .. } = self;
        let word = match *decision {
            word if word == Outcome::Allow.word() => good(word).to_string(),
            word if word == Outcome::Approve.word() => doubtful(word).to_string(),
            word => bad(word).to_string(),
        };
        let at = |at: &str| dim(format!("  {}", printable(at))).to_string();
        let place = place.as_deref().map(at).unwrap_or_default();
        // The reason of a rule of the policy begins with its name.
        let name = rule.strip_prefix("policy.").unwrap_or(rule);
        let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(reason);
        let mut page = format!("{word}  {}: {}{place}\n", bold(printable(name)), printable(reason));
        if let Some(span) = span.filter(|span| span.end > span.start) {
            page.push_str(&verdict::marked(text, span, width));
        }
        if self.doubtful {
            page.push_str("  a word or code that is not known may be meant: write it out\n");
        }
        if let Some(mode) = mode {
            page.push_str(&format!("  mode {mode}\n"));
        }
        for Observed { rule, at: place } in observed {
            let place = at(place);
            page.push_str(&format!(
                "  would be denied by `{}`, which is only observed{place}\n",
                printable(rule)
            ));
        }
        if let Some(Nearest { rule, at: place, fails_on }) = nearest {
            let (fails, place) = (printable(&fails_on.join(", ")).to_string(), at(place));
            page.push_str(&format!(
                "  nearest allow `{}` fails on {fails}{place}\n",
                printable(rule)
            ));
        }
        page
    }
}
