//! The bounds of a statement: whether its condition selects rows.

use super::tokens::Token;
use crate::value::is_hole;

/// The truth of a condition for all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Always,
    Never,
    Depends,
}

/// An operator that waits for its right side, in order of binding strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// A parenthesis, and the index of the token after it.
    Open(usize),
    Or,
    And,
    Not,
}

/// Words other than column names.
const CONSTANT: &[&str] = &[
    "TRUE", "FALSE", "NULL", "NOT", "IS", "IN", "LIKE", "ILIKE", "BETWEEN", "EXISTS", "SELECT",
    "ANY", "ALL", "SOME", "VALUES", "CAST", "AS", "DIV", "MOD", "REGEXP", "RLIKE", "DISTINCT",
    "UNKNOWN", "XOR",
];

/// The longest comparison with both sides compared, in tokens.
const COMPARED_MAX: usize = 24;

/// Returns whether a statement selects rows; a condition that is always true selects all of them.
pub(super) fn is_bounded(text: &[u8], tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    let mut start = None;
    let mut end = tokens.len();
    for (at, token) in tokens.iter().enumerate() {
        match token.word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "LIMIT" if depth == 0 => return true,
            "TOP" if at <= 2 => return true,
            "FETCH" if depth == 0 && matches!(word(tokens, at + 1), "FIRST" | "NEXT") => {
                return true;
            }
            "WHERE" if depth == 0 && start.is_none() => start = Some(at + 1),
            "RETURNING" | "ORDER" | "GROUP" | "OPTION" | "COMMIT" | "SETTINGS"
                if depth == 0 && start.is_some() =>
            {
                end = end.min(at);
            }
            _ => {}
        }
    }
    let Some(start) = start else { return false };
    truth(text, tokens.get(start..end).unwrap_or(&[])) != Truth::Always
}

/// Returns the truth of a condition. Its parts wait on two stacks, so the depth of recursion is
/// fixed for every input.
fn truth(text: &[u8], tokens: &[Token]) -> Truth {
    let columns = columns(text, tokens);
    let names = |start: usize, end: usize| {
        let count = |at: usize| columns.get(at).copied().unwrap_or(0);
        count(end) > count(start)
    };
    let atom = |start: usize, end: usize| {
        let part = tokens.get(start..end).unwrap_or(&[]);
        compared(text, part, !names(start, end))
    };
    let mut values: Vec<Truth> = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // An operand may begin here.
        match word(tokens, at) {
            "NOT" | "!" => {
                waiting.push(Waiting::Not);
                at += 1;
                continue;
            }
            "(" if word(tokens, at + 1) != "SELECT" => {
                waiting.push(Waiting::Open(at));
                at += 1;
                continue;
            }
            _ => {}
        }
        let mut start = at;
        at = atom_end(tokens, at);
        values.push(atom(start, at));
        // After an operand come closing parentheses, then AND or OR.
        loop {
            match word(tokens, at) {
                ")" => {
                    settle(&mut values, &mut waiting, 0);
                    match waiting.pop() {
                        Some(Waiting::Open(open)) => start = open,
                        _ => return Truth::Depends,
                    }
                    at += 1;
                    if !ends_atom(tokens, at) {
                        // In `(a) = 1`, the parenthesis is a side of a comparison.
                        values.pop();
                        at = atom_end(tokens, at);
                        values.push(atom(start, at));
                    }
                }
                "OR" | "|" | "XOR" => {
                    settle(&mut values, &mut waiting, 1);
                    waiting.push(Waiting::Or);
                    at += joins(tokens, at);
                    break;
                }
                "AND" | "&" => {
                    settle(&mut values, &mut waiting, 2);
                    waiting.push(Waiting::And);
                    at += joins(tokens, at);
                    break;
                }
                _ => break,
            }
        }
        // INVARIANT: each round consumes a token.
        at = at.max(start + 1);
    }
    settle(&mut values, &mut waiting, 0);
    match (values.as_slice(), waiting.is_empty()) {
        ([only], true) => *only,
        _ => Truth::Depends,
    }
}

/// Joins operators that bind at least as tightly as `least` (1 is OR, 2 AND, 3 NOT), up to a
/// parenthesis.
fn settle(values: &mut Vec<Truth>, waiting: &mut Vec<Waiting>, least: u8) {
    loop {
        let (binds, last) = match waiting.last() {
            Some(Waiting::Or) => (1, Waiting::Or),
            Some(Waiting::And) => (2, Waiting::And),
            Some(Waiting::Not) => (3, Waiting::Not),
            Some(Waiting::Open(_)) | None => return,
        };
        if binds < least {
            return;
        }
        waiting.pop();
        let right = values.pop().unwrap_or(Truth::Depends);
        let joined = if last == Waiting::Not {
            match right {
                Truth::Always => Truth::Never,
                Truth::Never => Truth::Always,
                Truth::Depends => Truth::Depends,
            }
        } else {
            let left = values.pop().unwrap_or(Truth::Depends);
            // One value decides alone; the other leaves the decision to the other side.
            let (decides, leaves) = match last {
                Waiting::Or => (Truth::Always, Truth::Never),
                _ => (Truth::Never, Truth::Always),
            };
            match (left, right) {
                (one, _) | (_, one) if one == decides => decides,
                (one, other) | (other, one) if one == leaves => other,
                _ => Truth::Depends,
            }
        };
        values.push(joined);
    }
}

/// Returns the number of tokens of AND or OR: `||` and `&&` are two.
fn joins(tokens: &[Token], at: usize) -> usize {
    match word(tokens, at) {
        "|" | "&" => 2,
        _ => 1,
    }
}

fn word(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.word.as_str())
}

/// Returns whether an operand of AND and OR ends before this token.
fn ends_atom(tokens: &[Token], at: usize) -> bool {
    match word(tokens, at) {
        "AND" | "OR" | "XOR" | ")" => true,
        sign @ ("|" | "&") => word(tokens, at + 1) == sign,
        _ => at >= tokens.len(),
    }
}

/// Returns the end of an operand of AND and OR.
fn atom_end(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    let mut open = 0usize;
    while at < tokens.len() {
        match word(tokens, at) {
            "(" => open += 1,
            ")" if open > 0 => open -= 1,
            _ if open == 0 && ends_atom(tokens, at) => break,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns, for each token, the number of earlier tokens whose value depends on the row.
fn columns(text: &[u8], tokens: &[Token]) -> Vec<usize> {
    let mut count = 0;
    let mut before = vec![0];
    for (at, token) in tokens.iter().enumerate() {
        let first = text.get(token.start).copied().unwrap_or(0);
        let is_name = match token.word.as_str() {
            "" => !token.is_text(text),
            word => {
                let is_call = self::word(tokens, at + 1) == "(";
                (first.is_ascii_alphabetic() || first == b'_')
                    && !CONSTANT.contains(&word)
                    && !is_call
            }
        };
        count +=
            usize::from(is_name || is_hole(first) || matches!(first, b'@' | b':' | b'?' | b'%'));
        before.push(count);
    }
    before
}

/// Returns the truth of one comparison.
fn compared(text: &[u8], part: &[Token], is_constant: bool) -> Truth {
    let shown =
        |token: &Token| text.get(token.start..token.end).unwrap_or(&[]).to_ascii_uppercase();
    if let [only] = part {
        return match only.word.as_str() {
            "TRUE" => Truth::Always,
            "FALSE" | "NULL" => Truth::Never,
            "" if only.is_text(text) => {
                let (start, end) = only.content(text);
                let value = text.get(start..end).unwrap_or(&[]);
                match value.iter().any(|byte| matches!(byte, b'1'..=b'9')) || value == b"t" {
                    true => Truth::Always,
                    false => Truth::Never,
                }
            }
            word if word.bytes().all(|byte| byte == b'0') && !word.is_empty() => Truth::Never,
            _ if is_constant => Truth::Always,
            _ => Truth::Depends,
        };
    }
    if part.is_empty() {
        return Truth::Depends;
    }
    if part.len() > COMPARED_MAX {
        return if is_constant { Truth::Always } else { Truth::Depends };
    }
    let is_sign = |token: &&Token| matches!(token.word.as_str(), "=" | "<" | ">" | "!");
    let left = part.iter().position(|token| is_sign(&token) || token.word.ends_with("LIKE"));
    let Some(left) = left else {
        return if is_constant { Truth::Always } else { Truth::Depends };
    };
    let signs = part.iter().skip(left).take_while(is_sign).count().max(1);
    let operator: String =
        part.iter().skip(left).take(signs).map(|token| token.word.as_str()).collect();
    let before = part.get(..left).unwrap_or(&[]);
    let after = part.get(left + signs..).unwrap_or(&[]);
    let is_same = !before.is_empty() && before.iter().map(shown).eq(after.iter().map(shown));
    let admits_equal =
        matches!(operator.as_str(), "=" | "==" | "<=" | ">=" | "<=>" | "=>" | "LIKE" | "ILIKE");
    if operator.ends_with("LIKE") {
        let is_all = matches!(after, [only] if shown(only) == b"'%'" || shown(only) == b"'%%'");
        let is_negated = before.last().is_some_and(|token| token.word == "NOT");
        return match (is_all || is_same, is_negated) {
            (true, false) => Truth::Always,
            (true, true) => Truth::Never,
            _ if is_constant => Truth::Always,
            _ => Truth::Depends,
        };
    }
    if is_same {
        return if admits_equal { Truth::Always } else { Truth::Never };
    }
    if !is_constant {
        return Truth::Depends;
    }
    // Different literals: only some comparisons hold.
    let [left, right] = [before, after].map(|side| match side {
        [only] => Some(shown(only)),
        _ => None,
    });
    let (Some(left), Some(right)) = (left, right) else { return Truth::Always };
    let number = |side: &[u8]| str::from_utf8(side).ok().and_then(|side| side.parse::<u64>().ok());
    let (left, right) = match (number(&left), number(&right)) {
        (Some(left), Some(right)) => (left, right),
        _ => return if operator == "=" { Truth::Never } else { Truth::Always },
    };
    let holds = match operator.as_str() {
        "=" | "==" => left == right,
        "<>" | "!=" => left != right,
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        ">=" => left >= right,
        _ => true,
    };
    if holds { Truth::Always } else { Truth::Never }
}
