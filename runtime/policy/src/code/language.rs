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
    /// What may be read in two ways, so that what follows may be code or text.
    Doubt,
    Sign(u8),
}

/// Words that do something for each of many things.
const MANY: &[&str] = &[
    "for",
    "foreach",
    "forEach",
    "map",
    "array_map",
    "array_walk",
    "each",
    "glob",
    "rglob",
    "iglob",
    "walk",
    "listdir",
    "readdir",
    "readdirSync",
    "scandir",
    "iterdir",
    "entries",
    "children",
    "grep",
];

/// Returns what code does.
pub(crate) fn findings(language: Role, text: &[u8], facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tokens = tokens(language, text, 0, text.len(), 0);
    let mut is_opaque = None;
    let mut runs = false;
    let shown = |token: &Token| {
        str::from_utf8(text.get(token.start..token.end).unwrap_or(&[])).unwrap_or("")
    };
    let is_many = tokens.iter().any(|token| match token.kind {
        Kind::Word => MANY.contains(&shown(token)),
        Kind::Text => shown(token).contains('*'),
        _ => false,
    });
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
                    Some(WordKind::Removes) => {
                        findings.push(Finding::new(token.start, token.end, removes(is_many)));
                    }
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
            // The name of a function may be a text: `array_map("unlink", …)`.
            Kind::Text => {
                let (start, end) = content(text, token);
                let name = str::from_utf8(text.get(start..end).unwrap_or(&[])).unwrap_or("");
                let what = match facts.word(language, name) {
                    Some(WordKind::Removes) => removes(is_many),
                    Some(WordKind::Deletes) => What::Tier(Tier::Irreversible, "deletes for good"),
                    _ => continue,
                };
                findings.push(Finding::new(start, end, what));
            }
            Kind::Doubt => is_opaque = is_opaque.or(Some(token)),
            Kind::Sign(_) if is_by_name(language, &tokens, at) => {
                is_opaque = is_opaque.or(Some(token));
            }
            Kind::Sign(_) => {}
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
        for (first, last) in lists(&tokens) {
            findings.push(Finding::new(first, last, What::Words));
        }
    }
    if let Some(token) = is_opaque {
        let reason = "this word is not known to be harmless";
        findings.push(Finding::new(token.start, token.end, What::Opaque(reason)));
    }
    findings
}

fn removes(is_many: bool) -> What {
    match is_many {
        true => What::Tier(Tier::Irreversible, "removes files, one after the other"),
        false => What::Tier(Tier::Stateful, "removes a file"),
    }
}

/// Returns where texts are that only commas separate: the words of a program.
fn lists(tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut lists = Vec::new();
    let mut open: Option<(usize, usize, usize)> = None;
    for token in tokens {
        match (token.kind, open) {
            (Kind::Text, None) => open = Some((token.start, token.end, 1)),
            (Kind::Text, Some((start, _, count))) => open = Some((start, token.end, count + 1)),
            (Kind::Sign(b','), Some(_)) => {}
            _ => lists.extend(open.take().filter(|(_, _, count)| *count > 1)),
        }
    }
    lists.extend(open.filter(|(_, _, count)| *count > 1));
    lists.into_iter().map(|(start, end, _)| (start, end)).collect()
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

/// Returns whether a sign calls or picks something whose name is no word of the code: `f()()`, `x["name"]`,
/// `"name"(…)`, `$f(…)`.
fn is_by_name(language: Role, tokens: &[Token], at: usize) -> bool {
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

/// Returns whether a word is a variable that the code itself names: it is assigned, or bound by a loop.
fn is_local(tokens: &[Token], at: usize, text: &[u8]) -> bool {
    let shown = |token: &Token| text.get(token.start..token.end).unwrap_or(&[]);
    let Some(word) = tokens.get(at).map(&shown) else { return false };
    // A member has its own name, whatever variables are called.
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

fn tokens(language: Role, text: &[u8], start: usize, end: usize, depth: u8) -> Vec<Token> {
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
                at += 1;
            }
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
                    // Quotes may be nested in what is expanded; then the text ends elsewhere.
                    let open = text.get(from..at).unwrap_or(&[]);
                    let count = |sign: u8| open.iter().filter(|byte| **byte == sign).count();
                    if has_code && count(b'{') != count(b'}') {
                        tokens.push(Token { kind: Kind::Doubt, start: from, end: at });
                    }
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
                // What `s///e` replaces is code.
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

/// Returns whether a sign begins something else for some readers than for this one.
fn is_doubtful(language: Role, text: &[u8], at: usize, tokens: &[Token]) -> bool {
    let byte = text.get(at).copied().unwrap_or(0);
    let next = text.get(at + 1).copied().unwrap_or(0);
    let is_after_word = tokens.last().is_some_and(|token| token.kind == Kind::Word);
    match (language, byte) {
        // After a word a `/` divides or begins a pattern.
        (Role::Perl | Role::Ruby | Role::Javascript, b'/') => {
            is_after_word && !is_regex(language, tokens, text) && next != b'='
        }
        // `?#` is a character, `%(…)` a text.
        (Role::Ruby, b'?') => !next.is_ascii_whitespace(),
        (Role::Ruby, b'%') => next.is_ascii_punctuation() && next != b'=',
        (Role::Php, b'?') => next == b'>',
        (Role::Php, b'<') => text.get(at + 1..at + 3) == Some(b"<<"),
        _ => false,
    }
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
            Kind::Text | Kind::Ticks | Kind::Doubt => false,
            Kind::Sign(sign) => !matches!(sign, b')' | b']' | b'}'),
        },
    }
}

/// Returns where an operator of Perl that quotes ends (`s/a/b/`, `m{a}`, `tr/a/b/`, `q(a)`), and whether it runs
/// what it holds.
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
        || text.get(at..next)?.windows(3).any(|part| matches!(part, b"(?{" | b"(??"));
    Some((next + flags, runs || holds_code))
}
