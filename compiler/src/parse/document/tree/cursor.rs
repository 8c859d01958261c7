//! The tokens of a document, read one after another, with the place of the next one.

use super::super::token::{Token, Tokens};
use crate::source::{FileId, Span};

/// The tokens of the document that remain.
pub(super) struct Cursor<'t> {
    pub(super) file: FileId,
    /// The document.
    text: &'t str,
    tokens: Tokens<'t>,
    /// The next token; `None` at the end.
    pub(super) next: Option<(Token, usize, &'t str)>,
    pub(super) line: Line,
}

/// The current line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) number: usize,
    /// The bytes before its first token.
    pub(super) indent: usize,
    /// Whether that token was read.
    pub(super) begun: bool,
}

impl<'t> Cursor<'t> {
    /// Returns the cursor before the first token of a document.
    pub(super) fn new(file: FileId, text: &'t str) -> Self {
        let (tokens, line) = (Tokens::new(text), Line::default());
        let mut cursor = Self { file, text, tokens, next: None, line };
        cursor.advance();
        cursor
    }

    /// Returns the next token, which stays the next.
    pub(super) fn peek(&self) -> Option<Token> {
        self.next.map(|(token, ..)| token)
    }

    /// Returns the text from the next token on.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at()..).unwrap_or_default()
    }

    /// Returns where the next token begins.
    pub(super) fn at(&self) -> usize {
        self.next.map_or(self.text.len(), |(_, start, _)| start)
    }

    /// Returns the span of the next token; that of the end is empty.
    pub(super) fn next_span(&self) -> Span {
        let (start, length) =
            self.next.map_or((self.text.len(), 0), |(_, at, text)| (at, text.len()));
        self.file.span(start, start + length)
    }

    /// Takes the next token.
    pub(super) fn advance(&mut self) -> Option<(Token, usize, &'t str)> {
        let taken = self.next;
        if let Some((token, ..)) = taken {
            match token {
                Token::Newline => {
                    self.line = Line { number: self.line.number + 1, ..Line::default() };
                }
                Token::Space => {}
                _ => self.line.begun = true,
            }
        }
        self.next = self.tokens.next();
        if let (false, Some((Token::Space, _, written))) = (self.line.begun, self.next) {
            self.line.indent = written.len();
        }
        taken
    }

    /// Takes the next token if it is `wanted`.
    pub(super) fn take(&mut self, wanted: Token) -> Option<(usize, &'t str)> {
        if self.peek() != Some(wanted) {
            return None;
        }
        self.advance().map(|(_, start, written)| (start, written))
    }
    /// Returns the text between two offsets.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the tokens from the next one to the end of a childless node, all of which stay.
    pub(super) fn rest_of_node(&self) -> impl Iterator<Item = (Token, usize, &'t str)> + use<'t> {
        let ends =
            |token| matches!(token, Token::Newline | Token::Semicolon | Token::Open | Token::Close);
        self.next
            .into_iter()
            .chain(self.tokens.clone())
            .take_while(move |(token, ..)| !ends(*token))
    }
}
