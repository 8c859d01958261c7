//! `front-matter=drop`: the text of a prompt begins after the front matter of its file.
//!
//! Such a file was written for another program, and so was its front matter: it stays unread, and
//! may be something else than YAML.

use miette::Diagnostic;
use thiserror::Error;

use super::text::Text;
use crate::ast::FrontMatterUse;
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span, Spanned};

/// Returns the text less its front matter, if `setting` says so.
pub(super) fn used(
    sources: &Sources<'_>,
    text: Text,
    setting: Option<&Spanned<FrontMatterUse>>,
    out: &mut Diagnostics,
) -> Text {
    let Some(Spanned { value: FrontMatterUse::Drop, at }) = setting.cloned() else { return text };
    match text.without_front_matter(sources) {
        Ok(text) => text,
        Err(text) => {
            out.report(at, NothingToDrop { at });
            text
        }
    }
}

/// The text lacks front matter, so all of it is sent. Front matter is only in files: its first line
/// is `---`, and a later line `---` ends it.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no front matter to drop")]
#[diagnostic(
    code(prompt::no_front_matter),
    severity(Warning),
    help("remove `front-matter=drop`, or name a file whose first line is `---`")
)]
struct NothingToDrop {
    #[label(primary, "changes nothing")]
    at: Span,
}
