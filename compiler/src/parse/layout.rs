//! The layout of a document: indentation, spaces between words, blank lines. Strings, comments
//! and the author's line breaks stay.
//!
//! Four spaces a level; one space between words, around braces and after `;`; white space in
//! front of a comment at a line's end stays, since authors align those; at most one blank line,
//! none after `{` or before `}`.

use super::guard::{comment_length, line_length, string_length};

const INDENT: &str = "    ";

/// Returns `text`, which must be a document without syntax faults, in its layout.
pub(super) fn layout(text: &str) -> String {
    let mut out = Layout::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (token, length) = next(rest);
        out.token(token, rest.get(..length).unwrap_or(rest));
        at += length.max(1);
    }
    out.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Space,
    Newline,
    LineComment,
    Open,
    Close,
    Semicolon,
    /// A `\` that joins the next line to this one.
    Continuation,
    /// Everything else: words, strings, block comments, slashdashes.
    Word,
}

fn next(rest: &str) -> (Token, usize) {
    let bytes = rest.as_bytes();
    match bytes {
        [b' ' | b'\t', ..] => {
            let length = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            (Token::Space, length)
        }
        [b'\r', b'\n', ..] => (Token::Newline, 2),
        [b'\n', ..] => (Token::Newline, 1),
        [b'/', b'/', ..] => (Token::LineComment, line_length(bytes)),
        [b'/', b'*', ..] => (Token::Word, comment_length(bytes).unwrap_or(rest.len())),
        [b'"', ..] => (Token::Word, string_length(bytes)),
        [b'#', ..] => (Token::Word, string_length(bytes).max(1)),
        [b'{', ..] => (Token::Open, 1),
        [b'}', ..] => (Token::Close, 1),
        [b';', ..] => (Token::Semicolon, 1),
        [b'\\', ..] => (Token::Continuation, 1),
        _ => {
            let ends = |byte: &u8| b" \t\r\n{};\"#\\/".contains(byte);
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let more = bytes.iter().skip(first).position(ends);
            (Token::Word, more.map_or(rest.len(), |more| first + more))
        }
    }
}

#[derive(Default)]
struct Layout {
    out: String,
    depth: usize,
    /// What is on the current line so far, without its indentation.
    line: String,
    /// White space since the last token of this line.
    space: String,
    last: Option<Token>,
    /// Whether this line goes on from the one before.
    continued: bool,
    blank_lines: usize,
}

impl Layout {
    fn token(&mut self, token: Token, written: &str) {
        match token {
            Token::Space => {
                self.space.push_str(written);
                return;
            }
            Token::Newline => self.end_line(),
            Token::Close => {
                self.depth = self.depth.saturating_sub(1);
                let empty = self.last == Some(Token::Open) && self.space.is_empty();
                self.put(written, if empty { "" } else { " " });
            }
            Token::Open => {
                self.put(written, " ");
                self.depth += 1;
            }
            Token::Semicolon => self.put(written, ""),
            Token::LineComment => {
                let space = if self.space.is_empty() { " ".into() } else { self.space.clone() };
                self.put(written.trim_end(), &space);
            }
            Token::Continuation => self.put(written, " "),
            Token::Word => {
                let apart = !self.space.is_empty()
                    || matches!(self.last, Some(Token::Open | Token::Close | Token::Semicolon));
                self.put(written, if apart { " " } else { "" });
            }
        }
        self.space.clear();
        self.last = Some(token);
    }

    fn put(&mut self, written: &str, space: &str) {
        if self.line.is_empty() {
            self.begin_line(written);
        } else {
            self.line.push_str(space);
        }
        self.line.push_str(written);
    }

    fn begin_line(&mut self, first: &str) {
        let opened = self.out.trim_end().ends_with('{');
        if self.blank_lines > 0 && !self.out.is_empty() && !opened && first != "}" {
            self.out.push('\n');
        }
        self.blank_lines = 0;
        let depth = self.depth + usize::from(self.continued);
        self.out.push_str(&INDENT.repeat(depth));
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            self.blank_lines += 1;
            return;
        }
        self.continued = self.last == Some(Token::Continuation);
        self.out.push_str(&self.line);
        self.out.push('\n');
        self.line.clear();
        self.last = None;
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.out
    }
}
