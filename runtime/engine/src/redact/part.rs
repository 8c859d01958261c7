//! The part of a value that is secret: the password of `user:password`, the values of cookies.

use std::ops::Range;

use super::found::Found;
use super::plain::is_plain;
use super::program::Part;
use super::text::Text;
use super::value::Value;

/// Passwords that say that the user is a token: `-u TOKEN:x-oauth-basic`.
const NO_PASSWORDS: &[&[u8]] = &[b"", b"x", b"X", b"x-oauth-basic", b"api_token", b"token"];

/// The fewest characters of a user that may be a token.
pub(super) const USER_TOKEN_CHARS_MIN: usize = 12;

/// Attributes of a cookie, which are public.
const ATTRIBUTES: &[&str] =
    &["domain", "expires", "max-age", "path", "priority", "samesite", "version"];

/// Flags of a cookie.
const FLAGS: &[&[u8]] = &[b"httponly", b"partitioned", b"secure"];

/// Adds the secret part of a value. Returns whether it has one.
pub(super) fn hide(text: &Text<'_>, value: &Value, part: Part, found: &mut Found) -> bool {
    let inner = value.inner.clone();
    let secret = match part {
        Part::Whole => Some(inner),
        Part::After(byte) => {
            let at = text.find(inner.clone(), byte);
            // `/nolog` of `sqlplus` is a mode.
            at.filter(|at| byte != b'/' || *at > inner.start).map(|at| at + 1..inner.end)
        }
        Part::User => user(text, inner),
        Part::Source => text.has(inner.start, b"pass:").then_some(inner.start + 5..inner.end),
        Part::Cookies => {
            let has_values = text.find(inner.clone(), b'=').is_some();
            if has_values {
                cookies(text, inner, found);
            }
            return has_values;
        }
    };
    // A part that begins within a quote of its own would leave that quote open.
    let is_within = |range: &Range<usize>| {
        let before = text.get(value.inner.start..range.start);
        let count = |quote: u8| before.iter().filter(|byte| **byte == quote).count();
        count(b'\'') % 2 == 1 || count(b'"') % 2 == 1
    };
    let secret = secret.map(|range| if is_within(&range) { value.inner.clone() } else { range });
    match secret {
        Some(range) if !is_plain(text.get(range.clone()), value.quoting) => {
            found.add(range);
            true
        }
        _ => false,
    }
}

/// Returns the password of `user:password`, or the user if that is a token.
fn user(text: &Text<'_>, inner: Range<usize>) -> Option<Range<usize>> {
    let at = text.find(inner.clone(), b':')?;
    let is_token = at - inner.start >= USER_TOKEN_CHARS_MIN
        && NO_PASSWORDS.contains(&text.get(at + 1..inner.end));
    Some(if is_token { inner.start..at } else { at + 1..inner.end })
}

/// Adds the value of each cookie. A part without `=` is a value itself, if it is not a flag.
pub(super) fn cookies(text: &Text<'_>, range: Range<usize>, found: &mut Found) {
    let mut start = range.start;
    while start < range.end {
        let end = text.find(start..range.end, b';').unwrap_or(range.end);
        let from = text.skip_blanks(start);
        let secret = text.find(from..end, b'=').map_or(from, |at| at + 1);
        let name = text.get(from..end.min(secret.max(from + 1) - 1));
        let is_flag = secret == from && FLAGS.contains(&&*text.get(from..end).to_ascii_lowercase());
        if !is_flag && !is_attribute(name) {
            found.add(trimmed(text, secret..end));
        }
        start = end + 1;
    }
}

/// Returns a range without blanks and quotes at its ends; empty if a mark or a reference is left.
fn trimmed(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    let bytes = text.get(range.clone());
    let is_around = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"');
    let before = bytes.iter().take_while(|byte| is_around(byte)).count();
    let after = bytes.iter().rev().take_while(|byte| is_around(byte)).count();
    let (start, end) = (range.start + before, range.end.saturating_sub(after));
    if start >= end || is_plain(text.get(start..end), super::plain::Quoting::Double) {
        return range.start..range.start;
    }
    start..end
}

fn is_attribute(name: &[u8]) -> bool {
    ATTRIBUTES.iter().any(|attribute| name.eq_ignore_ascii_case(attribute.as_bytes()))
}
