//! A command without a tier.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::parse::facts::written::children;
use crate::parse::node::Node;
use crate::source::Span;

const TIER: &str = "tier";

/// Checks a program or sub-command. One that only holds sub-commands needs no tier.
pub(super) fn check(node: &Node, out: &mut Diagnostics) {
    // A tier of a wrong type or at the wrong place is reported as such.
    let is_written = node.properties.iter().any(|property| property.name.value == TIER)
        || children(node, &[TIER]).next().is_some();
    if !is_written && children(node, &["sub", "use"]).next().is_none() {
        let name = node.arguments.first().map(|name| name.at);
        let at = name.unwrap_or(node.name.at);
        out.report(at, NoTier { at });
    }
}

/// Without a tier its calls count as those of an unknown program, so that its other facts lower
/// nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("this command has no tier, so it counts as unknown")]
#[diagnostic(
    code(fact::no_tier),
    severity(Warning),
    help(
        "write `tier=0` if it reads, 1 if what it does can be undone, 2 if it changes something for others, 3 if it cannot be undone"
    )
)]
struct NoTier {
    #[label(primary, "its tier is not said")]
    at: Span,
}
