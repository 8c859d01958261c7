//! The outcomes, for programs.

use std::collections::BTreeMap;
use std::fmt;

use relay_compiler::{Compiled, Cut, Kind, Proof, Proven, Sources, Span};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::report::Origin;

/// The output of `relay test --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Tested {
    /// The version of this JSON format.
    pub(super) format_version: u32,
    /// The environments, the unnamed base first.
    pub(super) environments: Vec<Environment>,
    /// Declarations that no `expect` touches, and rules and their parts that no `match`, `no-match` or
    /// `expect` touches, by kind and name; empty for an environment with errors.
    pub(super) untouched: Vec<Untouched>,
    /// The mutants of the project's own rules; `null` without such rules, and while a text or an
    /// `expect` fails.
    pub(super) mutants: Option<Mutants>,
    /// How many times an `expect` holds.
    pub(super) passed: usize,
    /// How many times one fails.
    pub(super) failed: usize,
}

/// The `expect`s in one environment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Environment {
    /// Its name; `null` for the project without an environment.
    pub(super) environment: Option<String>,
    /// Whether there was a bundle to ask. Else the project has errors: `relay check` reports them.
    pub(super) asked: bool,
    /// The `expect`s, in the order of the text.
    pub(super) tests: Vec<Test>,
}

/// An `expect`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Test {
    /// Its place, by which those of one line differ.
    #[serde(skip)]
    pub(super) span: Span,
    /// Its question.
    pub(super) question: String,
    /// Whether it holds.
    pub(super) passed: bool,
    /// Where it is.
    #[serde(flatten)]
    pub(super) at: At,
    /// The claims that fail.
    pub(super) failures: Vec<Unmet>,
}

/// A claim that fails.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Unmet {
    /// The actual answer.
    pub(super) message: String,
    /// Where it is expected.
    #[serde(flatten)]
    pub(super) at: At,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(super) struct At {
    /// The file, relative to the folder where the command ran.
    pub(super) file: String,
    /// The line, from 1.
    pub(super) line: u32,
}

/// A declaration that no `expect` touches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Untouched {
    /// `tenant`, `role`, `skill`, `prompt`, `resource`, `rule`, `selector` or `exception`.
    pub(super) kind: &'static str,
    /// Its name; of a skill its block and name, of a resource its URI, of a selector or an exception
    /// its text and its rule.
    pub(super) name: String,
    /// Where it is declared.
    #[serde(flatten)]
    pub(super) at: At,
}

/// The rules of a policy with one part left out each. A mutant is killed if a `match`, a `no-match`
/// or an `expect decision` then fails.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Mutants {
    /// How many were tried.
    pub(super) tried: usize,
    /// How many were killed.
    pub(super) killed: usize,
    /// The percentage of killed mutants, rounded down.
    pub(super) score: u8,
    /// The others, in the order of the text.
    pub(super) survivors: Vec<Survivor>,
}

/// A part of a rule whose loss no test notices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Survivor {
    /// The name of the rule.
    pub(super) rule: String,
    /// `rule`, `selector`, `value` or `exception`.
    pub(super) kind: &'static str,
    /// The part that was left out, as written; empty for the whole rule.
    pub(super) removed: String,
    /// Where it is.
    #[serde(flatten)]
    pub(super) at: At,
}

impl Tested {
    /// Returns whether fewer mutants are killed than this percentage.
    pub(super) fn is_below(&self, min_score: Option<u8>) -> bool {
        let mutants = self.mutants.as_ref().zip(min_score);
        mutants.is_some_and(|(mutants, min_score)| mutants.score < min_score)
    }

    pub(super) fn of(compiled: &Compiled, sources: &Sources<'_>, origin: &Origin<'_>) -> Self {
        let at = |span: Span| {
            let place = sources.place(span);
            At { file: origin.display_path(&place.file), line: place.line }
        };
        let test = |proof: &Proof| Test {
            span: proof.at,
            question: proof.question.clone(),
            passed: proof.failures.is_empty(),
            at: at(proof.at),
            failures: proof
                .failures
                .iter()
                .map(|(span, message)| Unmet { message: message.clone(), at: at(*span) })
                .collect(),
        };
        // A thing of one environment may be touched in another.
        let mut coverage: BTreeMap<&(Kind, String), (Span, bool)> = BTreeMap::new();
        for (thing, found) in compiled.proven.iter().flat_map(|proven| &proven.coverage) {
            coverage.entry(thing).or_insert((found.at, false)).1 |= found.touched;
        }
        let untouched = coverage.into_iter().filter(|(_, (_, touched))| !touched);
        let untouched = untouched.map(|((kind, name), (span, _))| Untouched {
            kind: word(*kind),
            name: name.clone(),
            at: at(span),
        });
        let environments: Vec<Environment> = compiled
            .proven
            .iter()
            .map(|proven| Environment {
                environment: proven.environment.clone(),
                asked: proven.asked,
                tests: proven.expects.iter().map(test).collect(),
            })
            .collect();
        let tests = || environments.iter().flat_map(|environment| &environment.tests);
        let passed = tests().filter(|test| test.passed).count();
        let failed = tests().count() - passed;
        let untouched = untouched.collect();
        let mutants = Mutants::of(&compiled.proven, at);
        Self { format_version: FORMAT_VERSION, environments, untouched, mutants, passed, failed }
    }
}

impl Mutants {
    /// Joins the mutants of the environments: one that is killed in any is killed.
    fn of(proven: &[Proven], at: impl Fn(Span) -> At) -> Option<Self> {
        let mut all: BTreeMap<(Span, Cut, &str), (&str, bool)> = BTreeMap::new();
        for proven in proven {
            // An environment that fails has reported why; its mutants would count as survivors.
            for mutant in proven.mutants.as_ref()? {
                let key = (mutant.at, mutant.cut, mutant.removed.as_str());
                all.entry(key).or_insert((&mutant.rule, false)).1 |= mutant.killed;
            }
        }
        let tried = all.len();
        let killed = all.values().filter(|(_, killed)| *killed).count();
        let survivors = all.iter().filter(|(_, (_, killed))| !killed);
        let survivors = survivors.map(|((span, cut, removed), (rule, _))| Survivor {
            rule: (*rule).to_owned(),
            kind: cut_word(*cut),
            removed: (*removed).to_owned(),
            at: at(*span),
        });
        let survivors: Vec<Survivor> = survivors.collect();
        let score = (killed * 100).checked_div(tried)?;
        Some(Self { tried, killed, score: u8::try_from(score).unwrap_or(100), survivors })
    }
}

fn cut_word(cut: Cut) -> &'static str {
    match cut {
        Cut::Rule => "rule",
        Cut::Selector => "selector",
        Cut::Value => "value",
        Cut::Exception => "exception",
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Tenant => "tenant",
        Kind::Role => "role",
        Kind::Skill => "skill",
        Kind::Prompt => "prompt",
        Kind::Resource => "resource",
        Kind::Rule => "rule",
        Kind::Selector => "selector",
        Kind::Exception => "exception",
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
