//! Passwords and tokens before the host of a URL.

use std::ops::Range;

use memchr::memmem;

use super::found::Found;
use super::part::USER_TOKEN_CHARS_MIN;
use super::plain::{Quoting, is_plain, is_reference};
use super::text::{Text, is_blank};

/// The most bytes of a scheme: `postgresql+asyncpg`.
const SCHEME_BYTES_MAX: usize = 32;

/// Schemes whose users are names.
const USER_SCHEMES: &[&[u8]] = &[
    b"ssh",
    b"sftp",
    b"scp",
    b"git+ssh",
    b"ssh+git",
    b"svn+ssh",
    b"rsync",
    b"qemu+ssh",
    b"docker+ssh",
];

/// Users that say that the password is a token.
const USERS: &[&[u8]] =
    &[b"x-access-token", b"x-token-auth", b"gitlab-ci-token", b"administrator", b"x-oauth-basic"];

/// Adds the credentials of the URLs of a text.
pub(super) fn scan(text: &Text<'_>, found: &mut Found) {
    let all = text.get(0..text.len());
    let mut places = memmem::find_iter(all, b"://").peekable();
    let mut word_end = 0;
    while let Some(at) = places.next() {
        let start = at + 3;
        if start >= word_end {
            word_end = text.run(start, |byte| !is_blank(byte));
        }
        // A URL in another one, or joined to it by a comma, ends it.
        let next = places.peek().map_or(word_end, |next| (*next).min(word_end));
        url(text, at, start..next, found);
    }
}

fn url(text: &Text<'_>, at: usize, rest: Range<usize>, found: &mut Found) {
    let Some(scheme) = scheme(text, at) else { return };
    let end = end(text, scheme, &rest);
    let last = text.find_last(rest.start..end, b'@');
    let Some(last) =
        last.or_else(|| text.find_last(rest.clone(), b'@')).or_else(|| cut(text, &rest))
    else {
        return;
    };
    let delimiter =
        text.run(rest.start, |byte| !matches!(byte, b':' | b'/' | b'?' | b'#' | b'@')).min(last);
    match text.at(delimiter) {
        b':' if delimiter < last => password(text, delimiter + 1..last, found),
        _ if delimiter == last && text.is_cut_at(last) => found.add(rest.start..last),
        _ if delimiter == last => user(text, scheme, rest.start..last, at, found),
        _ => {}
    }
}

fn password(text: &Text<'_>, range: Range<usize>, found: &mut Found) {
    let bytes = text.get(range.clone());
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // `host:8080/path@2`: a port, which a path follows.
    let ends_port = |at: usize| bytes.get(at).is_some_and(|byte| b"/?#;,\"')|&".contains(byte));
    let variable = bytes.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(bytes.len());
    let is_variable = variable < bytes.len()
        && is_reference(bytes.get(..variable).unwrap_or_default(), Quoting::Double);
    let is_port = (digits > 0 && ends_port(digits)) || is_variable;
    let is_cut_port = text.is_cut_at(range.end) && digits == bytes.len();
    if !is_port && !is_cut_port && !is_plain(bytes, Quoting::Double) {
        found.add(range);
    }
}

fn user(text: &Text<'_>, scheme: usize, range: Range<usize>, at: usize, found: &mut Found) {
    let bytes = text.get(range.clone());
    let is_user = bytes.len() < USER_TOKEN_CHARS_MIN
        || USERS.contains(&bytes)
        || USER_SCHEMES.contains(&text.get(scheme..at))
        || is_plain(bytes, Quoting::Double);
    if !is_user {
        found.add(range);
    }
}

/// Returns the start of the scheme before `://`.
fn scheme(text: &Text<'_>, at: usize) -> Option<usize> {
    let before = text.get(at.saturating_sub(SCHEME_BYTES_MAX)..at);
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = before.iter().rev().take_while(|byte| is_in(byte)).count();
    (length > 0).then_some(at - length)
}

/// Returns the end of a URL: the quote around it, or an operator of the shell.
fn end(text: &Text<'_>, scheme: usize, rest: &Range<usize>) -> usize {
    let before = text.before(scheme);
    let quote = matches!(before, b'"' | b'\'' | b'`').then_some(before);
    let bytes = text.get(rest.clone());
    let is_end = |byte: &u8| match quote {
        Some(quote) => *byte == quote,
        None => matches!(byte, b';' | b'|' | b'<' | b'>' | b'"' | b'\'' | b'`'),
    };
    bytes.iter().position(is_end).map_or(rest.end, |length| rest.start + length)
}

/// Returns the end of a URL that is cut off before its `@`.
fn cut(text: &Text<'_>, rest: &Range<usize>) -> Option<usize> {
    text.is_cut_at(rest.end).then_some(rest.end)
}
