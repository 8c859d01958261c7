//! The diagnostics of a document whose tokens are not nodes of KDL.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::{Edit, Fixable};
use crate::source::Span;

/// Children may nest this deep. The deepest node of the language is at 5.
pub(crate) const DEPTH_MAX: usize = 32;
/// The most nodes of one document.
pub(crate) const NODES_MAX: usize = 250_000;
/// After so many syntax faults the rest of a document stays unread.
pub(super) const FAULTS_MAX: usize = 100;

/// The document is not KDL. Its declarations are unknown, so the other faults of the project are
/// reported once it is readable.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(kdl::syntax))]
pub(super) struct Syntax {
    pub(super) message: String,
    #[help]
    pub(super) help: Option<String>,
    #[label(primary, "here")]
    pub(super) at: Span,
    pub(super) edits: Vec<Edit>,
}

impl Fixable for Syntax {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// KDL 1 writes keywords and raw strings in another way, so the same line would have another
/// meaning.
#[derive(Debug, Error, Diagnostic)]
#[error("this document is written in another version of KDL")]
#[diagnostic(
    code(kdl::version),
    help(
        "a project is KDL 2: write `/- kdl-version 2`, keywords with a `#`, raw strings as #\"…\"#"
    )
)]
pub(super) struct WrongVersion {
    #[label(primary, "not 2")]
    pub(super) at: Span,
}

/// The language itself nests far less, and a limit keeps hostile input from exhausting memory.
#[derive(Debug, Error, Diagnostic)]
#[error("children nest deeper than {DEPTH_MAX}")]
#[diagnostic(
    code(kdl::too_deep),
    help("no node of a project needs this; look for a brace too many")
)]
pub(super) struct NestedTooDeep {
    #[label(primary, "one too deep")]
    pub(super) at: Span,
}

/// The limit bounds the time of a build for any document.
#[derive(Debug, Error, Diagnostic)]
#[error("the document has more than {NODES_MAX} nodes")]
#[diagnostic(code(kdl::too_many_nodes), help("split it with `include`"))]
pub(super) struct TooManyNodes {
    #[label(primary, "one too many")]
    pub(super) at: Span,
}

/// After so many faults further ones say little, and the file is probably of another format.
#[derive(Debug, Error, Diagnostic)]
#[error("the document has more than {FAULTS_MAX} syntax faults")]
#[diagnostic(code(kdl::too_many_faults), help("fix these first; is it KDL at all?"))]
pub(super) struct TooManyFaults {
    #[label(primary, "not read from here")]
    pub(super) at: Span,
}
