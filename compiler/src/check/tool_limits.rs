//! Limits, folders and variables of tools that start processes.
//!
//! A default over its limit would be lowered in silence; a folder or a name that cannot be meant would
//! leave nothing to run in, or nothing to pass.

use miette::Diagnostic;
use relay_policy::location::Location;
use thiserror::Error;

use crate::ast::ToolChoice;
use crate::diagnostic::Diagnostics;
use crate::language::limits::{MAX_OUTPUT, MAX_TIMEOUT, OUTPUT, TIMEOUT};
use crate::measure::{BYTES, DURATION, Measure};
use crate::model::Model;
use crate::setting::Setting;
use crate::source::{Span, Spanned};

#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is more than `{max_name}`, which is {max}")]
#[diagnostic(code(policy::limit_over_max), help("lower it, or raise `{max_name}`"))]
struct LimitOverMax {
    name: &'static str,
    max_name: &'static str,
    max: String,
    #[label(primary, "over the limit")]
    at: Span,
}

/// A server counts nothing else by them.
#[derive(Debug, Error, Diagnostic)]
#[error("`limits`, and the project offers no tool that starts processes")]
#[diagnostic(
    code(policy::idle_limits),
    severity(Warning),
    help("offer some with `tools {{ shell }}` or `tools {{ sessions }}`, or remove it")
)]
struct IdleLimits {
    #[label(primary, "limits nothing")]
    at: Span,
}

/// The folder of a process is compared with it, part by part.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is not the plain path of a folder")]
#[diagnostic(
    code(tools::folder),
    help("write the folder from `/` on, without `.`, `..`, `~` and wildcards")
)]
struct NoFolder {
    path: String,
    #[label(primary, "names no folder")]
    at: Span,
}

/// No process could ask for it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is no name of a variable")]
#[diagnostic(
    code(tools::variable),
    help("write letters, digits and `_`, and a `*` at the end for all that begin so")
)]
struct NoVariable {
    name: String,
    #[label(primary, "names no variable")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for ToolChoice { group: _, settings } in &model.tools {
        for Spanned { value, at } in settings.folders.iter().flatten() {
            if !is_folder(value) {
                out.report(*at, NoFolder { path: value.clone(), at: *at });
            }
        }
        for Spanned { value, at } in settings.variables.iter().flatten() {
            if !is_variable(value) {
                out.report(*at, NoVariable { name: value.clone(), at: *at });
            }
        }
    }
    let Some((policy, _)) = &model.policy else { return };
    let limits = &policy.limits;
    if let (Some(at), false) = (limits.at, model.starts_processes()) {
        out.report(at, IdleLimits { at });
    }
    let (timeout, output) = (&limits.timeout_s, &limits.output_bytes);
    over(TIMEOUT, timeout, (MAX_TIMEOUT, &limits.timeout_s_max), &DURATION, out);
    over(OUTPUT, output, (MAX_OUTPUT, &limits.output_bytes_max), &BYTES, out);
}

/// Reports a default over its limit, at whichever of them is written.
fn over(
    name: &'static str,
    default: &Setting<u32>,
    (max_name, max): (&'static str, &Setting<u32>),
    measure: &'static Measure,
    out: &mut Diagnostics,
) {
    if let (true, Some(at)) = (default.value > max.value, default.at.or(max.at)) {
        let max = measure.written(max.value.into());
        out.report(at, LimitOverMax { name, max_name, max, at });
    }
}

fn is_folder(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "." | "..") && !part.contains(['*', '?', '[']);
    path.starts_with('/')
        && path.split('/').all(is_plain)
        && Location::new(Some(path), None).is_ok()
}

fn is_variable(name: &str) -> bool {
    let stem = name.strip_suffix('*').unwrap_or(name);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && stem.chars().all(is_letter)
}
