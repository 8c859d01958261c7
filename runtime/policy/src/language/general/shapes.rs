//! Small shapes of tokens: the content of a text, a member by a computed name, a variable of the code.

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

/// Returns whether a word is a variable named by the code itself: assigned, or bound by a loop.
pub(super) fn is_local(tokens: &[Token], at: usize, text: &[u8]) -> bool {
    let shown = |token: &Token| text.get(token.start..token.end).unwrap_or(&[]);
    let Some(word) = tokens.get(at).map(&shown) else { return false };
    // A member keeps its own meaning, even if a variable has its name.
    let is_member = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        before.is_some_and(|token| matches!(token.kind, Kind::Sign(b'.' | b'>' | b':')))
    };
    if is_member(at) {
        return false;
    }
    tokens.iter().enumerate().any(|(other, token)| {
        if token.kind != Kind::Word || shown(token) != word {
            return false;
        }
        let next = |offset: usize| tokens.get(other + offset).map(|token| token.kind);
        let before = other.checked_sub(1).and_then(|before| tokens.get(before));
        // `name=` between parentheses names an argument.
        let is_argument = before.is_some_and(|token| matches!(token.kind, Kind::Sign(b'(' | b',')));
        let is_assigned =
            next(1) == Some(Kind::Sign(b'=')) && !matches!(next(2), Some(Kind::Sign(b'=' | b'~')));
        let is_bound = before.is_some_and(|token| {
            token.kind == Kind::Word
                && matches!(
                    shown(token),
                    b"for" | b"lambda" | b"my" | b"let" | b"const" | b"var" | b"as"
                )
        });
        let is_arrow = next(1) == Some(Kind::Sign(b'=')) && next(2) == Some(Kind::Sign(b'>'));
        !is_member(other) && ((is_assigned && !is_argument) || is_bound || is_arrow)
    })
}
