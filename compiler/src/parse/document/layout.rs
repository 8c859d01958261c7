//! The layout of a document: indentation, spaces between words, blank lines. Strings, comments
//! and the author's line breaks stay.
//!
//! Four spaces a level; one space between words, around braces and after `;`; white space in
//! front of a comment at a line's end stays, since authors align those; at most one blank line,
//! none after `{` or before `}`.

use super::token::{Token, Tokens};

const INDENT: &str = "    ";

/// Returns `text`, a document of valid syntax, in its layout.
///
/// All its lines end as its first one does: `CRLF`, or else `LF`.
pub(super) fn layout(text: &str) -> String {
    let mut out = Layout::default();
    for (token, _, written) in Tokens::new(text) {
        out.token(token, written);
    }
    let laid_out = out.finish();
    let unix = laid_out.replace("\r\n", "\n").replace('\r', "\n");
    let first_end = text.find(['\r', '\n']);
    match first_end.and_then(|end| text.get(end..)) {
        Some(end) if end.starts_with("\r\n") => unix.replace('\n', "\r\n"),
        _ => unix,
    }
}

#[derive(Default)]
struct Layout {
    out: String,
    depth: usize,
    /// The current line so far, after its indentation.
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
            _ => {
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
