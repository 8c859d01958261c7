//! A skill whose text is empty.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// A text of white space alone has no effect. An empty skill with a topic is allowed: it overrides
/// the others of its topic.
#[derive(Debug, Error, Diagnostic)]
#[error("skill `{name}` says nothing")]
#[diagnostic(code(skill::empty), severity(Warning), help("write its text, or remove it"))]
struct SkillEmpty {
    name: String,
    #[label(primary, "its text is empty")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for skill in &model.skills.list {
        if skill.text.trim().is_empty() && skill.settings.topic.is_none() {
            let at = skill.name.at;
            out.report(at, SkillEmpty { name: skill.name.value.clone(), at });
        }
    }
}
