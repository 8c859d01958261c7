//! The `facts` nodes of a project, joined with the shipped facts.

mod lowers;

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_policy::classify::changes_code;
use relay_policy::facts::{Facts as Known, Knowledge, program_name};
use relay_policy::tier::Floors;
use thiserror::Error;

use super::policy::reason;
use crate::ast::{self, FactEnvironment, FactProgram};
use crate::diagnostic::Diagnostics;
use crate::model::{Facts, Policy};
use crate::shipped_facts::Made;
use crate::source::{FileId, Sources, Span};

/// Resolves the facts of a project, which needs a policy for them.
pub(super) fn facts(
    sources: &Sources<'_>,
    nodes: Vec<ast::Facts>,
    policy: Option<&Policy>,
    out: &mut Diagnostics,
) -> Option<Facts> {
    let Some(policy) = policy else {
        for node in nodes {
            out.report(node.at, FactsWithoutPolicy { at: node.at });
        }
        return None;
    };
    let at = nodes.first().map_or(policy.at, |node| node.at);
    let mut programs = Vec::new();
    let mut environment = Vec::new();
    for node in nodes {
        programs.extend(node.programs);
        environment.extend(node.environment);
    }
    let is_own = !(programs.is_empty() && environment.is_empty());
    let made = if is_own {
        sources.facts().facts().and_then(|shipped| {
            lowers::check(&programs, shipped, floors(policy), out);
            let mut own = Knowledge::default();
            add_programs(sources, &programs, shipped, &mut own, out);
            add_environment(&environment, shipped, &mut own, out);
            sources.facts().joined(&own)
        })
    } else {
        sources.facts().made()
    };
    match made {
        Ok(Made { table, meaning }) => Some(Facts { programs, environment, table, meaning }),
        Err(error) => {
            out.report(at, TooManyFacts { what: error.what, at });
            None
        }
    }
}

/// Returns the tiers of unknown things.
fn floors(policy: &Policy) -> Floors {
    Floors::each(|floor| policy.floors.of(floor).tier.value)
}

/// Adds the programs of a project; each replaces the shipped programs of its names.
fn add_programs(
    sources: &Sources<'_>,
    programs: &[FactProgram],
    shipped: Known<'_>,
    own: &mut Knowledge,
    out: &mut Diagnostics,
) {
    let mut files: HashMap<FileId, u8> = HashMap::new();
    let shipped_files = shipped.files().len();
    let mut first_at: HashMap<&str, Span> = HashMap::new();
    for program in programs {
        let mut replaced = None;
        for name in &program.names {
            if let Some(first_at) = first_at.insert(&name.value, name.at) {
                let (name, at) = (name.value.clone(), name.at);
                out.report(at, ProgramTwice { name, first_at, at });
            }
            let base = program_name(name.value.trim().as_bytes());
            let base = String::from_utf8_lossy(base).into_owned();
            if base != name.value {
                let (name, at) = (name.value.clone(), name.at);
                out.report(at, ProgramPath { name, base, at });
            }
            if let Some(known) = shipped.program(name.value.as_bytes()) {
                if shipped.is_builtin(known) {
                    let (name, at) = (name.value.clone(), name.at);
                    out.report(at, ReplacesBuiltin { name, at });
                }
                replaced = replaced.or(Some(name));
            }
        }
        match (replaced, reason(program.because.as_ref())) {
            (Some(name), None) => {
                let (name, at) = (name.value.clone(), name.at);
                out.report(at, ReplacesWithoutReason { name, at });
            }
            (None, Some(because)) => out.report(because.at, IdleReason { at: because.at }),
            (Some(_), Some(_)) | (None, None) => {}
        }
        let number = match files.get(&program.at.file) {
            Some(number) => *number,
            None => {
                let Ok(number) = u8::try_from(shipped_files + own.files.len()) else {
                    out.report(program.at, TooManyFiles { at: program.at });
                    return;
                };
                own.files.push(sources.file(program.at.file).path.clone());
                files.insert(program.at.file, number);
                number
            }
        };
        own.programs.push(program.fact.clone().in_file(number));
    }
}

fn add_environment(
    environment: &[FactEnvironment],
    shipped: Known<'_>,
    own: &mut Knowledge,
    out: &mut Diagnostics,
) {
    for row in environment {
        if reason(row.because.as_ref()).is_none() {
            out.report(row.at, EnvironmentWithoutReason { at: row.at });
        }
        for name in &row.names {
            if is_wide(&name.value) || changes_code(&name.value) {
                let (name, at) = (name.value.clone(), name.at);
                out.report(at, CodeVariable { name, at });
            } else if shipped
                .environment()
                .chain(own.environment.iter().map(String::as_str))
                .any(|it| it == name.value)
            {
                let (name, at) = (name.value.clone(), name.at);
                out.report(at, KnownVariable { name, at });
            } else {
                own.environment.push(name.value.clone());
            }
        }
    }
}

/// Facts describe commands, and only a policy judges commands.
#[derive(Debug, Error, Diagnostic)]
#[error("`facts` without a `policy`")]
#[diagnostic(
    code(facts::no_policy),
    help("add `policy`, so that the bundle carries facts, or remove these")
)]
struct FactsWithoutPolicy {
    #[label(primary, "nothing would use them")]
    at: Span,
}

/// A fact that replaces a shipped one may lower a tier. The reviewer needs the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` replaces the facts about a shipped program, without a reason")]
#[diagnostic(
    code(facts::replaces),
    help("add `because=\"…\"`; `relay facts PROGRAM` prints the facts about it")
)]
struct ReplacesWithoutReason {
    name: String,
    #[label(primary, "all that is shipped of it is dropped")]
    at: Span,
}

/// Returns whether a pattern covers more than the variables of one tool, which share a beginning:
/// `OURS_*`.
fn is_wide(name: &str) -> bool {
    name.contains('*') && (name == "_*" || !name.ends_with("_*"))
}

/// A builtin is part of the shell: its effects are read from the text. A project that redefined one
/// would blind the classifier.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is a builtin of the shell, which no project describes")]
#[diagnostic(
    code(facts::builtin),
    help("remove it; `relay facts {name}` prints the facts about it")
)]
struct ReplacesBuiltin {
    name: String,
    #[label(primary, "the shell decides what it does")]
    at: Span,
}

/// A program in a folder of the system is found by its name, so facts about its path would never
/// count. The same holds for a name with blanks around it.
#[derive(Debug, Error, Diagnostic)]
#[error("no command finds the program by `{name}`")]
#[diagnostic(
    code(facts::program_path),
    help("write `{base}`: the name alone, without a folder of the system and without blanks")
)]
struct ProgramPath {
    name: String,
    base: String,
    #[label(primary, "never found")]
    at: Span,
}

/// Some variables make the shell, the loader or an interpreter run other code. A project cannot
/// declare them harmless, and a wide pattern would include variables that the author did not think
/// of.
#[derive(Debug, Error, Diagnostic)]
#[error("a project cannot say that `{name}` changes no code")]
#[diagnostic(
    code(facts::code_variable),
    help("name the variables of your own tools, or all that begin alike: `OURS_*`")
)]
struct CodeVariable {
    name: String,
    #[label(primary, "may change which code runs")]
    at: Span,
}

/// The reason looks as if a shipped program were replaced, and a reviewer would search for it.
#[derive(Debug, Error, Diagnostic)]
#[error("the program replaces none, and needs no reason")]
#[diagnostic(code(facts::idle_reason), severity(Warning), help("remove the `because`"))]
struct IdleReason {
    #[label(primary, "gives a reason for nothing")]
    at: Span,
}

/// With two, their order would decide which one counts.
#[derive(Debug, Error, Diagnostic)]
#[error("the program `{name}` is described twice")]
#[diagnostic(code(facts::program_twice), help("join them into one `program`"))]
struct ProgramTwice {
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// An unknown variable may make a program run other code, so setting it is tier 2. The reviewer of
/// an exception needs the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("variables that change no code, without a reason")]
#[diagnostic(code(facts::environment), help("add `because=\"…\"`; it shows in the review"))]
struct EnvironmentWithoutReason {
    #[label(primary, "lowers what sets them")]
    at: Span,
}

/// The line would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("the variable `{name}` is known already")]
#[diagnostic(code(facts::known_variable), severity(Warning), help("remove it"))]
struct KnownVariable {
    name: String,
    #[label(primary, "changes nothing")]
    at: Span,
}

/// The table of facts has a limit for each of its parts, so that a reader can check it in one pass.
#[derive(Debug, Error, Diagnostic)]
#[error("the facts do not fit their table: {what}")]
#[diagnostic(code(facts::too_many), help("describe fewer programs, or fewer of their options"))]
struct TooManyFacts {
    what: &'static str,
    #[label(primary, "with these")]
    at: Span,
}

/// A fact names its file by a number of one byte.
#[derive(Debug, Error, Diagnostic)]
#[error("facts are in too many documents")]
#[diagnostic(code(facts::too_many_files), help("put the programs of several into one"))]
struct TooManyFiles {
    #[label(primary, "this is in one too many")]
    at: Span,
}
