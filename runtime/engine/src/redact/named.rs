//! Names and their separators, and the values that are harmless beside them.

use std::ops::Range;

use super::found::Found;
use super::mark::{MARKER, NAME_BYTES_MAX, PLAIN_BYTES_MAX};
use super::name::Secret;
use super::nesting::{Nesting, quote_at};
use super::plain::{Quoting, is_key_file, is_plain, is_prose};
use super::text::{Text, is_blank, is_name, is_terminator};
use super::value::{self, Ending, HeaderKind, Value};

/// Headers of credentials and cookies, and what their values hold.
const HEADERS: &[(&str, HeaderKind)] = &[
    ("authorization", HeaderKind::Credentials),
    ("proxy-authorization", HeaderKind::Credentials),
    ("x-authorization", HeaderKind::Credentials),
    ("cookie", HeaderKind::Cookies),
    ("set-cookie", HeaderKind::Cookies),
];

/// Schemes of HTTP authentication, which stay beside the mark.
const SCHEMES: &[&str] = &[
    "apikey",
    "aws4-hmac-sha256",
    "basic",
    "bearer",
    "bot",
    "digest",
    "dpop",
    "hawk",
    "hoba",
    "key",
    "mutual",
    "negotiate",
    "ntlm",
    "oauth",
    "privatetoken",
    "scram-sha-256",
    "sharedaccesssignature",
    "sharedkey",
    "token",
];

/// The fewest characters of a signature that is outside of a link.
const SIGNATURE_CHARS_MIN: usize = 20;

/// The separator between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `=`, `:=`, `=>`, `==`
    Equals,
    /// `:`
    Colon,
    /// `<name>value</name>`
    Element,
}

/// A separator after a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Separator {
    pub(super) kind: Kind,
    /// The place where the value begins.
    pub(super) value: usize,
    /// The characters that end a bare value.
    pub(super) ending: Ending,
    /// Whether blanks are between the separator and the value.
    pub(super) is_apart: bool,
    /// Whether the name is quoted, as keys of JSON are.
    pub(super) is_quoted: bool,
    /// Whether blanks are between the name and the separator.
    is_spaced: bool,
    /// Whether the name is that of a parameter of a link.
    is_parameter: bool,
    /// Whether the value is a list of JSON.
    pub(super) is_list: bool,
}

/// Returns the separator after a name.
pub(super) fn separator(text: &Text<'_>, start: usize, end: usize) -> Option<Separator> {
    if text.at(end) == b'>' && text.before(start) == b'<' && is_element(text, end + 1) {
        let (kind, value, ending) = (Kind::Element, end + 1, Ending::Word);
        return Some(Separator {
            kind,
            value,
            ending,
            is_apart: false,
            is_quoted: false,
            is_spaced: false,
            is_parameter: false,
            is_list: false,
        });
    }
    let (after_quote, is_quoted) = after_closing(text, end);
    let at = text.skip_blanks(after_quote);
    let (kind, after) = match (text.at(at), text.at(at + 1)) {
        (b'=', b'~') | (b':', b':') => return None,
        (b':', b'=') | (b'=', b'=' | b'>') => (Kind::Equals, at + 2),
        (b'=', _) => (Kind::Equals, at + 1),
        (b':', _) => (Kind::Colon, at + 1),
        _ => return None,
    };
    if text.before(start) == b'{' && start > 1 && text.at(start - 2) == b'$' {
        return default(text, at);
    }
    // `/etc/passwd: No such file`
    if kind == Kind::Colon && text.before(start) == b'/' {
        return None;
    }
    let next = text.skip_blanks(after);
    // `f'…'` and `b'…'` are quoted too.
    let is_prefixed = b"bfru".contains(&text.at(next)) && quote_at(text, next + 1).is_some();
    let value = next + usize::from(is_prefixed);
    let is_list = is_quoted && text.at(value) == b'[' && !text.has(value, MARKER.as_bytes());
    Some(Separator {
        kind,
        value,
        ending: if is_quoted && quote_at(text, value).is_none() {
            Ending::Json
        } else {
            Ending::Word
        },
        is_apart: next > after,
        is_quoted,
        is_spaced: at > after_quote,
        is_parameter: matches!(text.before(start), b'?' | b'&'),
        is_list,
    })
}

/// Returns the place of the default in `${NAME:-default}`.
fn default(text: &Text<'_>, at: usize) -> Option<Separator> {
    let is_default = text.at(at) == b':' && matches!(text.at(at + 1), b'-' | b'=');
    is_default.then_some(Separator {
        kind: Kind::Equals,
        value: at + 2,
        ending: Ending::Default,
        is_apart: false,
        is_quoted: false,
        is_spaced: false,
        is_parameter: false,
        is_list: false,
    })
}

/// Returns the place after the quotes, brackets and stars that close a name.
fn after_closing(text: &Text<'_>, end: usize) -> (usize, bool) {
    let quote = quote_at(text, end);
    let after = quote.map_or(end, |(_, after)| after);
    let stars = text.run(after, |byte| byte == b'*').min(after + 2);
    (stars + usize::from(text.at(stars) == b']'), quote.is_some())
}

/// Returns whether an element of XML ends with a tag.
fn is_element(text: &Text<'_>, at: usize) -> bool {
    text.find(at..text.len(), b'<').is_some_and(|end| text.at(end + 1) == b'/')
}

/// Returns the sort of a header; `None` unless it is one of credentials or cookies.
pub(super) fn header(name: &[u8]) -> Option<HeaderKind> {
    let found = HEADERS.iter().find(|(header, _)| name.eq_ignore_ascii_case(header.as_bytes()));
    found.map(|(_, kind)| *kind)
}

/// Returns the word at a place, up to a limit that words of sentences are within.
pub(super) fn first_word<'t>(text: &Text<'t>, at: usize) -> &'t [u8] {
    let near = text.get(at..at + NAME_BYTES_MAX);
    near.split(|byte| is_blank(*byte)).next().unwrap_or_default()
}

/// Returns the place of the credentials after their scheme.
pub(super) fn after_scheme(text: &Text<'_>, value: Range<usize>) -> usize {
    let end = text.run(value.start, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let after = text.skip_blanks(end).min(value.end);
    let scheme = text.get(value.start..end.min(value.end));
    if is_scheme(scheme) && after > end { after } else { value.start }
}

/// Returns whether a word is a scheme of HTTP authentication.
pub(super) fn is_scheme(word: &[u8]) -> bool {
    SCHEMES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns the token after `Bearer`; `None` if a word of a sentence follows.
pub(super) fn bearer(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    const WORD_CHARS_MAX: usize = 15;
    let end = text.run(at, |byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte));
    let token = text.get(at..end);
    let is_word = token.len() <= WORD_CHARS_MAX
        && token.iter().all(|byte| byte.is_ascii_lowercase() || b".-".contains(byte));
    // `Bearer realm="x"` is a challenge.
    let name = token.strip_suffix(b"=").unwrap_or_default();
    let is_parameter = text.at(end) == b'"'
        && !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
    (!is_word && !is_parameter && !token.is_empty()).then_some(at..end)
}

/// Returns a name without the dashes of a flag.
pub(super) fn without_dashes(name: &[u8]) -> &[u8] {
    let dashes = name.iter().take_while(|byte| **byte == b'-').count();
    name.get(dashes..).unwrap_or_default()
}

/// Returns whether a word begins at a place.
pub(super) fn is_word_start(text: &Text<'_>, at: usize) -> bool {
    let before = text.before(at);
    is_blank(before)
        || matches!(before, b'"' | b'\'' | b'`' | b'(' | b'[' | b',' | b'{' | b'|' | b';' | b'&')
}

/// Returns whether a name is that of a key in a list of pairs.
pub(super) fn is_key(name: &[u8]) -> bool {
    [&b"name"[..], b"key", b"Name", b"Key"].contains(&name)
}

/// Returns whether a name is that of a value in a list of pairs.
pub(super) fn is_value(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"value")
}

/// Returns whether the name of a secret is something else beside this separator.
///
/// These are the reasons that hold for values of any length: they come before the value is read,
/// so that each value is read once.
pub(super) fn is_other(
    text: &Text<'_>,
    secret: Secret,
    separator: &Separator,
    is_search: bool,
) -> bool {
    let is_equals = separator.kind == Kind::Equals;
    let first = text.at(separator.value);
    // An object: its own names are scanned.
    let is_object = first == b'{' && text.at(separator.value + 1) != b'{';
    let is_template = is_template(text, separator.value);
    let is_pattern = is_search && separator.is_apart;
    let is_other = match secret {
        Secret::Pass => !(separator.is_quoted || (is_equals && !separator.is_apart)),
        Secret::Directory => matches!(first, b'/' | b'~' | b'.' | b'$'),
        Secret::Signature => !is_equals,
        Secret::Key | Secret::Value => false,
    };
    is_object || is_template || is_pattern || is_other
}

/// Returns whether a bare value is an expression of a template: `${{ secrets.TOKEN }}`.
fn is_template(text: &Text<'_>, at: usize) -> bool {
    let start = at + usize::from(text.at(at) == b'$');
    let end = text.find_text(start..start + PLAIN_BYTES_MAX, b"}}");
    text.has(start, b"{{") && end.is_some_and(|end| is_terminator(text.at(end + 2)))
}

/// Returns whether the value of a secret's name is harmless.
pub(super) fn is_harmless(
    text: &Text<'_>,
    name: &[u8],
    secret: Secret,
    separator: &Separator,
    value: &Value,
) -> bool {
    let bytes = text.get(value.inner.clone());
    let is_bare = value.quoting == Quoting::Bare;
    let is_upper = !name.iter().any(u8::is_ascii_lowercase);
    let is_equals = separator.kind == Kind::Equals;
    // `TOKEN= command` sets an empty value.
    let is_empty = is_equals && separator.is_apart && !separator.is_spaced && is_bare && is_upper;
    let is_prose = is_bare && !is_equals && is_prose(bytes);
    let is_short = bytes.len() < SIGNATURE_CHARS_MIN && !separator.is_parameter;
    let is_other = match secret {
        Secret::Signature => is_short,
        Secret::Key => is_key_file(bytes),
        Secret::Pass | Secret::Directory | Secret::Value => false,
    };
    is_empty || is_prose || is_other || is_plain(bytes, value.quoting)
}

/// Returns whether the word after a flag is harmless.
pub(super) fn is_harmless_word(
    bytes: &[u8],
    flag: &[u8],
    secret: Secret,
    quoting: Quoting,
) -> bool {
    let is_prose = quoting == Quoting::Bare && is_prose(bytes);
    // Other sources of a passphrase, and the secrets of `docker build`.
    let is_source = [&b"env:"[..], b"file:", b"fd:", b"id=", b"stdin"]
        .iter()
        .any(|source| bytes.starts_with(source) && flag.len() <= 7);
    is_prose
        || is_source
        || matches!(secret, Secret::Directory | Secret::Signature)
        || (secret == Secret::Key && is_key_file(bytes))
        || is_plain(bytes, quoting)
}

/// Returns the place after `-String`, with which `ConvertTo-SecureString` may name its operand.
pub(super) fn after_option(text: &Text<'_>, at: usize) -> usize {
    let end = text.run(at, is_name);
    if text.get(at..end).eq_ignore_ascii_case(b"-String") { text.skip_blanks(end) } else { at }
}

/// Adds the words of a range that a program reads as a secret.
pub(super) fn hide_words(
    text: &Text<'_>,
    range: Range<usize>,
    nesting: &Nesting,
    found: &mut Found,
) {
    let mut at = range.start;
    let mut is_first = true;
    while at < range.end {
        at = text.run(at, is_blank);
        if at >= range.end {
            return;
        }
        let word = first_word(text, at);
        let is_flag = [&b"-n"[..], b"-e", b"-E", b"-ne", b"-en", b"--"].contains(&word);
        if is_first && is_flag {
            at += word.len();
            continue;
        }
        let Some(value) = value::value(text, at, Ending::Word, nesting) else {
            at += word.len().max(1);
            continue;
        };
        let inner = value.inner.start..value.inner.end.min(range.end);
        let bytes = text.get(inner.clone());
        let is_format = is_first && is_format(bytes) && text.run(value.end, is_blank) < range.end;
        if !is_format && !is_plain(bytes, value.quoting) {
            found.add(inner);
        }
        is_first = false;
        at = value.end.max(at + 1);
    }
}

/// Returns whether a text is a format of `printf` alone: `%s\n`.
fn is_format(bytes: &[u8]) -> bool {
    let mut is_after = false;
    bytes.contains(&b'%')
        && bytes.iter().all(|byte| {
            let is_allowed = is_after || !byte.is_ascii_alphanumeric();
            is_after = matches!(byte, b'%' | b'\\');
            is_allowed
        })
}

/// Returns the end of a here-document: the start of the line that is its last word, or the end of
/// the text.
pub(super) fn here_doc_end(text: &Text<'_>, start: usize, last: &[u8]) -> usize {
    let mut line = start;
    while line < text.len() {
        let end = text.find(line..text.len(), b'\n').unwrap_or(text.len());
        let words = text.get(line..end).trim_ascii();
        let is_last = words.strip_prefix(last).is_some_and(|rest| {
            rest.first().is_none_or(|next| is_terminator(*next) || matches!(next, b'"' | b'\''))
        });
        if is_last {
            return line.saturating_sub(1).max(start);
        }
        line = end + 1;
    }
    text.len()
}
