//! A block that holds nothing.

use miette::Diagnostic;
use thiserror::Error;

use super::node::Node;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Reports a block without a node in it.
pub(super) fn check(node: &Node, out: &mut Diagnostics) {
    if node.children.as_ref().is_none_or(Vec::is_empty) {
        let (name, at) = (node.name.value.clone(), node.name.at);
        out.report(at, EmptyBlock { name, at });
    }
}

/// A node without content has no effect, and looks as if it had.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` holds nothing")]
#[diagnostic(code(node::empty), severity(Warning), help("put nodes into it, or remove it"))]
struct EmptyBlock {
    name: String,
    #[label(primary, "empty")]
    at: Span,
}
