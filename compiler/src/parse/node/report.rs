//! The faults of nodes, their arguments and their properties.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::{Edit, Fixable};
use crate::source::Span;

/// Every line of a project has an effect: a mistyped node that is ignored would be a rule that
/// agents never get.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown node `{name}` in {what}")]
#[diagnostic(code(node::unknown))]
pub(super) struct UnknownNode {
    pub(super) name: String,
    pub(super) what: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "not known here")]
    pub(super) at: Span,
}

/// The name has a meaning in a later version of relay. Another meaning today would change projects
/// with an update.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is not in this version of relay")]
#[diagnostic(
    code(node::reserved),
    help(
        "the name is kept for {purpose}, which come with a later version; remove the node until then"
    )
)]
pub(super) struct Reserved {
    pub(super) name: String,
    pub(super) purpose: &'static str,
    #[label(primary, "nothing would enforce this")]
    pub(super) at: Span,
}

/// With two nodes, their order would decide which one counts.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is declared twice")]
#[diagnostic(code(node::duplicate), help("keep one of them"))]
pub(in crate::parse) struct DuplicateNode {
    pub(in crate::parse) name: String,
    #[label("first here")]
    pub(in crate::parse) first_at: Span,
    #[label(primary, "again here")]
    pub(in crate::parse) at: Span,
}

/// The node is named, or set, by the value that follows it.
#[derive(Debug, Error, Diagnostic)]
#[error("`{node}` needs {what}")]
#[diagnostic(code(node::missing_argument))]
pub(super) struct MissingArgument {
    pub(super) node: String,
    pub(super) what: &'static str,
    #[help]
    pub(super) help: String,
    #[label(primary, "nothing follows")]
    pub(super) at: Span,
}

/// An unread value would have no effect. The usual causes are missing quotes and a missing `=`.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} takes {taken} value{} here", if *taken == 1 { "" } else { "s" })]
#[diagnostic(code(node::extra_argument))]
pub(super) struct ExtraArgument {
    pub(super) what: String,
    pub(super) taken: usize,
    pub(super) count: usize,
    #[help]
    pub(super) help: String,
    #[label(primary, "{count} too many")]
    pub(super) at: Span,
    pub(super) edits: Vec<Edit>,
}

impl Fixable for ExtraArgument {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// Every line of a project has an effect: a mistyped property that is ignored would leave its
/// setting at the default.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown property `{name}` of {what}")]
#[diagnostic(code(property::unknown))]
pub(super) struct UnknownProperty {
    pub(super) name: String,
    pub(super) what: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "not known here")]
    pub(super) at: Span,
}

/// A reviewer decides by the reason. The dots of an example say nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("`{text}` gives no reason")]
#[diagnostic(
    code(property::no_reason),
    help("write why, in words: a reviewer decides by the reason")
)]
pub(super) struct NoReason {
    pub(super) text: String,
    #[label(primary, "no word in it")]
    pub(super) at: Span,
}

/// KDL takes the last of the two in silence, and a reviewer may have read the first.
#[derive(Debug, Error, Diagnostic)]
#[error("property `{name}` is given twice")]
#[diagnostic(code(property::duplicate), help("keep one; KDL alone would silently take the last"))]
pub(super) struct DuplicateProperty {
    pub(super) name: String,
    #[label("first here")]
    pub(super) first_at: Span,
    #[label(primary, "again here")]
    pub(super) at: Span,
}
