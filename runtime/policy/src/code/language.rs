//! Code of general languages: harmless if all of its words are known to be.

use super::finding::{Finding, What, is_word, quoted_end};
use crate::facts::{Facts, Role, WordKind};
use crate::tier::Tier;

/// A token of code.
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Text,
    /// Text between backticks.
    Ticks,
    Sign(u8),
}

/// Returns what code does.
pub(crate) fn findings(language: Role, text: &[u8], facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tokens = tokens(language, text, 0, text.len(), 0);
    let mut is_opaque = None;
    let mut runs = false;
    for (at, token) in tokens.iter().enumerate() {
        let span = text.get(token.start..token.end).unwrap_or(&[]);
        match token.kind {
            Kind::Word => {
                let Ok(word) = str::from_utf8(span) else {
                    is_opaque = is_opaque.or(Some(token));
                    continue;
                };
                match facts.word(language, word) {
                    Some(WordKind::Harmless) => {}
                    Some(WordKind::Deletes) => findings.push(Finding::new(
                        token.start,
                        token.end,
                        What::Tier(Tier::Irreversible, "deletes for good"),
                    )),
                    Some(WordKind::Runs) => {
                        runs = true;
                        is_opaque = is_opaque.or(Some(token));
                    }
                    Some(WordKind::Removes) => findings.push(Finding::new(
                        token.start,
                        token.end,
                        What::Tier(Tier::Stateful, "removes a file"),
                    )),
                    Some(WordKind::Writes) => is_opaque = is_opaque.or(Some(token)),
                    None => {
                        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                        if !is_number && !is_local(&tokens, at, text) {
                            is_opaque = is_opaque.or(Some(token));
                        }
                    }
                }
            }
            Kind::Ticks => {
                if language == Role::Javascript {
                    continue;
                }
                is_opaque = is_opaque.or(Some(token));
                findings.push(Finding::new(
                    token.start + 1,
                    token.end.saturating_sub(1),
                    What::Shell,
                ));
            }
            Kind::Text | Kind::Sign(_) => {}
        }
    }
    if language == Role::Code {
        let reason = "code of this language is not read";
        findings.push(Finding::new(0, text.len(), What::Opaque(reason)));
        return findings;
    }
    if runs {
        let texts: Vec<_> = tokens.iter().filter(|token| token.kind == Kind::Text).collect();
        if texts.is_empty() {
            let reason = "it runs a command that is not literal";
            findings.push(Finding::new(0, text.len(), What::Unknown(reason)));
        }
        // Which of its texts is the command is not known: each of them may be, and all of them together.
        for token in &texts {
            let span = content(text, token);
            findings.push(Finding::new(span.0, span.1, What::Shell));
        }
    }
    if let Some(token) = is_opaque {
        let reason = "this word is not known to be harmless";
        findings.push(Finding::new(token.start, token.end, What::Opaque(reason)));
    }
    findings
}

/// Returns the text between quotes.
fn content(text: &[u8], token: &Token) -> (usize, usize) {
    let quote = text.get(token.start).copied().unwrap_or(0);
    let span = text.get(token.start..token.end).unwrap_or(&[]);
    let count = span.iter().take_while(|byte| **byte == quote).count();
    let width = if count >= 3 { 3 } else { 1 };
    let start = (token.start + width).min(token.end);
    (start, token.end.saturating_sub(width).max(start))
}

/// Returns whether a word is a variable that the code itself names: it is assigned, or bound by a loop.
fn is_local(tokens: &[Token], at: usize, text: &[u8]) -> bool {
    let shown = |token: &Token| text.get(token.start..token.end).unwrap_or(&[]);
    let Some(word) = tokens.get(at).map(&shown) else { return false };
    tokens.iter().enumerate().any(|(other, token)| {
        if token.kind != Kind::Word || shown(token) != word {
            return false;
        }
        let next = |offset: usize| tokens.get(other + offset).map(|token| token.kind);
        let before = other.checked_sub(1).and_then(|before| tokens.get(before));
        let is_member = before.is_some_and(|token| token.kind == Kind::Sign(b'.'));
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
        !is_member && (is_assigned || is_bound || is_arrow)
    })
}

fn tokens(language: Role, text: &[u8], start: usize, end: usize, depth: u8) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = start;
    while at < end {
        let Some(byte) = text.get(at).copied() else { break };
        let from = at;
        let is_hash_comment = byte == b'#'
            && matches!(language, Role::Python | Role::Perl | Role::Ruby | Role::Php)
            && tokens.last().is_none_or(|token| token.kind != Kind::Sign(b'$'));
        let is_slash_comment = byte == b'/'
            && text.get(at + 1) == Some(&b'/')
            && matches!(language, Role::Javascript | Role::Php);
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if is_hash_comment || is_slash_comment {
            while at < end && text.get(at) != Some(&b'\n') {
                at += 1;
            }
            continue;
        }
        match byte {
            b'\'' | b'"' => {
                let triple = [byte; 3];
                let is_triple =
                    language == Role::Python && text.get(at..at + 3) == Some(triple.as_slice());
                at = if is_triple {
                    let rest = text.get(at + 3..end).unwrap_or(&[]);
                    let length = rest.windows(3).position(|part| part == triple);
                    length.map_or(end, |length| at + 3 + length + 3)
                } else {
                    quoted_end(text, at, byte, true).min(end)
                };
                let is_formatted = language == Role::Python
                    && from
                        .checked_sub(1)
                        .and_then(|at| text.get(at))
                        .is_some_and(|byte| matches!(byte, b'f' | b'F' | b'r' | b'R'));
                let expands = is_formatted
                    || (byte == b'"' && matches!(language, Role::Perl | Role::Ruby | Role::Php));
                // What is expanded inside is code too.
                if expands && depth < 2 {
                    let inside =
                        self::tokens(language, text, from + 1, at.saturating_sub(1), depth + 1);
                    let has_code = text.get(from..at).unwrap_or(&[]).iter().enumerate().any(
                        |(offset, byte)| {
                            let next = text.get(from + offset + 1).copied().unwrap_or(0);
                            (*byte == b'{' && is_formatted)
                                || (*byte == b'#' && next == b'{')
                                || (matches!(*byte, b'@' | b'$') && matches!(next, b'{' | b'('))
                        },
                    );
                    if has_code {
                        tokens.extend(inside);
                    }
                }
                if is_formatted {
                    // The prefix was read as a word.
                    let prefix = tokens
                        .iter()
                        .position(|token| token.kind == Kind::Word && token.end == from);
                    if let Some(prefix) = prefix {
                        tokens.remove(prefix);
                    }
                }
                tokens.push(Token { kind: Kind::Text, start: from, end: at });
            }
            b'`' => {
                at = quoted_end(text, at, b'`', true).min(end);
                if language == Role::Javascript && depth < 2 {
                    let has_code =
                        text.get(from..at).unwrap_or(&[]).windows(2).any(|pair| pair == b"${");
                    if has_code {
                        tokens.extend(self::tokens(language, text, from + 1, at - 1, depth + 1));
                    }
                }
                tokens.push(Token { kind: Kind::Ticks, start: from, end: at });
            }
            b'/' if is_regex(language, &tokens, text) => {
                at = quoted_end(text, at, b'/', true).min(end);
                while text.get(at).is_some_and(u8::is_ascii_alphabetic) {
                    at += 1;
                }
                tokens.push(Token { kind: Kind::Text, start: from, end: at });
            }
            _ if is_word(byte) || byte >= 0x80 => {
                while at < end && text.get(at).is_some_and(|byte| is_word(*byte) || *byte >= 0x80) {
                    at += 1;
                }
                tokens.push(Token { kind: Kind::Word, start: from, end: at });
            }
            _ => {
                at += 1;
                tokens.push(Token { kind: Kind::Sign(byte), start: from, end: at });
            }
        }
    }
    tokens
}

/// Returns whether a `/` begins a pattern and does not divide.
fn is_regex(language: Role, tokens: &[Token], text: &[u8]) -> bool {
    if !matches!(language, Role::Perl | Role::Ruby | Role::Javascript) {
        return false;
    }
    match tokens.last() {
        None => true,
        Some(token) => match token.kind {
            Kind::Word => matches!(
                text.get(token.start..token.end),
                Some(
                    b"if"
                        | b"unless"
                        | b"and"
                        | b"or"
                        | b"not"
                        | b"split"
                        | b"grep"
                        | b"return"
                        | b"when"
                        | b"while"
                        | b"m"
                        | b"qr"
                )
            ),
            Kind::Text | Kind::Ticks => false,
            Kind::Sign(sign) => !matches!(sign, b')' | b']' | b'}'),
        },
    }
}
