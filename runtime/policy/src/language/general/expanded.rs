//! Code inside texts: `{…}` of Python, `#{…}` of Ruby, `${…}` of JavaScript, `{$…}` of PHP, `@{…}`
//! and subscripts of Perl.

use super::super::finding::is_word;
use crate::facts::Role;

/// The code in a text.
pub(super) struct Expanded {
    pub(super) parts: Vec<(usize, usize)>,
    /// Whether the end of each part is certain, and so the end of the text.
    pub(super) is_clear: bool,
}

/// The longest format of a value that surely is plain data.
const FORMAT_MAX: usize = 32;

/// Returns the code between the quotes of a text.
pub(super) fn expanded(language: Role, text: &[u8], start: usize, end: usize) -> Expanded {
    let mut parts = Vec::new();
    let text = text.get(..end).unwrap_or(text);
    if language == Role::Perl {
        let span = text.get(start..).unwrap_or(&[]);
        let is_code = span.windows(2).any(|pair| matches!(pair, b"@{" | b"${" | b"@(" | b"$("))
            || is_subscript_code(span);
        if is_code {
            parts.push((start, end));
        }
        let count = |sign: u8| span.iter().filter(|byte| **byte == sign).count();
        return Expanded { parts, is_clear: !is_code || count(b'{') == count(b'}') };
    }
    let mut at = start;
    while let Some(byte) = text.get(at) {
        let next = text.get(at + 1).copied().unwrap_or(0);
        let width = match (language, byte, next) {
            (Role::Python, b'{', b'{') => {
                at += 2;
                continue;
            }
            (Role::Python, b'{', _) | (Role::Php, b'{', b'$') => 1,
            (Role::Ruby, b'#', b'{') | (Role::Javascript | Role::Php, b'$', b'{') => 2,
            (Role::Python, ..) => 0,
            (_, b'\\', _) => {
                at += 2;
                continue;
            }
            _ => 0,
        };
        if width == 0 {
            at += 1;
            continue;
        }
        match part_end(language, text, at + width) {
            Some((code, close)) => {
                parts.push((at + width, code));
                at = close + 1;
            }
            None => {
                parts.push((at + width, end));
                return Expanded { parts, is_clear: false };
            }
        }
    }
    Expanded { parts, is_clear: true }
}

/// Returns the end of code, and the brace that closes it; `None` if a quote or a comment may hide
/// that brace.
fn part_end(language: Role, text: &[u8], start: usize) -> Option<(usize, usize)> {
    let mut at = start;
    let mut braces = 1usize;
    let mut brackets = 0usize;
    let mut format = None;
    let (mut has_quote, mut has_slash) = (false, false);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\'' | b'"' | b'`' => {
                has_quote = true;
                at = closing_quote(text, at)?;
            }
            b'#' => return None,
            b'/' => has_slash = true,
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 {
                    let is_pattern = has_slash && has_quote && language != Role::Python;
                    return (!is_pattern).then_some((format.unwrap_or(at), at));
                }
                // Code inside the format counts too.
                format = None;
            }
            b':' if language == Role::Python && braces == 1 && brackets == 0 => {
                let spec = text.get(at..).unwrap_or(&[]);
                let length = spec
                    .iter()
                    .take(FORMAT_MAX)
                    .position(|byte| matches!(byte, b'{' | b'}' | b'\'' | b'"'));
                if length.and_then(|length| spec.get(length)) == Some(&b'}') {
                    format.get_or_insert(at);
                }
            }
            _ => {}
        }
        if has_slash
            && matches!(text.get(at..at + 2), Some(b"//" | b"/*"))
            && language != Role::Python
        {
            return None;
        }
        at += 1;
    }
    None
}

/// Returns the position of the closing quote of a text, if any.
fn closing_quote(text: &[u8], start: usize) -> Option<usize> {
    let quote = text.get(start)?;
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether a text of Perl has a subscript other than a name or a number: it is code.
pub(super) fn is_subscript_code(span: &[u8]) -> bool {
    let mut at = 0;
    while let Some(byte) = span.get(at) {
        at += 1;
        if !matches!(byte, b'$' | b'@') {
            continue;
        }
        while span.get(at).is_some_and(|byte| is_word(*byte) || matches!(byte, b'$' | b':')) {
            at += 1;
        }
        loop {
            if span.get(at..at + 2) == Some(b"->") {
                at += 2;
            }
            let close = match span.get(at) {
                Some(b'[') => b']',
                Some(b'{') => b'}',
                _ => break,
            };
            let inside = span.get(at + 1..).unwrap_or(&[]);
            let length = inside.iter().position(|byte| *byte == close).unwrap_or(inside.len());
            let inside = inside.get(..length).unwrap_or(inside);
            let is_plain = inside
                .iter()
                .all(|byte| is_word(*byte) || matches!(byte, b'$' | b'-' | b'\'' | b'.'));
            let is_call =
                close == b']' && inside.first().is_some_and(|first| first.is_ascii_alphabetic());
            if !is_plain || is_call {
                return true;
            }
            at += 1 + length + 1;
        }
    }
    false
}
