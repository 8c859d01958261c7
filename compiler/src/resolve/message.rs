//! The texts that the server itself says: written, or built in.

use miette::Diagnostic;
use thiserror::Error;

use super::file;
use crate::ast::SystemMessage;
use crate::diagnostic::Diagnostics;
use crate::model::SystemText;
use crate::source::{Sources, Span};

/// The greeting of projects that write none.
const GREETING: &str = "This server gives you the prompts and resources of {{project_name}}, as \
the people who run it reviewed and signed them. Before you work on something that one of them \
covers, read that one first: it may hold a rule that you cannot know otherwise.

Prompts:
{{prompt_index}}";

pub(super) fn greeting(
    sources: &Sources<'_>,
    written: Vec<SystemMessage>,
    out: &mut Diagnostics,
) -> SystemText {
    let built_in = SystemText { text: GREETING.into(), at: None, file: None };
    let mut written = written.into_iter();
    let Some(message) = written.next() else { return built_in };
    for again in written {
        let (first_at, at) = (message.name.at, again.name.at);
        out.report(at, Duplicate { name: again.name.value, first_at, at });
    }
    let at = message.name.at;
    match (message.body.text, message.body.file) {
        (Some(text), Some(file)) => {
            out.report(file.at, TwoTexts { first_at: text.at, at: file.at });
            built_in
        }
        (Some(text), None) => SystemText { text: text.value, at: Some(text.at), file: None },
        (None, Some(path)) => match file::read_text(sources, &path, out) {
            Some((id, read)) => {
                let text = file::normalized(read.text().unwrap_or_default());
                SystemText { text: text.trim_end().into(), at: Some(path.at), file: Some(id) }
            }
            None => built_in,
        },
        (None, None) if message.body.broken => built_in,
        (None, None) => {
            out.report(at, NoText { name: message.name.value, at });
            built_in
        }
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` is written twice")]
#[diagnostic(code(message::duplicate), help("keep one of them"))]
struct Duplicate {
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the message has both a text and a file")]
#[diagnostic(code(message::two_texts), help("keep one of them"))]
struct TwoTexts {
    #[label("the text")]
    first_at: Span,
    #[label(primary, "the file")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` has no text")]
#[diagnostic(
    code(message::no_text),
    help(
        "write the text behind the name, or `file=\"…\"`; a message can be changed, never removed"
    )
)]
struct NoText {
    name: String,
    #[label(primary, "says nothing")]
    at: Span,
}
