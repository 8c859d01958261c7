//! Texts that were written unquoted, and that KDL would read as something else.

use std::ops::Range;

use super::cursor::Cursor;
use crate::grammar::Rule;
use crate::language;
use crate::parse::document::scalar;
use crate::parse::document::token::Token;
use crate::parse::node::Scalar;
use crate::source::is_newline;

/// An unquoted text.
pub(super) struct Unquoted<'t> {
    pub(super) text: &'t str,
    /// The offset of its beginning.
    pub(super) from: usize,
    /// The offset of its end.
    pub(super) to: usize,
    /// The first token that no word of KDL is.
    pub(super) fault: Range<usize>,
}

/// Returns the text that begins with the next token if it needs quotes: a mark or a number in it would be
/// a fault. Properties after it, and other quotes around it, are for other reports. `around` returns the rule of the node
/// around its own, if that is known.
pub(super) fn text<'t>(
    cursor: &Cursor<'t>,
    around: impl FnOnce() -> Option<&'static Rule>,
) -> Option<Unquoted<'t>> {
    let (Token::Word, from, first) = cursor.next? else { return None };
    if first.starts_with(['\'', '`', '“', '”', '„', '‘', '’', '«', '»', '#']) {
        return None;
    }
    let (mut to, mut tokens, mut fault) = (from, 0, None);
    let mut is_apart = true;
    for (token, at, written) in cursor.rest_of_node() {
        // `//` in an address takes the braces after it along.
        let written = match token {
            Token::LineComment => written.trim_end_matches(['}', ' ', '\t']),
            _ => written,
        };
        let end = at + written.len();
        let is_fault = match token {
            // Keywords are values of their own.
            Token::Word if written.starts_with('#') => return None,
            Token::Space => {
                is_apart = true;
                continue;
            }
            Token::LineComment if is_apart => break,
            Token::Word => !matches!(scalar::decode(written), Ok(Scalar::Text(_))),
            Token::Text => false,
            Token::Stray | Token::AnnotationOpen | Token::AnnotationClose | Token::LineComment => {
                true
            }
            _ => return None,
        };
        if is_fault && fault.is_none() {
            fault = Some(at..end);
        }
        (to, tokens, is_apart) = (end, tokens + 1, false);
    }
    let fault = fault.filter(|_| tokens > 1 || cursor.slice(from, to).contains(','))?;
    let to = to + sentence_after(cursor.rest().get(to - from..).unwrap_or_default(), around());
    Some(Unquoted { text: cursor.slice(from, to), from, to, fault })
}

/// Returns the length of the rest of a sentence that goes on after a `;` on its line; 0 where a node of `around` may
/// begin.
fn sentence_after(rest: &str, around: Option<&Rule>) -> usize {
    let line = rest.split(is_newline).next().unwrap_or_default();
    let part = line.split(['{', '}', '"']).next().unwrap_or_default();
    let Some(after) = part.strip_prefix(';').filter(|_| !part.contains("//")) else { return 0 };
    let mut words = after.split([' ', '\t', '=']).filter(|word| !word.is_empty());
    let is_node = words.next().is_none_or(|word| match around {
        Some(rule) => rule.has_child(word),
        None => language::is_node(word) || language::is_text_property(word),
    });
    if is_node || words.next().is_none() || part.len() < line.len() && line.contains(['{', '"']) {
        return 0;
    }
    part.trim_end().len()
}
