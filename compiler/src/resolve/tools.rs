//! The one `tools` node of a project: the groups of tools that its server offers.

use miette::Diagnostic;
use relay_engine::tool as table;
use thiserror::Error;

use super::pattern;
use crate::ast::{self, OtherEffects, ToolChoice};
use crate::diagnostic::Diagnostics;
use crate::model::offer;
use crate::source::{Span, Spanned};

/// The tools of a project.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) offered: Vec<ToolChoice>,
    /// The names and patterns of other servers' tools.
    pub(super) other: Vec<Spanned<String>>,
    /// The effects of their arguments.
    pub(super) effects: Vec<OtherEffects>,
}

/// Resolves the offered tools and those of other servers; both lists are empty without a node.
pub(super) fn tools(nodes: Vec<ast::Tools>, out: &mut Diagnostics) -> Tools {
    let mut nodes = nodes.into_iter();
    let Some(node) = nodes.next() else { return Default::default() };
    for again in nodes {
        out.report(again.at, SecondTools { first_at: node.at, at: again.at });
    }
    let offered = node.groups.into_iter().filter(|choice| choice.settings.enabled.value);
    let mut other = pattern::valid(node.settings.other.unwrap_or_default(), out);
    other.retain(|Spanned { value: name, at }| {
        let Some(spec) = table::find(name) else { return true };
        out.report(*at, OwnTool { name: name.clone(), offer: offer(spec.group), at: *at });
        false
    });
    let offered = offered.collect();
    Tools { offered, other, effects: node.effects }
}

/// The name belongs to a tool of the server itself. `other` does not offer it, so callers would not
/// have it though the project names it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is a tool of this server, and `other` names those of other servers")]
#[diagnostic(code(tools::own), help("remove it here; `{offer}` offers the tool"))]
struct OwnTool {
    name: String,
    offer: &'static str,
    #[label(primary, "offers nothing")]
    at: Span,
}

/// With two nodes, their order would decide which settings count.
#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `tools` node")]
#[diagnostic(
    code(tools::second),
    help("put all groups into one; a `when` patches it for an environment")
)]
struct SecondTools {
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "a second one")]
    at: Span,
}
