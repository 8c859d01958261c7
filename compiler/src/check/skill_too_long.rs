//! A skill over the limit of characters.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// Each call that matches a skill gets its whole text, so a long one takes room from the task in
/// every call.
#[derive(Debug, Error, Diagnostic)]
#[error("skill `{name}` has {chars} characters, over the limit of {limit}")]
#[diagnostic(
    code(skill::too_long),
    help("shorten it, make a prompt of it, or raise `skills limit=(chars)…`")
)]
struct SkillTooLong {
    name: String,
    chars: usize,
    limit: u32,
    #[label(primary, "too long")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let limit = model.skills.limits.limit.value;
    for skill in &model.skills.list {
        let chars = skill.text.trim_end().chars().count();
        if chars > limit as usize {
            let at = skill.name.at;
            out.report(at, SkillTooLong { name: skill.name.value.clone(), chars, limit, at });
        }
    }
}
