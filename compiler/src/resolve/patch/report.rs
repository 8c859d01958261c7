//! The diagnostics of patches.

use miette::Diagnostic;
use thiserror::Error;

use crate::source::Span;

/// A patch of an unknown name is probably mistyped, and the environment would differ from the
/// reviewed one. `new=#true` marks an addition.
#[derive(Debug, Error, Diagnostic)]
#[error("`when {environment}` patches the {what}, which the project does not have")]
#[diagnostic(code(when::unknown_name))]
pub(super) struct UnknownName {
    pub(super) environment: String,
    pub(super) what: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "patches nothing")]
    pub(super) at: Span,
}

/// The node of a `when` either patches a node of the project or adds one. With `new=#true` a prompt
/// would be replaced by mistake.
#[derive(Debug, Error, Diagnostic)]
#[error("`new=#true` adds the {what}, which the project already has")]
#[diagnostic(
    code(when::not_new),
    help("remove `new=#true`: then the node patches it; or rename the new one")
)]
pub(super) struct AlreadyThere {
    pub(super) what: String,
    #[label("already here")]
    pub(super) first_at: Span,
    #[label(primary, "not new")]
    pub(super) at: Span,
}

/// Outside of a `when` each node adds something, so `new` has no effect there.
#[derive(Debug, Error, Diagnostic)]
#[error("`new` is for nodes that a `when` adds")]
#[diagnostic(code(when::new_outside), help("remove it: this is added in any case"))]
pub(super) struct OutsideWhen {
    #[label(primary, "changes nothing here")]
    pub(super) at: Span,
}

/// The order of the patches would decide which one counts.
#[derive(Debug, Error, Diagnostic)]
#[error("`{setting}` of {what} is patched twice for `{environment}`")]
#[diagnostic(code(when::patched_twice), help("keep one of them"))]
pub(super) struct PatchedTwice {
    pub(super) setting: String,
    pub(super) what: String,
    pub(super) environment: String,
    #[label("first here")]
    pub(super) first_at: Span,
    #[label(primary, "again here")]
    pub(super) at: Span,
}

/// A patch that changes nothing is often mistyped. It also distracts the reviewer from the patches
/// that change something.
#[derive(Debug, Error, Diagnostic)]
#[error("the patch changes nothing: {reason}")]
#[diagnostic(
    code(when::changes_nothing),
    severity(Warning),
    help("remove it, or write what differs in this environment")
)]
pub(super) struct PatchesNothing {
    pub(super) reason: String,
    #[label("without the patch")]
    pub(super) first_at: Option<Span>,
    #[label(primary, "changes nothing")]
    pub(super) at: Span,
}
