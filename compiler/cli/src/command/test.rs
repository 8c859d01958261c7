//! `relay test`: what a project expects of its bundle, whether it holds, and what nothing is
//! expected of.

mod human;
mod junit;

use std::collections::BTreeMap;

use relay_compiler::{Compiled, Kind, Proof, Sources, Span};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{ReportFormat, TestArgs, TestFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{Project, Request};
use crate::report::{self, Origin};
use crate::schema::FORMAT_VERSION;

/// The output of `relay test --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Tested {
    /// The version of this JSON format.
    format_version: u32,
    /// The environments, that without a name first.
    environments: Vec<Environment>,
    /// What no `expect` touches, by kind and name.
    untouched: Vec<Untouched>,
    /// How many times an `expect` holds.
    passed: usize,
    /// How many times one does not.
    failed: usize,
}

/// The `expect`s in one environment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Environment {
    /// Its name; `null` for the project without an environment.
    environment: Option<String>,
    /// Whether there was a bundle to ask. If not, the project has errors: `relay check` reports
    /// them.
    asked: bool,
    /// The `expect`s, in the order of the text.
    tests: Vec<Test>,
}

/// An `expect`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Test {
    /// What it asks.
    question: String,
    /// Whether it holds.
    passed: bool,
    /// Where it is.
    #[serde(flatten)]
    at: At,
    /// What does not hold.
    failures: Vec<Unmet>,
}

/// What does not hold.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Unmet {
    /// What is the case instead.
    message: String,
    /// Where it is expected.
    #[serde(flatten)]
    at: At,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
struct At {
    /// The file, relative to the folder where the command ran.
    file: String,
    /// The line, from 1.
    line: u32,
}

/// What no `expect` touches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Untouched {
    /// `tenant`, `role`, `skill`, `prompt` or `resource`.
    kind: &'static str,
    /// Its name; of a skill its block and name, of a resource its URI.
    name: String,
    /// Where it is declared.
    #[serde(flatten)]
    at: At,
}

pub(crate) fn run(arguments: &TestArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::open(&arguments.project)?;
    let sources = project.sources();
    let compiled = project.check(&sources, Request::of(&arguments.compiling), output)?;
    let origin = project.origin(&sources);
    let tested = Tested::of(&compiled, &sources, &origin);
    let format = arguments.format.chosen();
    match format {
        TestFormat::Human => output.result(human::draw(&tested))?,
        TestFormat::Json => output.json(&tested)?,
        TestFormat::Junit => output.verbatim(&junit::draw(&tested))?,
    }
    let diagnostics = &compiled.diagnostics;
    if diagnostics.error_count() + diagnostics.warning_count() > 0 {
        let look = output.message_look();
        output.message(report::draw(diagnostics, &origin, ReportFormat::Human, look)?);
    }
    Ok(if diagnostics.has_errors() { Exit::No } else { Exit::Yes })
}

impl Tested {
    fn of(compiled: &Compiled, sources: &Sources<'_>, origin: &Origin<'_>) -> Self {
        let at = |span: Span| {
            let place = sources.place(span);
            At { file: origin.display_path(&place.file), line: place.line }
        };
        let test = |proof: &Proof| Test {
            question: proof.question.clone(),
            passed: proof.failures.is_empty(),
            at: at(proof.at),
            failures: proof
                .failures
                .iter()
                .map(|(span, message)| Unmet { message: message.clone(), at: at(*span) })
                .collect(),
        };
        // What one environment has, another may touch.
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
        Self { format_version: FORMAT_VERSION, environments, untouched, passed, failed }
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Tenant => "tenant",
        Kind::Role => "role",
        Kind::Skill => "skill",
        Kind::Prompt => "prompt",
        Kind::Resource => "resource",
    }
}
