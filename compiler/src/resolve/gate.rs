//! The one `gate` node of a project, with its defaults.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Gate;
use crate::source::Span;

/// Resolves the gate, by default the built-in one.
pub(super) fn gate(nodes: Vec<Gate>, out: &mut Diagnostics) -> Gate {
    let mut nodes = nodes.into_iter();
    let Some(node) = nodes.next() else { return Gate::default() };
    for again in nodes {
        if let (Some(first_at), Some(at)) = (node.at, again.at) {
            out.report(at, SecondGate { first_at, at });
        }
    }
    if !node.on.value {
        let Gate { at, on, first_settings, empty, .. } = node;
        return Gate { at, on, first_settings, empty, ..Gate::default() };
    }
    let mut gate = node;
    if gate.tags_ask.at.is_none() {
        gate.tags_ask.value = gate.tags_ask.value.min(gate.tags_max.value);
    }
    gate
}

/// With two nodes, their order would decide which settings count.
#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `gate` node")]
#[diagnostic(code(gate::second), help("keep one; a `when` patches it for an environment"))]
struct SecondGate {
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "a second one")]
    at: Span,
}
