//! Small shapes of tokens: the content of a text, a member by a computed name, a variable of the code.

use std::collections::BTreeSet;

use super::tokens::{Kind, Token};
use crate::facts::Role;

/// Returns the text between quotes.
pub(super) fn content(text: &[u8], token: &Token) -> (usize, usize) {
    let quote = text.get(token.start).copied().unwrap_or(0);
    let span = text.get(token.start..token.end).unwrap_or(&[]);
    let count = span.iter().take_while(|byte| **byte == quote).count();
    let width = if count >= 3 { 3 } else { 1 };
    let start = (token.start + width).min(token.end);
    (start, token.end.saturating_sub(width).max(start))
}

/// Returns whether a sign calls or selects something by a computed name: `f()()`, `x["name"]`,
/// `"name"(…)`, `$f(…)`.
pub(super) fn is_by_name(language: Role, tokens: &[Token], at: usize) -> bool {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let before = at.checked_sub(1).and_then(kind);
    let is_variable = language == Role::Php
        && at.checked_sub(2).and_then(kind) == Some(Kind::Sign(b'$'))
        && before == Some(Kind::Word);
    match kind(at) {
        Some(Kind::Sign(b'(')) => {
            is_variable
                || matches!(before, Some(Kind::Text | Kind::Ticks | Kind::Sign(b')' | b']')))
        }
        Some(Kind::Sign(b'[')) => {
            language == Role::Javascript
                && matches!(before, Some(Kind::Word | Kind::Text | Kind::Sign(b')' | b']')))
                && matches!(kind(at + 1), Some(Kind::Text | Kind::Ticks | Kind::Word))
        }
        // `&:"name"`, `->$name`.
        Some(Kind::Sign(b':')) => language == Role::Ruby && kind(at + 1) == Some(Kind::Text),
        Some(Kind::Sign(b'>')) => {
            before == Some(Kind::Sign(b'-')) && kind(at + 1) == Some(Kind::Sign(b'$'))
        }
        _ => false,
    }
}

/// The names that code gives to variables of its own: assigned, or bound by a loop.
pub(super) struct Locals<'l> {
    tokens: &'l [Token],
    text: &'l [u8],
    names: BTreeSet<&'l [u8]>,
}

impl<'l> Locals<'l> {
    /// Finds them in one pass.
    pub(super) fn of(tokens: &'l [Token], text: &'l [u8]) -> Self {
        let mut locals = Self { tokens, text, names: BTreeSet::new() };
        let bound = (0..tokens.len()).filter(|at| locals.is_bound(*at));
        locals.names = bound.map(|at| locals.shown(at)).collect();
        locals
    }

    /// Returns whether a word is one of them.
    pub(super) fn has(&self, at: usize) -> bool {
        // A member keeps its own meaning, even if a variable has its name.
        !self.is_member(at) && self.names.contains(self.shown(at))
    }

    fn shown(&self, at: usize) -> &'l [u8] {
        self.tokens.get(at).and_then(|token| self.text.get(token.start..token.end)).unwrap_or(&[])
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is_member(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        matches!(before, Some(Kind::Sign(b'.' | b'>' | b':')))
    }

    fn is_bound(&self, at: usize) -> bool {
        if self.kind(at) != Some(Kind::Word) || self.is_member(at) {
            return false;
        }
        let (next, second) = (self.kind(at + 1), self.kind(at + 2));
        let before = at.checked_sub(1);
        let kind_before = before.and_then(|before| self.kind(before));
        // `name=` between parentheses names an argument.
        let is_argument = matches!(kind_before, Some(Kind::Sign(b'(' | b',')));
        let is_assigned =
            next == Some(Kind::Sign(b'=')) && !matches!(second, Some(Kind::Sign(b'=' | b'~')));
        let is_named = kind_before == Some(Kind::Word)
            && before.is_some_and(|before| {
                matches!(
                    self.shown(before),
                    b"for" | b"lambda" | b"my" | b"let" | b"const" | b"var" | b"as"
                )
            });
        let is_arrow = next == Some(Kind::Sign(b'=')) && second == Some(Kind::Sign(b'>'));
        (is_assigned && !is_argument) || is_named || is_arrow
    }
}
