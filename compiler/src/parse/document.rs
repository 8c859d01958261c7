//! The only module that names the KDL parser: bytes -> nodes, and the formatter.

use kdl::{KdlDocument, KdlEntry, KdlNode, KdlValue};
use miette::Diagnostic;
use thiserror::Error;

use super::guard::{self, TooDeep};
use super::layout;
use super::node::{Node, Property, Scalar, Value};
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span, Spanned};

/// The most bytes of one KDL document. Bodies belong into files of their own.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Parses a document into nodes; `None` if it has syntax faults, which are reported.
pub(super) fn parse(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Option<Vec<Node>> {
    let text = readable(file, bytes, out)?;
    match KdlDocument::parse_v2(text) {
        Ok(document) => Some(document.nodes().iter().map(|node| convert(file, node)).collect()),
        Err(error) => {
            report_syntax(file, text, &error, out);
            None
        }
    }
}

/// Formats a document; `None` if it has syntax faults, which are reported.
pub(crate) fn format(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> Option<String> {
    let nodes = parse(file, bytes, out)?;
    let text = readable(file, bytes, out)?;
    let formatted = layout::layout(text);
    // The layout touches nothing but white space. Should it ever be wrong about what that is, the
    // author's text is kept.
    let again = parse(file, formatted.as_bytes(), &mut Diagnostics::new(false));
    let same = again.is_some_and(|again| same_nodes(&again, &nodes));
    Some(if same { formatted } else { text.to_owned() })
}

/// Returns whether two documents say the same, wherever they say it.
fn same_nodes(a: &[Node], b: &[Node]) -> bool {
    fn value(a: &Value, b: &Value) -> bool {
        a.scalar == b.scalar && annotation(a.annotation.as_ref(), b.annotation.as_ref())
    }
    fn annotation(a: Option<&Spanned<String>>, b: Option<&Spanned<String>>) -> bool {
        a.map(|a| &a.value) == b.map(|b| &b.value)
    }
    fn list<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
    }
    list(a, b, |a, b| {
        a.name.value == b.name.value
            && annotation(a.annotation.as_ref(), b.annotation.as_ref())
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
    if let Some(start) = text.find('\0') {
        let at = file.span(start, start + 1);
        out.report(at, NulCharacter { at });
        return None;
    }
    if let Err(TooDeep { at: start, what, limit }) = guard::check(text) {
        let at = file.span(start, start + 1);
        out.report(at, NestedTooDeep { what, limit, at });
        return None;
    }
    Some(text)
}

fn report_syntax(file: FileId, text: &str, error: &kdl::KdlError, out: &mut Diagnostics) {
    let mut reported: Vec<Span> = Vec::new();
    // Almost any fault also costs a brace, so a missing brace is reported only if it is the only fault.
    let brace = |fault: &&kdl::KdlDiagnostic| fault.label.as_deref() != Some("not closed");
    let others = error.diagnostics.iter().any(|fault| brace(&fault));
    for fault in error.diagnostics.iter().filter(|fault| brace(fault) || !others) {
        let (start, length) = (fault.span.offset(), fault.span.len());
        let found = text.get(start..start + length).unwrap_or_default();
        // The parser may point at everything since its last good place; the fault is at the end.
        let start = match found.trim_end().rfind('\n') {
            Some(line) if found.trim_start().len() > line => start + line + 1,
            _ => start,
        };
        let end =
            start + text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        let at = file.span(start, (start + length.max(1)).min(end.max(start + 1)));
        // One slip makes the parser stumble again over what follows it on the line.
        let line = |span: &Span| text.get(..span.start as usize).map(|t| t.matches('\n').count());
        if reported.iter().any(|before| line(before) == line(&at)) {
            continue;
        }
        reported.push(at);
        let word = text.get(at.start as usize..at.end as usize).unwrap_or_default();
        let (message, help) = explain(word, fault);
        out.report(at, Syntax { message, help, at });
    }
}

fn explain(word: &str, fault: &kdl::KdlDiagnostic) -> (String, Option<String>) {
    if matches!(word, "true" | "false" | "null" | "inf" | "-inf" | "nan") {
        let message = format!("the keyword `{word}` needs a `#`");
        return (message, Some(format!("write it as `#{word}`, or quote it: `\"{word}\"`")));
    }
    let message = fault.message.as_deref().or(fault.label.as_deref()).unwrap_or("syntax error");
    (in_our_words(message), fault.help.as_deref().map(in_our_words))
}

/// Returns a sentence of the parser as ours are written: no capital, no full stop.
fn in_our_words(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

fn convert(file: FileId, node: &KdlNode) -> Node {
    let name =
        Spanned { value: node.name().value().to_owned(), at: span(file, node.name().span()) };
    let mut arguments = Vec::new();
    let mut properties = Vec::new();
    for entry in node.entries() {
        match entry.name() {
            None => arguments.push(value(file, entry)),
            Some(key) => properties.push(Property {
                name: Spanned { value: key.value().to_owned(), at: span(file, key.span()) },
                value: value(file, entry),
            }),
        }
    }
    let children = node
        .children()
        .map(|children| children.nodes().iter().map(|node| convert(file, node)).collect());
    let annotation =
        node.ty().map(|ty| Spanned { value: ty.value().to_owned(), at: span(file, ty.span()) });
    Node { name, annotation, arguments, properties, children }
}

fn value(file: FileId, entry: &KdlEntry) -> Value {
    let whole = span(file, entry.span());
    let written = entry.format().map_or(0, |format| format.value_repr.len());
    let start = if written == 0 { whole.start as usize } else { whole.end as usize - written };
    let scalar = match entry.value() {
        KdlValue::String(text) => Scalar::Text(text.clone()),
        KdlValue::Integer(number) => Scalar::Integer(*number),
        KdlValue::Float(number) => Scalar::Float(number.to_string()),
        KdlValue::Bool(yes) => Scalar::Boolean(*yes),
        KdlValue::Null => Scalar::Null,
    };
    let annotation =
        entry.ty().map(|ty| Spanned { value: ty.value().to_owned(), at: span(file, ty.span()) });
    Value { scalar, annotation, at: file.span(start, whole.end as usize) }
}

fn span(file: FileId, span: miette::SourceSpan) -> Span {
    file.span(span.offset(), span.offset() + span.len())
}

#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(code(kdl::syntax))]
struct Syntax {
    message: String,
    #[help]
    help: Option<String>,
    #[label(primary, "here")]
    at: Span,
}

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

#[derive(Debug, Error, Diagnostic)]
#[error("the document is not UTF-8: byte {offset} begins no character")]
#[diagnostic(code(kdl::not_utf8), help("save the file in UTF-8"))]
struct NotUtf8 {
    offset: usize,
    #[label(primary, "the text is readable up to here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the document holds a NUL character")]
#[diagnostic(code(kdl::nul), help("remove it; a project is text"))]
struct NulCharacter {
    #[label(primary, "here")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{what} nest deeper than {limit}")]
#[diagnostic(
    code(kdl::too_deep),
    help("no node of a project needs this; look for a brace too many")
)]
struct NestedTooDeep {
    what: &'static str,
    limit: usize,
    #[label(primary, "one too deep")]
    at: Span,
}
