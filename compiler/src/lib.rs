//! Project text -> bytes of an unsigned bundle.
//!
//! The stages are functions from value to value: `parse` gives the text as written, `resolve` its
//! meaning, `check` faults and unwise settings, `lower` the contents for the server, `encode` their
//! bytes, `prove` the answers of those bytes. All outside access goes through [`Sources`]; the
//! compiler never opens a file, reads a clock or the environment, or prints.

#![forbid(unsafe_code)]

mod alike;
mod ast;
pub mod automaton;
mod check;
mod derived;
mod diagnostic;
mod encode;
pub mod facts;
mod grammar;
mod instructions;
mod language;
mod lower;
mod matching;
mod measure;
mod model;
mod options;
mod outline;
mod parse;
pub mod policies;
mod prove;
mod reference;
mod resolve;
mod secret;
mod setting;
mod shipped_facts;
mod shipped_policy;

mod show;
mod source;

use std::collections::BTreeSet;

use matching::worst_case::{self, WorstCase};

pub use derived::mismatches;
pub use diagnostic::{Diagnostics, Edit, Report, Severity};
pub use options::{Git, Options, VERSION};
pub use parse::{Yaml, YamlFault, YamlValue, front_matter, yaml};
pub use prove::{Coverage, Cut, Kind, Mutant, Proof, Proven};
pub use reference::language_reference;
pub use relay_engine::nearest::nearest;
pub use resolve::{Mark, MarkKind, marks};
pub use secret::masked_text;
pub use shipped_policy::is_shipped;
pub use show::{Effective, OwnProgram, OwnVariables, facts_kdl};
pub use source::{
    FileId, Files, Listed, ReadError, SourceFile, Sources, Span, Spanned, Take, Texts, is_shown,
};

/// The most tenants whose calls are resolved for the largest text of skills; the others have an
/// upper bound.
const SKILL_TEXT_TENANTS_MAX: usize = 64;

/// The result of compiling a project.
pub struct Compiled {
    /// The bundle, still unsigned; absent exactly when `diagnostics` holds an error, or a warning
    /// in a strict build.
    pub bundle: Option<Vec<u8>>,
    /// The bundle of a project whose only errors are expectations that do not hold, for answers that
    /// show why. No one is to be served from it.
    pub unproved: Option<Vec<u8>>,
    /// The effective project, as far as it could be understood.
    pub effective: Option<Effective>,
    /// The largest text of skills for a call of each tenant, the largest first; empty if the bundle
    /// or its skills are absent.
    pub skill_texts: Vec<SkillText>,
    /// The errors, warnings and notes of all stages.
    pub diagnostics: Diagnostics,
    /// The results of the `expect`s, for each environment that was compiled.
    pub proven: Vec<Proven>,
    /// The error of reading the project's own document, which leaves all else unknown. Callers
    /// check it first, but it may vanish after that.
    pub unread: Option<ReadError>,
}

/// The largest text of skills for the calls of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// The tenant; absent for callers without one.
    pub tenant: Option<String>,
    /// The tool of the call, if it is named and known.
    pub tool: Option<String>,
    /// The user of the call; absent if it is any user, or unknown.
    pub user: Option<String>,
    /// Bytes of the text.
    pub bytes: usize,
    /// Whether `bytes` is an upper bound that calls may fall short of.
    pub is_bound: bool,
}

/// A project whose documents were parsed, to be compiled for several environments.
pub struct Parsed<'s> {
    sources: &'s Sources<'s>,
    options: &'s Options,
    ast: ast::Ast,
    /// The parser's diagnostics; the first compilation takes them.
    found: Option<Diagnostics>,
    /// Whether the documents have errors, so that no environment gives a bundle.
    has_errors: bool,
}

impl<'s> Parsed<'s> {
    /// Parses the documents of `sources`. The environment of `options` is ignored.
    #[must_use]
    pub fn new(sources: &'s Sources<'s>, options: &'s Options) -> Self {
        let mut found = Diagnostics::new(options.strict);
        let ast = parse::project(sources, &mut found);
        let has_errors = found.has_errors();
        Self { sources, options, ast, found: Some(found), has_errors }
    }

    /// Returns the environments that the project names, sorted.
    #[must_use]
    pub fn environments(&self) -> Vec<String> {
        resolve::environments(&self.ast)
    }

    /// Compiles the project for one environment, or for the base.
    ///
    /// The first call also returns the parser's diagnostics. A node that is idle in this
    /// environment may be used in another. [`compile()`] and [`check()`] compare the environments
    /// and report nodes that are idle in all.
    #[must_use]
    pub fn compile(&mut self, environment: Option<&str>) -> Compiled {
        // The limit holds for each bundle.
        self.sources.template_cost().set(0);
        let out = self.found.take().unwrap_or_else(|| Diagnostics::new(self.options.strict));
        self.compile_environment(environment, out)
    }

    /// Compiles a project in one environment; idle nodes are still to be settled. The bundle is
    /// absent if the documents have errors, reported in this environment or in another one.
    fn compile_environment(&self, environment: Option<&str>, mut out: Diagnostics) -> Compiled {
        let Self { sources, options, ast, found: _, has_errors } = self;
        let mut proven =
            Proven { environment: environment.map(str::to_owned), ..Proven::default() };
        let Some(model) = resolve::project(sources, ast, options, environment, &mut out) else {
            let unread = sources.load(sources.root()).err();
            return Compiled {
                bundle: None,
                unproved: None,
                effective: None,
                skill_texts: Vec::new(),
                diagnostics: out,
                proven: vec![proven],
                unread,
            };
        };
        let texts = check::run(sources, &model, &mut out);
        let effective = Effective::of(sources, &model);
        let (mut bundle, mut unproved) = (None, None);
        let mut skill_texts = Vec::new();
        if !*has_errors && !out.has_errors() {
            skill_texts = self::skill_texts(&model);
            let named_at = model.project.name.at;
            let declared = prove::Declared::of(&model);
            let contents = lower::contents(sources, options, model, &effective);
            texts.check_contents(sources, &contents, &mut out);
            bundle = encode::bundle(&contents, named_at, &mut out).filter(|_| !out.has_errors());
            if let Some(bytes) = bundle.take() {
                let (bytes, shown) =
                    prove::run(sources, bytes, (&declared, options.mutants), named_at, &mut out);
                proven = Proven { environment: proven.environment, ..shown };
                match out.has_errors() {
                    true => unproved = Some(bytes),
                    false => bundle = Some(bytes),
                }
            }
        }
        Compiled {
            bundle,
            unproved,
            effective: Some(effective),
            skill_texts,
            diagnostics: out,
            proven: vec![proven],
            unread: None,
        }
    }
}

/// Compiles the project in `sources`, for the environment of `options`.
///
/// Runs as many stages as the input allows, so that one run reports as much as it can.
pub fn compile(sources: &Sources<'_>, options: &Options) -> Compiled {
    let mut parsed = Parsed::new(sources, options);
    let mut compiled = parsed.compile(options.environment.as_deref());
    let mut used = compiled.diagnostics.take_used();
    if compiled.diagnostics.is_unsettled() {
        // A node that is idle here may be used in another environment.
        let others = parsed.environments().into_iter().map(Some).chain([None]);
        for other in others.filter(|other| *other != options.environment) {
            let other = parsed.compile(other.as_deref());
            used.append(&mut { other.diagnostics }.take_used());
        }
    }
    compiled.settle(&used);
    compiled
}

/// Checks the project in `sources`: in the base and in each that it names, or in the one of
/// `options`.
///
/// A diagnostic that several environments share is reported once. The bundle is that of the base;
/// it is absent if any environment has errors.
pub fn check(sources: &Sources<'_>, options: &Options) -> Compiled {
    if options.environment.is_some() {
        return compile(sources, options);
    }
    let mut parsed = Parsed::new(sources, options);
    let mut compiled = parsed.compile(None);
    let mut used = compiled.diagnostics.take_used();
    let mut others = Vec::new();
    for environment in parsed.environments() {
        let mut other = parsed.compile(Some(&environment));
        used.append(&mut other.diagnostics.take_used());
        compiled.proven.append(&mut other.proven);
        others.push((environment, other.diagnostics));
    }
    compiled.settle(&used);
    for (environment, mut diagnostics) in others {
        diagnostics.settle(&used);
        compiled.diagnostics.join(&environment, diagnostics);
    }
    if compiled.diagnostics.has_errors() {
        compiled.bundle = None;
    }
    compiled
}

fn skill_texts(model: &model::Model) -> Vec<SkillText> {
    let known = model.known_tool_names();
    let worst = worst_case::by_tenant(model, &known, SKILL_TEXT_TENANTS_MAX);
    let text = |WorstCase { bytes, tenant, tool, user, is_bound }| SkillText {
        tenant,
        tool,
        user,
        bytes,
        is_bound,
    };
    worst.into_iter().map(text).collect()
}

impl Compiled {
    /// Reports things that are idle in every environment.
    fn settle(&mut self, used: &BTreeSet<Span>) {
        self.diagnostics.settle(used);
        if self.diagnostics.has_errors() {
            self.bundle = None;
        }
    }
}

/// Returns the KDL documents of the project in `sources`: the first one and all its includes, in
/// the order of the text.
///
/// Faults are reported by [`compile`] and [`format()`]; the includes of a document with syntax
/// faults are unknown.
#[must_use]
pub fn documents(sources: &Sources<'_>) -> Vec<FileId> {
    let ast = parse::project(sources, &mut Diagnostics::new(false));
    ast.documents.iter().map(|document| document.file).collect()
}

/// Formats one KDL document; `None` if it has syntax faults, which are reported.
///
/// Formatting twice gives the same text; comments and the meaning of the document stay.
pub fn format(sources: &Sources<'_>, file: FileId, out: &mut Diagnostics) -> Option<String> {
    parse::format(file, sources.file(file).bytes(), out)
}
