//! KDL documents: bytes -> nodes, and the formatter.

mod layout;
mod scalar;
#[cfg(test)]
mod tests;
mod token;
mod tree;

use miette::Diagnostic;
use thiserror::Error;

use super::node::{Node, Value};
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span, Spanned};

pub(crate) use tree::VALUES_MAX;
pub(crate) use tree::report::{DEPTH_MAX, NODES_MAX};

/// The most bytes of one KDL document. Bodies belong into files of their own.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Parses a document into nodes; `None` if it has syntax faults, which are reported.
pub(super) fn parse(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Option<Vec<Node>> {
    tree::nodes(file, readable(file, bytes, out)?, out)
}

/// Formats a document; `None` if it has syntax faults, which are reported.
pub(crate) fn format(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Option<String> {
    let nodes = parse(file, bytes, out)?;
    let text = readable(file, bytes, out)?;
    let formatted = layout::layout(text);
    // The layout changes white space alone. If it ever took other text for white space, the
    // author's text is kept.
    let again = parse(file, formatted.as_bytes(), &mut Diagnostics::new(false));
    let same = again.is_some_and(|again| same_nodes(&again, &nodes));
    Some(if same { formatted } else { text.to_owned() })
}

/// Returns whether two documents have the same nodes, at any places.
fn same_nodes(a: &[Node], b: &[Node]) -> bool {
    fn value(a: &Value, b: &Value) -> bool {
        a.scalar == b.scalar && annotation(a.annotation.as_deref(), b.annotation.as_deref())
    }
    fn annotation(a: Option<&Spanned<String>>, b: Option<&Spanned<String>>) -> bool {
        a.map(|a| &a.value) == b.map(|b| &b.value)
    }
    fn list<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
    }
    list(a, b, |a, b| {
        a.name.value == b.name.value
            && annotation(a.annotation.as_deref(), b.annotation.as_deref())
            && list(&a.arguments, &b.arguments, value)
            && list(&a.properties, &b.properties, |a, b| {
                a.name.value == b.name.value && value(&a.value, &b.value)
            })
            && a.children.is_some() == b.children.is_some()
            && same_nodes(
                a.children.as_deref().unwrap_or_default(),
                b.children.as_deref().unwrap_or_default(),
            )
    })
}

fn readable<'t>(file: FileId, bytes: &'t [u8], out: &mut Diagnostics) -> Option<&'t str> {
    if bytes.len() > DOCUMENT_BYTES_MAX {
        let at = file.span(0, 0);
        out.report(at, TooLarge { bytes: bytes.len(), at });
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let start = error.valid_up_to();
            let at = file.span(start, start + 1);
            out.report(at, NotUtf8 { offset: start, at });
            return None;
        }
    };
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some((start, character)) = token::first_forbidden(body) {
        let start = start + text.len() - body.len();
        let at = file.span(start, start + character.len_utf8());
        out.report(at, ControlCharacter { code: character.into(), at });
        return None;
    }
    if let Some((language, end)) = foreign(body) {
        let start = text.len() - body.trim_start().len();
        let at = file.span(start, start + end);
        out.report(at, Foreign { language, at });
        return None;
    }
    Some(text)
}

/// Returns the language of a document in another format, and the bytes that show it.
fn foreign(text: &str) -> Option<(&'static str, usize)> {
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default().trim_end();
    match first.chars().next()? {
        '{' => Some(("JSON", 1)),
        '[' if first.ends_with(']') && first.len() > 2 => Some(("TOML", first.len())),
        '[' => Some(("JSON", 1)),
        '-' if first == "---" => Some(("YAML", first.len())),
        _ => None,
    }
}

/// A project has one language, so that a reviewer meets each setting in one form.
#[derive(Debug, Error, Diagnostic)]
#[error("the document is {language}, and a project is written in KDL")]
#[diagnostic(
    code(kdl::foreign),
    help(
        "write nodes: `project my-team version=\"1\"`, then `prompts {{ … }}`; `relay init` writes a project to begin with"
    )
)]
struct Foreign {
    language: &'static str,
    #[label(primary, "no node begins like this")]
    at: Span,
}

/// Documents are read as a whole. Long texts belong in files of their own, where they are easier to
/// review.
#[derive(Debug, Error, Diagnostic)]
#[error("the document has {bytes} bytes, over the limit of {DOCUMENT_BYTES_MAX}")]
#[diagnostic(
    code(kdl::too_large),
    help(
        "move long texts into files of their own (`file=`), or split the document with `include`"
    )
)]
struct TooLarge {
    bytes: usize,
    #[label(primary, "this document")]
    at: Span,
}

/// KDL documents are UTF-8. A wrong guess of another encoding would change texts.
#[derive(Debug, Error, Diagnostic)]
#[error("the document is not UTF-8: byte {offset} begins no character")]
#[diagnostic(code(kdl::not_utf8), help("save the file in UTF-8"))]
struct NotUtf8 {
    offset: usize,
    #[label(primary, "the text is readable up to here")]
    at: Span,
}

/// The character is invisible, or changes the direction of the text, so that a reviewer reads
/// another text than the signed one.
#[derive(Debug, Error, Diagnostic)]
#[error("the document holds the control character U+{code:04X}")]
#[diagnostic(
    code(kdl::control_character),
    help(
        "remove it: it is invisible, or makes a text look like another; in a string it is `\\u{{{code:x}}}`"
    )
)]
struct ControlCharacter {
    code: u32,
    #[label(primary, "here")]
    at: Span,
}
