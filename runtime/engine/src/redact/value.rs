//! The value beside a name: where it begins, and where it ends.
//!
//! A quoted value ends at its closing quote, and where that is missing, with the text. A bare value
//! ends at a blank, at `;`, `&` or `|`, and at the quote that was opened before it. A command
//! substitution ends both: its commands stay in the record, and are scanned as others are.

use std::ops::Range;

use super::mark::MARKER;
use super::nesting::{Closer, Nesting, can_open, is_after_marker, quote_at};
use super::plain::Quoting;
use super::text::{Text, is_blank, is_terminator, is_word};

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// The bytes to hide.
    pub(super) inner: Range<usize>,
    /// The place after the value and its quotes.
    pub(super) end: usize,
    /// The quoting of the value.
    pub(super) quoting: Quoting,
}

/// Further characters that end a bare value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A word of a shell.
    Word,
    /// A number or a literal in JSON, which ends at `,`, `]` and `}`.
    Json,
    /// The default of a variable, which ends at `}`.
    Default,
}

/// Returns the value that begins at a place; `None` if it is empty.
pub(super) fn value(
    text: &Text<'_>,
    at: usize,
    ending: Ending,
    nesting: &Nesting,
) -> Option<Value> {
    let quote_start = at + usize::from(text.at(at) == b'$');
    let found = match quote_at(text, quote_start) {
        Some((closer, start)) if is_opening(text, quote_start, (closer, start), nesting) => {
            quoted(text, at, (closer, start), nesting)
        }
        _ => bare(text, at, ending, nesting),
    };
    (found.inner.start < found.inner.end).then_some(found)
}

/// Returns the value of an element of XML, up to the next tag.
pub(super) fn element(text: &Text<'_>, at: usize) -> Option<Value> {
    let end = text.find(at..text.len(), b'<').unwrap_or(text.len());
    (at < end).then_some(Value { inner: at..end, end, quoting: Quoting::Single })
}

/// Returns a list of JSON, with the lists in it.
pub(super) fn list(text: &Text<'_>, at: usize) -> Value {
    let (mut end, mut depth) = (at, 0_usize);
    while end < text.len() {
        match text.at(end) {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        end += 1;
        if depth == 0 {
            break;
        }
    }
    Value { inner: at..end, end, quoting: Quoting::Single }
}

fn is_opening(
    text: &Text<'_>,
    at: usize,
    (closer, after): (Closer, usize),
    nesting: &Nesting,
) -> bool {
    // In Markdown, a value after a colon may be between backticks. Elsewhere they are a command.
    let is_value =
        closer.byte != b'`' || (at > 1 && is_blank(text.at(at - 1)) && text.at(at - 2) == b':');
    is_value && !closes_outer(text, (closer, after), nesting)
}

/// Returns whether a quote closes one that was opened before. A quote before may be unmatched, so
/// one that a value follows opens it.
fn closes_outer(text: &Text<'_>, (closer, after): (Closer, usize), nesting: &Nesting) -> bool {
    let next = text.at(after);
    let is_value = !is_terminator(next) && !matches!(next, b'"' | b'\'' | b'`' | b'\\' | b'$');
    nesting.is_open(closer) && !is_value
}

fn quoted(
    text: &Text<'_>,
    at: usize,
    (closer, start): (Closer, usize),
    nesting: &Nesting,
) -> Value {
    let quoting = if closer.byte == b'"' { Quoting::Double } else { Quoting::Single };
    let (end, after) = match close(text, start, closer, Reach::Text) {
        Close::Closed { end, after } => (end, after),
        Close::Command(end) => return Value { inner: start..end, end, quoting },
        Close::Missing => (text.len(), text.len()),
    };
    let next = text.at(after);
    let is_outer = quote_at(text, after).is_some_and(|(outer, _)| nesting.is_open(outer));
    if is_terminator(next) || next == b'.' || is_outer {
        return Value { inner: start..end, end: after, quoting };
    }
    // The word goes on after the quote: `'it'\''s'`.
    let rest = bare(text, after, Ending::Word, nesting);
    if rest.inner.end > after {
        return Value { inner: at..rest.inner.end, end: rest.end, quoting };
    }
    Value { inner: start..end, end: after, quoting }
}

/// The farthest place of a closing quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Line,
    Text,
}

enum Close {
    Closed {
        end: usize,
        after: usize,
    },
    /// A command substitution in double quotes.
    Command(usize),
    Missing,
}

/// Finds the end of a quoted text. Backslashes before a quote say to which level it belongs: one
/// within quotes that have backslashes themselves has more of them.
fn close(text: &Text<'_>, start: usize, closer: Closer, reach: Reach) -> Close {
    let (mut at, mut slashes) = (start, 0_usize);
    while at < text.len() {
        let byte = text.at(at);
        if byte == b'\n' && reach == Reach::Line {
            break;
        }
        if byte == b'\\' {
            slashes += 1;
            at += 1;
            continue;
        }
        let is_closed = byte == closer.byte
            && match (closer.slashes, closer.byte) {
                (0, b'\'') => slashes % 2 == 0 || is_terminator(text.at(at + 1)),
                (0, _) => slashes % 2 == 0,
                (own, _) => slashes <= own,
            };
        if is_closed {
            return Close::Closed { end: at - slashes.min(closer.slashes), after: at + 1 };
        }
        let is_command = byte == b'`' || (byte == b'$' && text.at(at + 1) == b'(');
        let is_run = slashes == 0 || slashes == closer.slashes;
        if is_command && closer.byte == b'"' && is_run {
            return Close::Command(at - slashes);
        }
        slashes = 0;
        at += 1;
    }
    Close::Missing
}

fn bare(text: &Text<'_>, start: usize, ending: Ending, nesting: &Nesting) -> Value {
    let mut at = start;
    while at < text.len() {
        let byte = text.at(at);
        at = match byte {
            _ if is_blank(byte) => break,
            b';' | b'&' | b'|' => break,
            b',' | b']' if ending == Ending::Json => break,
            b'}' if matches!(ending, Ending::Json | Ending::Default) => break,
            b'$' if text.at(at + 1) == b'(' => break,
            b'[' if text.has(at, MARKER.as_bytes()) => at + MARKER.len(),
            b')' if nesting.is_open(Closer { byte: b')', slashes: 0 }) => break,
            b'\\' | b'"' | b'\'' | b'`' => match after_quote(text, at, nesting) {
                Some(after) => after,
                None => break,
            },
            _ => at + 1,
        };
    }
    let end = at.min(text.len());
    Value { inner: start..trimmed(text, start..end), end, quoting: Quoting::Bare }
}

/// Returns the place after a quoted part or an escaped character of a bare value; `None` if the
/// value ends before it.
fn after_quote(text: &Text<'_>, at: usize, nesting: &Nesting) -> Option<usize> {
    let Some((closer, start)) = quote_at(text, at) else {
        let after = text.run(at, |byte| byte == b'\\');
        // A backslash at the end of a line continues the command.
        let is_continued = text.at(after) == b'\n';
        return (!is_continued).then_some(after + usize::from((after - at) % 2 == 1));
    };
    let next = text.at(start);
    if is_after_marker(text, at)
        || (nesting.is_open(closer) && !is_word(next))
        || (is_terminator(next) && closer.slashes != 1)
    {
        return None;
    }
    match (closer.byte, closer.slashes) {
        (b'`', 0) => None,
        // A quote without a partner on its line is an apostrophe.
        (_, 0) => match close(text, start, closer, Reach::Line) {
            Close::Closed { after, .. } => Some(after),
            Close::Command(end) => Some(end),
            Close::Missing => Some(start),
        },
        _ => Some(start),
    }
}

/// Returns the end of a bare value without brackets and commas of the text around it.
fn trimmed(text: &Text<'_>, range: Range<usize>) -> usize {
    let is_own = [(b'(', b')'), (b'[', b']'), (b'{', b'}')]
        .map(|(open, close)| (close, text.find(range.clone(), open).is_some()));
    let mut end = range.end;
    while end > range.start {
        let last = text.before(end);
        let is_foreign = is_own.contains(&(last, false));
        if !is_foreign && last != b',' {
            break;
        }
        end -= 1;
    }
    end
}

/// The characters that end the value of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderKind {
    /// Credentials, up to an operator of the shell.
    Credentials,
    /// Cookies, with `;` between them.
    Cookies,
}

/// Returns the value of a header that is not quoted itself: up to the end of its line, to the quote
/// around the header, or to an operator of the shell. Commas and quoted parameters are inside.
pub(super) fn header(text: &Text<'_>, start: usize, kind: HeaderKind, nesting: &Nesting) -> Value {
    let mut at = start;
    // The credentials of AWS list names with `;` between them.
    let is_list = kind == HeaderKind::Cookies || text.has(start, b"AWS4-");
    while at < text.len() {
        let byte = text.at(at);
        at = match byte {
            b'\n' | b'\r' => break,
            b'$' if text.at(at + 1) == b'(' => break,
            b';' if is_list && is_item(text, at + 1, kind) => at + 1,
            b';' | b'&' | b'|' if !nesting.is_quoted() => break,
            b'\\' if matches!(text.at(at + 1), b'r' | b'n') => break,
            b'\\' | b'"' | b'\'' | b'`' => match after_parameter(text, at, nesting) {
                Some(after) => after,
                None => break,
            },
            _ => at + 1,
        };
    }
    let end = at.min(text.len());
    let inner = start..text.get(start..end).trim_ascii_end().len() + start;
    Value { inner, end, quoting: Quoting::Bare }
}

fn after_parameter(text: &Text<'_>, at: usize, nesting: &Nesting) -> Option<usize> {
    let Some((closer, start)) = quote_at(text, at) else {
        return Some(text.run(at, |byte| byte == b'\\'));
    };
    if nesting.is_open(closer) || closer.byte == b'`' || !can_open(text, at) {
        return None;
    }
    match close(text, start, closer, Reach::Line) {
        Close::Closed { after, .. } => Some(after),
        Close::Command(end) => Some(end),
        Close::Missing => None,
    }
}

/// Returns whether another cookie or name follows.
fn is_item(text: &Text<'_>, at: usize, kind: HeaderKind) -> bool {
    if kind == HeaderKind::Credentials {
        return text.at(at).is_ascii_alphanumeric();
    }
    let start = text.skip_blanks(at);
    let end = text.run(start, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let is_attribute = [&b"HttpOnly"[..], b"Secure"]
        .iter()
        .any(|name| text.get(start..end).eq_ignore_ascii_case(name));
    start < end && (text.at(end) == b'=' || is_attribute)
}
