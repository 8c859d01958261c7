//! The tokens of KDL 2, each with its beginning and its end.
//!
//! One iterative pass, so that time is linear for any text. [`super::scalar`] decides the meaning
//! of a word or a string.

use crate::source::is_newline;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// White space within a line.
    Space,
    /// `/* … */` with the comments inside it.
    BlockComment,
    /// `// …`, up to its line end.
    LineComment,
    /// A line end of any form.
    Newline,
    /// A `\` outside of strings, which joins the next line to this one.
    Continuation,
    Semicolon,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `(`
    AnnotationOpen,
    /// `)`
    AnnotationClose,
    Equals,
    /// `/-`
    Slashdash,
    /// An identifier, a number or a keyword.
    Word,
    /// A quoted string, raw or escaped, of one line or several.
    Text,
    /// A stray character, outside of every token.
    Stray,
    /// An unclosed string: up to the end of its line, or of the document if it may have several.
    UnclosedText,
    /// An unclosed `/*`: up to the end of the document.
    UnclosedComment,
}

/// Splits a document into tokens.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at }
    }
}

impl<'t> Iterator for Tokens<'t> {
    /// A token, the offset where it begins, and how it is written.
    type Item = (Token, usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.text.get(self.at..)?;
        let (token, length) = first(rest)?;
        let start = self.at;
        self.at += length;
        Some((token, start, rest.get(..length)?))
    }
}

/// Returns the first token of `rest` and its bytes, at least one; `None` at the end.
fn first(rest: &str) -> Option<(Token, usize)> {
    let length = newline_length(rest);
    if length > 0 {
        return Some((Token::Newline, length));
    }
    let found = match rest.as_bytes() {
        [] => return None,
        [b'/', b'/', ..] => (Token::LineComment, line_length(rest)),
        [b'/', b'*', ..] => comment(rest),
        [b'/', b'-', ..] => (Token::Slashdash, 2),
        [b'"', ..] => string(rest, 0),
        [b'#', ..] => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            match rest.as_bytes().get(hashes) {
                Some(b'"') => string(rest, hashes),
                // Keywords such as `#true`.
                _ if hashes == 1 && word_length(rest, 1) > 1 => (Token::Word, word_length(rest, 1)),
                // All but the last one at once, so that time stays linear.
                _ => (Token::Stray, (hashes - 1).max(1)),
            }
        }
        [b'\\', ..] => (Token::Continuation, 1),
        [b';', ..] => (Token::Semicolon, 1),
        [b'{', ..] => (Token::Open, 1),
        [b'}', ..] => (Token::Close, 1),
        [b'(', ..] => (Token::AnnotationOpen, 1),
        [b')', ..] => (Token::AnnotationClose, 1),
        [b'=', ..] => (Token::Equals, 1),
        _ => match (space_length(rest), word_length(rest, 0)) {
            (0, 0) => (Token::Stray, rest.chars().next().map_or(1, char::len_utf8)),
            (0, word) => (Token::Word, word),
            (space, _) => (Token::Space, space),
        },
    };
    Some(found)
}

/// Returns the bytes of the line end at the beginning of `rest`, else 0.
pub(super) fn newline_length(rest: &str) -> usize {
    if matches!(rest.as_bytes(), [b' '..=b'~', ..]) {
        return 0;
    }
    match rest.chars().next() {
        Some('\r') if rest.starts_with("\r\n") => 2,
        Some(first) if is_newline(first) => first.len_utf8(),
        _ => 0,
    }
}

/// Returns whether a character is white space within a line (KDL 2, "Whitespace").
fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// Returns whether a character is allowed anywhere in a document (KDL 2, "Disallowed Literal Code
/// Points"): neither a control character nor one that changes the direction of text.
pub(super) fn is_allowed(c: char) -> bool {
    !matches!(
        c,
        '\0'..='\u{8}'
            | '\u{e}'..='\u{1f}'
            | '\u{7f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// Returns the first forbidden character, with its offset.
pub(super) fn first_forbidden(text: &str) -> Option<(usize, char)> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let plain = plain_length(rest.as_bytes());
        let character = rest.get(plain..)?.chars().next()?;
        at += plain;
        if !is_allowed(character) {
            return Some((at, character));
        }
        at += character.len_utf8();
    }
}

/// Returns the number of the bytes at the beginning of a text that are ASCII and allowed, which nearly all of a document
/// is.
fn plain_length(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' '..=b'~');
    // Without an early end, a block is compared many bytes at a time.
    let are_plain = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let begun = 64 * bytes.chunks_exact(64).take_while(are_plain).count();
    let rest = bytes.get(begun..).unwrap_or_default();
    begun + rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len())
}

fn length_while(text: &str, matches: impl Fn(char) -> bool) -> usize {
    text.find(|c| !matches(c)).unwrap_or(text.len())
}

fn line_length(rest: &str) -> usize {
    rest.find(is_newline).unwrap_or(rest.len())
}

/// Returns the length in bytes of the white space at the beginning of `rest`.
fn space_length(rest: &str) -> usize {
    let plain = length_of(rest, |byte| matches!(byte, b' ' | b'\t'));
    plain + length_while(rest.get(plain..).unwrap_or_default(), is_space)
}

/// Returns the length in bytes of the word at the beginning of `rest`, of which `begun` bytes are
/// known.
fn word_length(rest: &str, begun: usize) -> usize {
    let ends = |c: char| ends_word(c) || is_space(c) || is_newline(c);
    // Nearly all bytes of words are of these, and a look at bytes is many times faster.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !ends_word(char::from(byte));
    let begun = begun + length_of(rest.get(begun..).unwrap_or_default(), is_plain);
    begun + length_while(rest.get(begun..).unwrap_or_default(), |c| !ends(c))
}

/// Returns whether a mark ends the word before it.
fn ends_word(c: char) -> bool {
    matches!(c, '\\' | '/' | '(' | ')' | '{' | '}' | '[' | ']' | ';' | '"' | '#' | '=')
}

/// Returns the number of the bytes at the beginning of a text that are as `is_plain` says.
fn length_of(text: &str, is_plain: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !is_plain(byte)).unwrap_or(text.len())
}

fn comment(rest: &str) -> (Token, usize) {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = rest.get(at..).and_then(|tail| tail.find(['/', '*'])) {
        at += found;
        match rest.as_bytes().get(at..at + 2) {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return (Token::BlockComment, at);
        }
    }
    (Token::UnclosedComment, rest.len())
}

/// Returns the string that begins after `hashes`.
fn string(rest: &str, hashes: usize) -> (Token, usize) {
    let marks = rest.get(..hashes).unwrap_or_default();
    let many_lines = rest.get(hashes..).is_some_and(|quoted| quoted.starts_with("\"\"\""));
    let quotes = if many_lines { "\"\"\"" } else { "\"" };
    // Nearly all bytes of a string are of these, and a look at bytes is many times faster.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    let mut at = hashes + quotes.len();
    while let Some(tail) = rest.get(at..) {
        let plain = length_of(tail, is_plain);
        at += plain;
        let Some(tail) = tail.get(plain..).filter(|tail| !tail.is_empty()) else { break };
        if tail.strip_prefix(quotes).is_some_and(|after| after.starts_with(marks)) {
            return (Token::Text, at + quotes.len() + hashes);
        }
        let newline = newline_length(tail);
        let first = tail.chars().next().map_or(1, char::len_utf8);
        at += match tail.as_bytes() {
            [b'\\', after @ ..] if hashes == 0 && !after.is_empty() => {
                let after = tail.get(1..).unwrap_or_default();
                // A `\` before white space takes all of it, with the line ends.
                match length_while(after, |c| is_space(c) || is_newline(c)) {
                    0 => 1 + after.chars().next().map_or(0, char::len_utf8),
                    space => 1 + space,
                }
            }
            _ if newline > 0 && !many_lines => return (Token::UnclosedText, at),
            _ if newline > 0 => newline,
            _ => first,
        };
    }
    (Token::UnclosedText, rest.len())
}
