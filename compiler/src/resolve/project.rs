//! The one `project` node of a project.

use miette::Diagnostic;
use thiserror::Error;

use super::name;
use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::model::{Project, Setting};
use crate::source::{FileId, Span};

pub(super) fn project(
    nodes: Vec<ast::Project>,
    epoch: Option<u64>,
    root: FileId,
    out: &mut Diagnostics,
) -> Option<Project> {
    let mut nodes = nodes.into_iter();
    let Some(node) = nodes.next() else {
        let at = root.span(0, 0);
        out.report(at, MissingProject { at });
        return None;
    };
    for again in nodes {
        out.report(again.at, SecondProject { first_at: node.at, at: again.at });
    }
    let name = node.name.filter(|name| name::check(name, "project", out))?;
    let mut settings = node.settings;
    if let Some(value) = epoch {
        // `--epoch` counts as written: at the project's name.
        settings.epoch = Setting { value, at: Some(name.at) };
    }
    Some(Project { name, settings })
}

/// Servers, clients and audit records name a bundle by its project, so each project has one
/// `project` node.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has no `project` node")]
#[diagnostic(
    code(project::missing),
    help("begin with its name and version: `project my-team version=\"1.0.0\"`")
)]
struct MissingProject {
    #[label(primary, "it belongs here")]
    at: Span,
}

/// A bundle is of one project, and its name and epoch are in one place.
#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `project` node")]
#[diagnostic(code(project::second), help("remove this one; included documents have none"))]
struct SecondProject {
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "a second one")]
    at: Span,
}
