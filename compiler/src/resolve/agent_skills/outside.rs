//! Files below a folder of agent skills that no client gets: those of no agent skill.

use miette::Diagnostic;
use relay_engine::agent_skill::SKILL_MD;
use thiserror::Error;

use super::roots::Roots;
use crate::diagnostic::Diagnostics;
use crate::source::{Listed, Span};

/// The beginnings of names of files that describe a folder to people.
const DESCRIPTIONS: [&str; 4] = ["README", "LICENSE", "NOTICE", "CHANGELOG"];
/// The most paths that a message lists.
const LISTED_MAX: usize = 3;

/// Reports the files below `folder` that are of no agent skill; `at` is the folder's path in the project.
pub(super) fn report(roots: &Roots<'_>, folder: &str, at: Span, out: &mut Diagnostics) {
    let outside = || roots.outside.iter().copied().filter(|file| file.fault.is_none());
    let (misnamed, others): (Vec<_>, Vec<_>) = outside().partition(|file| is_misnamed(file));
    if !misnamed.is_empty() {
        out.report(at, Misnamed { files: listed(&misnamed), at });
    }
    if roots.roots.is_empty() {
        // Another report says that the folder has no agent skill at all.
        return;
    }
    // Files beside another spelling would be of a skill with the right one.
    let mut would_be: Vec<&str> = misnamed.iter().map(|file| split(&file.path).0).collect();
    would_be.sort_unstable();
    let is_beside = |path: &str| {
        let ends = path.match_indices('/').map(|(end, _)| end + 1).chain([0]);
        ends.filter_map(|end| path.get(..end)).any(|above| would_be.binary_search(&above).is_ok())
    };
    let is_description = |path: &str| {
        let (above, name) = split(path);
        let name = name.to_ascii_uppercase();
        DESCRIPTIONS.iter().any(|start| name.starts_with(start)) && roots.has_below(above)
    };
    let mut others = others;
    others.retain(|file| !is_beside(&file.path) && !is_description(&file.path));
    if !others.is_empty() {
        let what = match others.len() {
            1 => format!("1 file below `{folder}` belongs"),
            count => format!("{count} files below `{folder}` belong"),
        };
        out.report(at, Outside { what, files: listed(&others), at });
    }
}

/// Returns whether the name of a file differs from `SKILL.md` by the case of letters alone.
fn is_misnamed(file: &Listed) -> bool {
    split(&file.path).1.eq_ignore_ascii_case(SKILL_MD)
}

/// Returns the folder of a path, with a `/` at the end unless it is empty, and the name.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |end| end + 1))
}

/// Returns the first paths for a message.
fn listed(files: &[&Listed]) -> String {
    let names: Vec<_> =
        files.iter().take(LISTED_MAX).map(|file| format!("`{}`", file.path)).collect();
    match files.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Hosts look for `SKILL.md` in this spelling. The folder of another one is left out, and agents miss
/// a skill that its author sees in its place.
#[derive(Debug, Error, Diagnostic)]
#[error("another spelling of `SKILL.md` makes no agent skill: {files}")]
#[diagnostic(
    code(agent_skills::misnamed),
    severity(Warning),
    help("rename the file to `SKILL.md`, or leave it out by `exclude`")
)]
struct Misnamed {
    files: String,
    #[label(primary, "below this folder")]
    at: Span,
}

/// Clients get the files of agent skills alone. A file beside them may be one that its author meant to
/// send.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} to no agent skill: {files}")]
#[diagnostic(
    code(agent_skills::outside),
    severity(Advice),
    help(
        "no client gets them: move them into the folder of a skill, or leave them out by `exclude`"
    )
)]
struct Outside {
    /// Their number and the folder.
    what: String,
    files: String,
    #[label(primary, "below this folder")]
    at: Span,
}
