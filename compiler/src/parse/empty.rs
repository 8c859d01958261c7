//! An empty block.

use miette::Diagnostic;
use thiserror::Error;

use super::node::Node;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Reports an empty block.
pub(super) fn check(node: &Node, out: &mut Diagnostics) {
    // Values without braces are reported; they were meant for its nodes.
    let is_meant = node.children.is_none() && !node.arguments.is_empty();
    if node.children.as_ref().is_none_or(Vec::is_empty) && !is_meant {
        let (name, at) = (node.name.value.clone(), node.name.at);
        out.report(at, EmptyBlock { name, at });
    }
}

/// An empty block looks as if it had an effect.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` holds nothing")]
#[diagnostic(code(node::empty), severity(Warning), help("put nodes into it, or remove it"))]
struct EmptyBlock {
    name: String,
    #[label(primary, "empty")]
    at: Span,
}
