//! Programs of awk.

use super::finding::{Finding, What, computed, is_word, quoted_end};
use crate::effect::{Act, Touch};
use crate::value::is_hole;

/// A token of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Word,
    Text,
    Regex,
    Sign(u8),
    /// `||`, `&&`, `>=`, …
    Pair(u8, u8),
    Line,
}

/// Returns the effects of a program beyond printing.
pub(crate) fn findings(text: &[u8]) -> Vec<Finding> {
    let tokens = tokens(text);
    let mut findings = computed(text);
    // In `print`, a `>` outside of parentheses names a file.
    let mut prints = false;
    // After `getline`, a `<` names a file.
    let mut reads = false;
    let mut open = 0usize;
    for (at, (token, start, end)) in tokens.iter().enumerate() {
        let word = text.get(*start..*end).unwrap_or(&[]);
        let token_at = |at: usize| tokens.get(at).map(|(token, ..)| *token);
        let next = token_at(at + 1);
        let before = at.checked_sub(1).and_then(token_at);
        match token {
            Token::Word if matches!(word, b"print" | b"printf") => {
                prints = true;
                open = 0;
            }
            Token::Word if word == b"system" => {
                let is_literal = next == Some(Token::Sign(b'('))
                    && token_at(at + 2) == Some(Token::Text)
                    && token_at(at + 3) == Some(Token::Sign(b')'));
                let literal = is_literal.then_some(at + 2);
                runs(&tokens, literal, What::Shell, (*start, *end), &mut findings);
            }
            Token::Word if word == b"getline" => {
                reads = true;
            }
            Token::Sign(b'<') if reads => {
                reads = false;
                findings.push(file_read(&tokens, text, at));
            }
            // The operands, which are files, may be changed.
            Token::Word if word == b"ARGV" => {
                findings.push(Finding::new(*start, *end, What::ReadsAny));
            }
            // A value in an expression may be any; what begins a statement may be any code.
            Token::Word
                if word.iter().any(|byte| is_hole(*byte))
                    && (before.is_none_or(is_statement_end) && !goes_on(&tokens, at)) =>
            {
                let what = What::Unknown("this program is not literal");
                for what in [what, What::ReadsAny, What::TouchesAny(Touch::Write)] {
                    findings.push(Finding::new(*start, *end, what));
                }
            }
            // A statement goes on after a comma, and after `&&` and `||`.
            Token::Line if goes_on(&tokens, at) => {}
            token if is_statement_end(*token) => {
                prints = false;
                reads = false;
            }
            Token::Sign(b'(') => open += 1,
            Token::Sign(b')') => open = open.saturating_sub(1),
            Token::Sign(b'|') | Token::Pair(b'|', b'&') => {
                let is_input = tokens
                    .get(at + 1)
                    .is_some_and(|(_, start, end)| text.get(*start..*end) == Some(b"getline"));
                let code = if is_input { at.checked_sub(1) } else { Some(at + 1) };
                let is_text = code.and_then(token_at) == Some(Token::Text);
                // A text concatenated with another is only a part of the command.
                let is_whole = if is_input {
                    !matches!(
                        at.checked_sub(2).and_then(token_at),
                        Some(Token::Word | Token::Text | Token::Sign(b')'))
                    )
                } else {
                    matches!(token_at(at + 2), None | Some(Token::Line | Token::Sign(b';' | b'}')))
                };
                let literal = code.filter(|_| is_text && is_whole);
                let what = if is_input { What::Shell } else { What::Fed };
                runs(&tokens, literal, what, (*start, *end), &mut findings);
            }
            Token::Sign(b'>') | Token::Pair(b'>', b'>') if prints && open == 0 => {
                let is_whole =
                    matches!(token_at(at + 2), None | Some(Token::Line | Token::Sign(b';' | b'}')));
                match tokens.get(at + 1) {
                    Some((Token::Text, start, end)) if is_whole && is_plain(text, *start, *end) => {
                        findings.push(Finding::new(
                            start + 1,
                            end - 1,
                            What::Touches(Touch::Write),
                        ));
                    }
                    _ => {
                        for what in
                            [What::Does(Act::WritesUnknownFile), What::TouchesAny(Touch::Write)]
                        {
                            findings.push(Finding::new(*start, *end, what));
                        }
                    }
                }
            }
            Token::Sign(b'@') => {
                let is_load = before.is_none() || before == Some(Token::Line);
                let reason =
                    if is_load { "it loads other code" } else { "it calls a function by name" };
                for what in [What::Opaque(reason), What::ReadsAny, What::TouchesAny(Touch::Write)] {
                    findings.push(Finding::new(*start, *end, what));
                }
            }
            _ => {}
        }
    }
    findings
}

/// Returns the file that `getline < FILE` reads.
fn file_read(tokens: &[(Token, usize, usize)], text: &[u8], from: usize) -> Finding {
    let next = tokens.get(from + 2).map(|(token, ..)| *token);
    // Other readers may see a longer text, or a calculation.
    let is_whole = !matches!(next, Some(Token::Word | Token::Text | Token::Sign(b'(' | b'$')));
    match tokens.get(from + 1) {
        Some((Token::Text, start, end)) if is_whole && is_plain(text, *start, *end) => {
            Finding::new(start + 1, end - 1, What::Reads)
        }
        _ => {
            let (start, end) = tokens.get(from).map_or((0, 0), |(_, start, end)| (*start, *end));
            Finding::new(start, end, What::ReadsAny)
        }
    }
}

fn runs(
    tokens: &[(Token, usize, usize)],
    literal: Option<usize>,
    what: What,
    (start, end): (usize, usize),
    findings: &mut Vec<Finding>,
) {
    match literal.and_then(|at| tokens.get(at)) {
        Some((_, start, end)) => findings.push(Finding::new(start + 1, end - 1, what)),
        None => {
            let what = What::Unknown("it runs a command that is not literal");
            findings.push(Finding::new(start, end, what));
            findings.push(Finding::new(start, end, What::ReadsAny));
            findings.push(Finding::new(start, end, What::TouchesAny(Touch::Write)));
        }
    }
}

const fn is_statement_end(token: Token) -> bool {
    matches!(token, Token::Line | Token::Sign(b';' | b'{' | b'}'))
}

/// Returns whether a statement goes on after the end of a line.
fn goes_on(tokens: &[(Token, usize, usize)], line: usize) -> bool {
    let before = tokens.iter().take(line).rev().map(|(token, ..)| *token);
    let last = before.into_iter().find(|token| *token != Token::Line);
    matches!(last, Some(Token::Sign(b',') | Token::Pair(b'&', b'&') | Token::Pair(b'|', b'|')))
}

/// Returns whether a text is the name that it shows.
fn is_plain(text: &[u8], start: usize, end: usize) -> bool {
    !text.get(start..end).unwrap_or(&[]).contains(&b'\\')
}

fn tokens(text: &[u8]) -> Vec<(Token, usize, usize)> {
    let mut tokens: Vec<(Token, usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let start = at;
        let next = text.get(at + 1).copied().unwrap_or(0);
        // A `/` after a value is a division.
        let is_value = match tokens.last() {
            Some((Token::Word, start, end)) => !matches!(
                text.get(*start..*end),
                Some(b"return" | b"in" | b"print" | b"printf" | b"else" | b"do")
            ),
            Some((Token::Text | Token::Regex | Token::Sign(b')' | b']' | b'$'), ..)) => true,
            _ => false,
        };
        let token = match byte {
            b'\n' => {
                at += 1;
                Token::Line
            }
            b'\\' => {
                at += 2;
                continue;
            }
            b'#' => {
                while at < text.len() && text.get(at) != Some(&b'\n') {
                    at += 1;
                }
                continue;
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'"' => {
                at = quoted_end(text, at, b'"', true);
                Token::Text
            }
            b'/' if !is_value => {
                at = quoted_end(text, at, b'/', true);
                Token::Regex
            }
            _ if is_word(byte) || crate::value::is_mark(byte) => {
                while text
                    .get(at)
                    .is_some_and(|byte| is_word(*byte) || crate::value::is_mark(*byte))
                {
                    at += 1;
                }
                Token::Word
            }
            b'|' | b'&' if next == byte => {
                at += 2;
                Token::Pair(byte, next)
            }
            b'|' if next == b'&' => {
                at += 2;
                Token::Pair(byte, next)
            }
            b'>' | b'<' | b'=' | b'!' if next == b'=' => {
                at += 2;
                Token::Pair(byte, next)
            }
            b'>' if next == b'>' => {
                at += 2;
                Token::Pair(byte, next)
            }
            _ => {
                at += 1;
                Token::Sign(byte)
            }
        };
        tokens.push((token, start, at));
    }
    tokens
}
