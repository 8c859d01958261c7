//! Code of a general language -> tokens, as far as they are known without its grammar.
//!
//! A text with two readings is a doubt, since a quote in it may hide the rest.

use super::super::finding::{is_word, quoted_end};
use super::expanded::{Expanded, expanded, is_subscript_code};
use crate::facts::Role;

/// The most tokens of a call in which its arguments are searched: the arguments of a longer call are
/// hidden. Calls stand in calls, so without a limit the work would be the square of the length.
pub(super) const CALL_TOKENS_MAX: usize = 256;
/// The most names in a list or a chain of members that are followed.
pub(super) const CHAIN_MAX: usize = 64;

/// A token of code.
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Text,
    /// Text between backticks.
    Ticks,
    /// A text with two readings, so that the rest may be code or text.
    Doubt,
    Sign(u8),
}

/// The deepest nesting of code in texts.
const DEPTH_MAX: u8 = 2;

pub(super) fn tokens(
    language: Role,
    text: &[u8],
    start: usize,
    end: usize,
    depth: u8,
) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = start;
    while at < end {
        let Some(byte) = text.get(at).copied() else { break };
        let from = at;
        let is_hash_comment = byte == b'#'
            && matches!(language, Role::Python | Role::Perl | Role::Ruby | Role::Php)
            && tokens.last().is_none_or(|token| token.kind != Kind::Sign(b'$'));
        let is_attribute = language == Role::Php && text.get(at + 1) == Some(&b'[');
        let is_hash_comment = is_hash_comment && !is_attribute;
        let is_slash_comment = byte == b'/'
            && text.get(at + 1) == Some(&b'/')
            && matches!(language, Role::Javascript | Role::Php);
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if is_hash_comment || is_slash_comment {
            while at < end && text.get(at) != Some(&b'\n') {
                // In PHP, `?>` ends the comment.
                if language == Role::Php && text.get(at..at + 2) == Some(b"?>") {
                    break;
                }
                at += 1;
            }
            continue;
        }
        let is_block = byte == b'/' && text.get(at + 1) == Some(&b'*');
        if is_block && matches!(language, Role::Javascript | Role::Php) {
            let rest = text.get(at + 2..end).unwrap_or(&[]);
            let length = rest.windows(2).position(|pair| pair == b"*/");
            at = length.map_or(end, |length| at + 2 + length + 2);
            continue;
        }
        if let Some(width) = quoting_variable(language, text, at, &tokens) {
            at += width;
            let kinds =
                if width == 2 { [Kind::Sign(b'$'), Kind::Sign(b')')] } else { [Kind::Doubt; 2] };
            tokens.extend(kinds.map(|kind| Token { kind, start: from, end: at }));
            continue;
        }
        if is_doubtful(language, text, at, &tokens) {
            at += 1;
            tokens.push(Token { kind: Kind::Doubt, start: from, end: at });
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
                let width = if is_triple { 3 } else { 1 };
                let is_formatted = language == Role::Python && is_formatted(text, from, &tokens);
                if is_formatted {
                    // The prefix was already read as a word.
                    tokens.pop();
                }
                let expands = is_formatted
                    || (byte == b'"' && matches!(language, Role::Perl | Role::Ruby | Role::Php));
                if expands {
                    let inside = (from + width, at.saturating_sub(width));
                    expand(language, text, inside, depth, &mut tokens);
                }
                tokens.push(Token { kind: Kind::Text, start: from, end: at });
            }
            b'`' => {
                at = quoted_end(text, at, b'`', true).min(end);
                if language == Role::Javascript {
                    expand(language, text, (from + 1, at.saturating_sub(1)), depth, &mut tokens);
                }
                tokens.push(Token { kind: Kind::Ticks, start: from, end: at });
            }
            b'/' if is_regex(language, &tokens, text) => {
                at = regex_end(language, text, at).min(end);
                let inside = text.get(from..at).unwrap_or(&[]);
                let expands = inside.windows(2).any(|pair| matches!(pair, b"@{" | b"${" | b"#{"))
                    || inside.windows(3).any(|part| matches!(part, b"(?{" | b"(??"));
                if expands {
                    tokens.push(Token { kind: Kind::Doubt, start: from, end: at });
                }
                while text.get(at).is_some_and(u8::is_ascii_alphabetic) {
                    at += 1;
                }
                tokens.push(Token { kind: Kind::Text, start: from, end: at });
            }
            _ if language == Role::Perl && operator(text, at, end).is_some() => {
                let (next, runs) = operator(text, at, end).unwrap_or((end, true));
                at = next;
                // The replacement of `s///e` is code.
                let kind = if runs { Kind::Word } else { Kind::Text };
                tokens.push(Token { kind, start: from, end: at });
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

/// Reads the code inside a text.
fn expand(
    language: Role,
    text: &[u8],
    (start, end): (usize, usize),
    depth: u8,
    tokens: &mut Vec<Token>,
) {
    let Expanded { parts, is_clear } = expanded(language, text, start, end);
    if !is_clear || (depth >= DEPTH_MAX && !parts.is_empty()) {
        tokens.push(Token { kind: Kind::Doubt, start, end: end.max(start) });
    }
    if depth < DEPTH_MAX {
        for (start, end) in parts {
            tokens.extend(self::tokens(language, text, start, end, depth + 1));
        }
    }
}

/// Returns whether a text of Python has a prefix that allows code in it.
fn is_formatted(text: &[u8], quote: usize, tokens: &[Token]) -> bool {
    let Some(token) = tokens.last().filter(|token| token.kind == Kind::Word && token.end == quote)
    else {
        return false;
    };
    let prefix = text.get(token.start..token.end).unwrap_or(&[]);
    let is_prefix = prefix.len() <= 2
        && prefix.iter().all(|byte| matches!(byte.to_ascii_lowercase(), b'f' | b'r' | b't'));
    is_prefix && prefix.iter().any(|byte| matches!(byte.to_ascii_lowercase(), b'f' | b't'))
}

/// Returns the length of a variable of Perl or Ruby named by a quote or a slash; 1 if it may be
/// something else.
fn quoting_variable(language: Role, text: &[u8], at: usize, tokens: &[Token]) -> Option<usize> {
    let is_variable = matches!(language, Role::Perl | Role::Ruby)
        && text.get(at) == Some(&b'$')
        && matches!(text.get(at + 1), Some(b'"' | b'\'' | b'`' | b'/'));
    let is_other =
        tokens.last().is_some_and(|token| token.kind == Kind::Sign(b'$') && token.end == at);
    is_variable.then_some(if is_other { 1 } else { 2 })
}

/// Returns whether other readers may see the beginning of something else at a sign.
fn is_doubtful(language: Role, text: &[u8], at: usize, tokens: &[Token]) -> bool {
    let byte = text.get(at).copied().unwrap_or(0);
    let rest = text.get(at + 1..).unwrap_or(&[]);
    let next = rest.first().copied().unwrap_or(0);
    let before = tokens.last().filter(|token| token.end == at).map(|token| token.kind);
    let is_line_start = text
        .get(..at)
        .unwrap_or(&[])
        .iter()
        .rev()
        .find(|byte| !matches!(byte, b' ' | b'\t'))
        .is_none_or(|byte| *byte == b'\n');
    match (language, byte) {
        (Role::Perl | Role::Ruby | Role::Javascript, b'/') => {
            let is_variable = language == Role::Perl
                && matches!(before, Some(Kind::Sign(b'@' | b'%' | b'&' | b'*')));
            is_variable || (is_divisible(language, text, tokens) && !divides(language, rest))
        }
        // HTML comments, and the first line for the system.
        (Role::Javascript, b'<') => rest.starts_with(b"!--"),
        (Role::Javascript, b'-') => rest.starts_with(b"->") && is_line_start,
        (Role::Javascript, b'#') => next == b'!',
        // Here-documents.
        (Role::Perl | Role::Ruby, b'<') => {
            let tag = rest.get(1).copied().unwrap_or(0);
            next == b'<'
                && (tag.is_ascii_alphabetic()
                    || matches!(tag, b'_' | b'"' | b'\'' | b'`' | b'~' | b'-'))
        }
        // Documentation between code.
        (Role::Perl | Role::Ruby, b'=') => is_line_start && next.is_ascii_alphabetic(),
        // `a'b` is a name, `*'` and `@"` are variables.
        (Role::Perl, b'\'') if before == Some(Kind::Word) => is_word(next),
        (Role::Perl, b'\'' | b'"' | b'`') => {
            matches!(before, Some(Kind::Sign(b'@' | b'%' | b'&' | b'*')))
        }
        // `?#` is a character, `%(…)` and `%i(…)` are texts.
        (Role::Ruby, b'?') => !next.is_ascii_whitespace(),
        (Role::Ruby, b'%') => {
            let sign = rest.get(1).copied().unwrap_or(0);
            (next.is_ascii_punctuation() && next != b'=')
                || (b"iIqQwWrsx".contains(&next)
                    && sign.is_ascii_punctuation()
                    && !b"_),;".contains(&sign))
        }
        (Role::Php, b'?') => next == b'>',
        (Role::Php, b'<') => rest.starts_with(b"<<"),
        _ => false,
    }
}

/// Returns whether a `/` may either divide the value before it or begin a pattern.
fn is_divisible(language: Role, text: &[u8], tokens: &[Token]) -> bool {
    let Some(token) = tokens.last() else { return false };
    let before = tokens.len().checked_sub(2).and_then(|at| tokens.get(at));
    match token.kind {
        Kind::Word => !is_regex(language, tokens, text),
        Kind::Sign(b')' | b'}') => true,
        // In `i++ / 2`, the sign ends a value.
        Kind::Sign(sign @ (b'+' | b'-')) => before
            .is_some_and(|before| before.kind == Kind::Sign(sign) && before.end == token.start),
        _ => false,
    }
}

/// Returns whether a `/` certainly divides, or hides nothing as the start of a pattern; `rest`
/// follows it.
fn divides(language: Role, rest: &[u8]) -> bool {
    if language == Role::Perl && rest.starts_with(b"/") {
        return true;
    }
    // A pattern of JavaScript ends on its line.
    let stops = |byte: &u8| *byte == b'/' || (*byte == b'\n' && language == Role::Javascript);
    let Some(end) = rest.iter().position(stops).filter(|end| rest.get(*end) == Some(&b'/')) else {
        return true;
    };
    let between = rest.get(..end).unwrap_or(rest).trim_ascii_end();
    let is_plain = between.iter().all(|byte| is_word(*byte) || matches!(byte, b'.' | b' ' | b'$'));
    let is_comment = matches!(rest.get(end + 1), Some(b'/' | b'*'));
    is_plain && !is_comment && between.last().is_some_and(|byte| is_word(*byte))
}

/// Returns whether a `/` begins a pattern.
fn is_regex(language: Role, tokens: &[Token], text: &[u8]) -> bool {
    if !matches!(language, Role::Perl | Role::Ruby | Role::Javascript) {
        return false;
    }
    let Some(token) = tokens.last() else { return true };
    let before = tokens.len().checked_sub(2).and_then(|at| tokens.get(at));
    match token.kind {
        Kind::Word => {
            // The name of a variable or a member is never a keyword.
            let is_name = before.is_some_and(|before| {
                before.end == token.start
                    && matches!(
                        before.kind,
                        Kind::Sign(b'$' | b'@' | b'%' | b'&' | b'.' | b'>' | b':')
                    )
            });
            let is_keyword = match (language, text.get(token.start..token.end).unwrap_or(&[])) {
                (_, b"return") => true,
                (Role::Javascript, _) => false,
                (_, b"if" | b"unless" | b"and" | b"or" | b"not" | b"while" | b"when") => true,
                (Role::Perl, b"split" | b"grep") => true,
                _ => false,
            };
            is_keyword && !is_name
        }
        Kind::Text | Kind::Ticks | Kind::Doubt => false,
        Kind::Sign(sign) => {
            !matches!(sign, b')' | b']' | b'}') && !is_divisible(language, text, tokens)
        }
    }
}

/// Returns the end of a pattern. In JavaScript, a `/` between brackets is part of the pattern.
fn regex_end(language: Role, text: &[u8], start: usize) -> usize {
    if language != Role::Javascript {
        return quoted_end(text, start, b'/', true);
    }
    let mut at = start + 1;
    let mut is_class = false;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'/' if !is_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Returns the end of a quoting operator of Perl (`s/a/b/`, `m{a}`, `tr/a/b/`, `q(a)`), and whether
/// it runs its content.
fn operator(text: &[u8], at: usize, end: usize) -> Option<(usize, bool)> {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    if before.is_some_and(|byte| is_word(*byte) || matches!(byte, b'$' | b'@' | b'%' | b'>')) {
        return None;
    }
    let rest = text.get(at..end)?;
    let (name, sections) =
        [("tr", 2), ("qr", 1), ("qq", 1), ("qw", 1), ("s", 2), ("y", 2), ("m", 1), ("q", 1)]
            .into_iter()
            .find(|(name, _)| rest.starts_with(name.as_bytes()))?;
    let mut next = at + name.len();
    let sign = *text.get(next)?;
    if is_word(sign) || sign.is_ascii_whitespace() || matches!(sign, b'=' | b',' | b';' | b')') {
        return None;
    }
    let close = match sign {
        b'{' => b'}',
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        other => other,
    };
    for section in 0..sections {
        if section > 0 && close != sign {
            next +=
                text.get(next..end)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        }
        next = if section > 0 && close == sign {
            quoted_end(text, next - 1, close, true)
        } else {
            quoted_end(text, next, close, true)
        };
    }
    let next = next.min(end);
    let flags = text.get(next..end)?.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let runs = name == "s" && text.get(next..next + flags)?.contains(&b'e');
    let holds_code = matches!(name, "s" | "m" | "qr" | "qq")
        && text
            .get(at..next)?
            .windows(2)
            .any(|pair| matches!(pair, b"@{" | b"${" | b"(?") && pair != b"(?")
        || text.get(at..next)?.windows(3).any(|part| matches!(part, b"(?{" | b"(??"))
        || (matches!(name, "s" | "m" | "qr" | "qq") && is_subscript_code(text.get(at..next)?));
    Some((next + flags, runs || holds_code))
}
