//! SQL text -> the tokens of a statement, as a dialect reads them.

use super::super::finding::is_word;

/// The differences between dialects.
///
/// The facts of a program only declare its text as SQL, so a text in which dialects differ is read
/// in each of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dialect {
    /// `#` begins a comment.
    pub(super) hash: bool,
    /// A backslash escapes in a text.
    pub(super) backslash: bool,
    /// `--` begins a comment only before a blank.
    pub(super) blank_after_dashes: bool,
    /// `//` begins a comment.
    pub(super) slashes: bool,
    /// Comments nest.
    pub(super) nests: bool,
    /// `/*! … */` is code.
    pub(super) runs_comments: bool,
    /// `$tag$ … $tag$` is a text.
    pub(super) dollar: bool,
    /// `[…]` is a name.
    pub(super) bracket: bool,
    /// Backticks quote a name.
    pub(super) backtick: bool,
    /// Three quotes also quote.
    pub(super) triple: bool,
    pub(super) client: Client,
}

/// The client whose non-SQL commands are accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Client {
    #[default]
    None,
    /// `\…` up to the end of the line or to another backslash.
    Psql,
    /// `\` and one letter.
    Mysql,
    /// `.…` at the start of a line.
    Sqlite,
}

const NONE: Dialect = Dialect {
    hash: false,
    backslash: false,
    blank_after_dashes: false,
    slashes: false,
    nests: false,
    runs_comments: false,
    dollar: false,
    bracket: false,
    backtick: false,
    triple: false,
    client: Client::None,
};

/// PostgreSQL, MySQL, SQLite, T-SQL, BigQuery, ClickHouse, Snowflake.
pub(super) const DIALECTS: &[Dialect] = &[
    Dialect { nests: true, dollar: true, client: Client::Psql, ..NONE },
    Dialect {
        hash: true,
        backslash: true,
        blank_after_dashes: true,
        runs_comments: true,
        backtick: true,
        client: Client::Mysql,
        ..NONE
    },
    Dialect { bracket: true, backtick: true, client: Client::Sqlite, ..NONE },
    Dialect { bracket: true, nests: true, ..NONE },
    Dialect { hash: true, backslash: true, backtick: true, triple: true, ..NONE },
    Dialect { hash: true, backslash: true, backtick: true, dollar: true, ..NONE },
    Dialect { backslash: true, slashes: true, dollar: true, ..NONE },
];

/// Returns whether dialects may read a text differently.
pub(super) fn differs(text: &[u8]) -> bool {
    let line_starts = |at: usize| at == 0 || text.get(at - 1) == Some(&b'\n');
    text.iter().enumerate().any(|(at, byte)| {
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        match byte {
            b'#' | b'\\' | b'[' | b'$' | b'`' => true,
            b'-' => next == b'-',
            b'/' => matches!(next, b'/' | b'*'),
            b'.' => line_starts(at),
            b'\'' | b'"' => next == *byte,
            _ => false,
        }
    })
}

/// A word, sign or literal of a statement.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    /// In upper case; empty for a text and for a quoted name.
    pub(super) word: String,
}

impl Token {
    /// Returns whether it is a text instead of a name.
    pub(super) fn is_text(&self, text: &[u8]) -> bool {
        self.word.is_empty() && matches!(text.get(self.start), Some(b'\'' | b'$'))
    }

    /// Returns the range of the content of a quoted token.
    pub(super) fn content(&self, text: &[u8]) -> (usize, usize) {
        let span = text.get(self.start..self.end).unwrap_or(&[]);
        let quote = span.first().copied().unwrap_or(0);
        let width = match quote {
            b'$' => 1 + span.iter().skip(1).position(|byte| *byte == b'$').map_or(0, |at| at + 1),
            _ => 1,
        };
        let start = (self.start + width).min(self.end);
        (start, self.end.saturating_sub(width).max(start))
    }

    /// Returns its name in upper case: the word, or the content of its quotes.
    pub(super) fn name(&self, text: &[u8]) -> String {
        if !self.word.is_empty() {
            return self.word.clone();
        }
        let (start, end) = self.content(text);
        String::from_utf8_lossy(text.get(start..end).unwrap_or(&[])).to_uppercase()
    }
}

/// Returns the tokens up to the end of a statement, and the start of the next one.
pub(super) fn statement(text: &[u8], start: usize, dialect: Dialect) -> (Vec<Token>, usize) {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = start;
    while let Some(byte) = text.get(at).copied() {
        let next = text.get(at + 1).copied().unwrap_or(0);
        let from = at;
        if let Some(after) = comment(text, at, dialect) {
            at = after;
            continue;
        }
        match (byte, next) {
            (b';', _) => return (tokens, at + 1),
            // `\;` separates statements that are sent together.
            (b'\\', b';') => return (tokens, at + 2),
            // A command of the client ends the statement before it.
            (b'\\', _) if matches!(dialect.client, Client::Psql | Client::Mysql) => {
                return (tokens, at);
            }
            (b'.', _) if dialect.client == Client::Sqlite && tokens.is_empty() => {
                return (tokens, at);
            }
            _ => {}
        }
        if let Some(after) = quoted(text, at, dialect) {
            at = after;
            tokens.push(Token { start: from, end: at, word: String::new() });
        } else if is_word(byte) {
            while text.get(at).is_some_and(|byte| is_word(*byte)) {
                at += 1;
            }
            let word = text.get(from..at).unwrap_or(&[]).to_ascii_uppercase();
            if word == b"GO" && is_line(text, from, at) {
                return (tokens, at);
            }
            let word = String::from_utf8(word)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            tokens.push(Token { start: from, end: at, word });
        } else {
            at += 1;
            if !byte.is_ascii_whitespace() {
                tokens.push(Token { start: from, end: at, word: char::from(byte).to_string() });
            }
        }
    }
    (tokens, text.len())
}

/// Returns whether a word is alone on its line.
fn is_line(text: &[u8], start: usize, end: usize) -> bool {
    let mut before = text.get(..start).unwrap_or(&[]).iter().rev();
    let mut after = text.get(end..).unwrap_or(&[]).iter();
    let is_shown = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\r');
    let stops = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
    stops(before.find(is_shown)) && stops(after.find(is_shown))
}

/// Returns the end of a comment that begins here.
fn comment(text: &[u8], at: usize, dialect: Dialect) -> Option<usize> {
    let byte = *text.get(at)?;
    let next = text.get(at + 1).copied().unwrap_or(0);
    match (byte, next) {
        (b'#', _) if dialect.hash => Some(line_end(text, at)),
        (b'/', b'/') if dialect.slashes => Some(line_end(text, at)),
        (b'-', b'-') => {
            let is_blank = text.get(at + 2).is_none_or(u8::is_ascii_whitespace);
            (is_blank || !dialect.blank_after_dashes).then(|| line_end(text, at))
        }
        (b'/', b'*') => {
            let rest = text.get(at + 2..).unwrap_or(&[]);
            if dialect.runs_comments && (rest.starts_with(b"!") || rest.starts_with(b"M!")) {
                let sign = 1 + usize::from(rest.starts_with(b"M"));
                let version = rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit());
                return Some(at + 2 + sign + version.count());
            }
            Some(comment_end(text, at + 2, dialect.nests))
        }
        // The end of a comment that is code.
        (b'*', b'/') if dialect.runs_comments => Some(at + 2),
        _ => None,
    }
}

fn comment_end(text: &[u8], start: usize, nests: bool) -> usize {
    let mut at = start;
    let mut open = 1usize;
    while let Some(pair) = text.get(at..at + 2) {
        match pair {
            b"*/" => {
                open -= 1;
                at += 2;
                if open == 0 {
                    return at;
                }
            }
            b"/*" if nests => {
                open += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the end of a quoted text or name that begins here.
fn quoted(text: &[u8], at: usize, dialect: Dialect) -> Option<usize> {
    let byte = *text.get(at)?;
    let rest = text.get(at + 1..).unwrap_or(&[]);
    match byte {
        b'\'' | b'"' => {
            if dialect.triple && rest.starts_with(&[byte, byte]) {
                return Some(triple_end(text, at + 3, byte));
            }
            // `E'…'` of PostgreSQL has backslash escapes too.
            let is_escaping = at
                .checked_sub(1)
                .and_then(|at| text.get(at))
                .is_some_and(|byte| matches!(byte, b'e' | b'E'))
                && !at
                    .checked_sub(2)
                    .and_then(|at| text.get(at))
                    .is_some_and(|byte| is_word(*byte));
            let escapes = dialect.backslash || (dialect.client == Client::Psql && is_escaping);
            Some(super::super::finding::quoted_end(text, at, byte, escapes))
        }
        b'`' if dialect.backtick => Some(super::super::finding::quoted_end(text, at, byte, false)),
        b'[' if dialect.bracket => Some(super::super::finding::quoted_end(text, at, b']', false)),
        b'$' if dialect.dollar => {
            let before = at.checked_sub(1).and_then(|at| text.get(at));
            if before.is_some_and(|byte| is_word(*byte)) {
                return None;
            }
            let length = rest.iter().take_while(|byte| is_word(**byte)).count();
            let is_tag = rest.get(length) == Some(&b'$')
                && rest.first().is_none_or(|first| !first.is_ascii_digit());
            if !is_tag {
                return None;
            }
            let tag = text.get(at..at + length + 2)?;
            let body = text.get(at + tag.len()..).unwrap_or(&[]);
            let end = body.windows(tag.len()).position(|part| part == tag);
            Some(end.map_or(text.len(), |end| at + tag.len() + end + tag.len()))
        }
        _ => None,
    }
}

fn triple_end(text: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        if *byte == b'\\' {
            at += 2;
        } else if text.get(at..at + 3) == Some(&[quote; 3]) {
            return at + 3;
        } else {
            at += 1;
        }
    }
    text.len()
}

pub(super) fn line_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or(&[]);
    start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}
