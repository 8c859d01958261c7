//! A project without contents for agents.
//!
//! It builds, and its server answers with empty lists, which looks like a fault of the server.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("project `{name}` has neither prompts nor resources nor a policy")]
#[diagnostic(
    code(project::empty),
    severity(Warning),
    help("add some: `prompts {{ prompt hello {{ text \"…\" }} }}`")
)]
struct EmptyProject {
    name: String,
    #[label(primary, "gives agents nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    // With errors, it may be empty only because its contents have faults.
    if out.error_count() > 0 {
        return;
    }
    if model.skills.list.is_empty()
        && model.prompts.is_empty()
        && model.resources.is_empty()
        && model.templates.is_empty()
        // A project that only guards has a policy, which decides in agents' own clients.
        && model.policy.is_none()
    {
        let at = model.project.name.at;
        out.report(at, EmptyProject { name: model.project.name.value.clone(), at });
    }
}
