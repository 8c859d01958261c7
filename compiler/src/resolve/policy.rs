//! The one `policy` node of a project: floors and paths.

mod shipped;

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::PathKind;
use relay_policy::path_rules::{PATTERNS_MAX, PathPattern, PatternError};
use relay_policy::paths::may_be_scratch;
use relay_policy::tier::{Floor, Tier};
use thiserror::Error;

use crate::ast::{FloorSetting, PathSettings, Policy};
use crate::diagnostic::Diagnostics;
use crate::setting::Entry;
use crate::source::{Sources, Span, Spanned};

/// Resolves the policy; `None` if the project has none.
pub(super) fn policy(
    sources: &Sources<'_>,
    nodes: Vec<Policy>,
    out: &mut Diagnostics,
) -> Option<Policy> {
    let mut nodes = nodes.into_iter();
    let node = nodes.next()?;
    for again in nodes {
        out.report(again.at, SecondPolicy { first_at: node.at, at: again.at });
    }
    for (floor, setting) in node.floors.iter() {
        check_floor(floor, setting, out);
    }
    let node = shipped::joined(sources, node, out);
    check_paths(&node.paths, node.at, out);
    Some(node)
}

/// Returns the written reason, unless it is empty.
pub(super) fn reason(because: Option<&Spanned<String>>) -> Option<Spanned<String>> {
    because.filter(|because| !because.value.trim().is_empty()).cloned()
}

fn check_floor(floor: Floor, setting: &FloorSetting, out: &mut Diagnostics) {
    let FloorSetting { at, tier, because } = setting;
    let Some(at) = *at else { return };
    let (name, default) = (floor.name(), floor.default_tier());
    match (reason(because.as_ref()), tier.value < default) {
        (None, true) => out.report(at, LowFloor { name, default, at }),
        (Some(because), false) => {
            let at = because.at;
            out.report(at, IdleFloorReason { name, default, at });
        }
        (Some(_), true) | (None, false) => {}
    }
}

fn check_paths(rows: &[Entry<PathSettings>], policy_at: Span, out: &mut Diagnostics) {
    let mut first_at: HashMap<(PathKind, &str), Span> = HashMap::new();
    let mut count = 0;
    for row in rows {
        let PathSettings { patterns: written, except } = &row.settings;
        count += written.iter().chain(except).map(Vec::len).sum::<usize>();
        let kind = row.kind();
        let mut patterns = Vec::new();
        for text in written.iter().flatten() {
            let Some(pattern) = read(text, out) else { continue };
            if let Some(first_at) = first_at.insert((kind, &*text.value), text.at) {
                let (kind, at) = (row.rule.name, text.at);
                out.report(at, PathTwice { kind, first_at, at });
            }
            if kind == PathKind::Scratch && !may_be_scratch(&pattern) {
                out.report(text.at, WideScratch { at: text.at });
            }
            patterns.push((pattern, text));
        }
        for text in except.iter().flatten() {
            let Some(except) = read(text, out) else { continue };
            let at = text.at;
            if patterns.iter().all(|(_, pattern)| except.covers(&pattern.value)) {
                out.report(at, ExceptAll { at });
            } else if !patterns.iter().any(|(pattern, _)| pattern.covers(&text.value)) {
                out.report(at, IdleExcept { at });
            }
        }
    }
    if count > PATTERNS_MAX {
        let at = rows.first().map_or(policy_at, |row| row.at);
        out.report(at, TooManyPaths { count, at });
    }
}

fn read(text: &Spanned<String>, out: &mut Diagnostics) -> Option<PathPattern> {
    PathPattern::new(&text.value)
        .map_err(|error| out.report(text.at, NoPath { error, at: text.at }))
        .ok()
}

/// With two nodes, their order would decide which settings count.
#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `policy` node")]
#[diagnostic(code(policy::second), help("put all of it into one"))]
struct SecondPolicy {
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "a second one")]
    at: Span,
}

/// A lower floor admits commands that no fact describes. The reviewer needs the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is lower than its default, {}, without a reason", default.number())]
#[diagnostic(code(policy::low_floor), help("add `because=\"…\"`; it shows in the review"))]
struct LowFloor {
    name: &'static str,
    default: Tier,
    #[label(primary, "lowers what is not known")]
    at: Span,
}

/// The reason looks as if the tier were lowered, and a reviewer would search for it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is not lower than its default, {}, and needs no reason", default.number())]
#[diagnostic(code(policy::idle_reason), severity(Warning), help("remove the `because`"))]
struct IdleFloorReason {
    name: &'static str,
    default: Tier,
    #[label(primary, "gives a reason for nothing")]
    at: Span,
}

/// A pattern that is read in another way than its author meant would match other paths.
#[derive(Debug, Error, Diagnostic)]
#[error("not a pattern of paths: {error}")]
#[diagnostic(
    code(policy::no_path),
    help(
        "a pattern begins with `/`, `~/`, `./` or `**/`; `*` matches letters within a part, `**` any parts"
    )
)]
struct NoPath {
    error: PatternError,
    #[label(primary, "cannot be matched")]
    at: Span,
}

/// The second row repeats the first, and a change of one alone would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("the pattern is `{kind}` twice")]
#[diagnostic(code(policy::path_twice), help("keep one of them"))]
struct PathTwice {
    kind: &'static str,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// In scratch, files are made and changed at tier 1. A tree of the system, a whole home, devices
/// and files that run or admit are never scratch.
#[derive(Debug, Error, Diagnostic)]
#[error("these paths cannot be scratch")]
#[diagnostic(
    code(policy::wide_scratch),
    help("name a folder that holds nothing but temporary files: `/srv/build/**`")
)]
struct WideScratch {
    #[label(primary, "a whole tree, or what stays as it is")]
    at: Span,
}

/// The exception was meant for another row, or is mistyped.
#[derive(Debug, Error, Diagnostic)]
#[error("no path of the row is excepted")]
#[diagnostic(
    code(policy::idle_except),
    help("write it as narrow as, or narrower than, a pattern of its row, or remove it")
)]
struct IdleExcept {
    #[label(primary, "excepts nothing")]
    at: Span,
}

/// The row would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("every path of the row is excepted")]
#[diagnostic(code(policy::except_all), help("remove the row, or narrow the exception"))]
struct ExceptAll {
    #[label(primary, "excepts all of it")]
    at: Span,
}

/// Each path of a command is compared with every pattern.
#[derive(Debug, Error, Diagnostic)]
#[error("{count} patterns of paths, and a project may have {PATTERNS_MAX}")]
#[diagnostic(code(policy::too_many_paths), help("join patterns with `*` and `**`"))]
struct TooManyPaths {
    count: usize,
    #[label(primary, "the first of them")]
    at: Span,
}
