//! The operators of `${name…}`, applied to a known value.

use crate::value::{is_match, is_wildcard};

/// Returns the result of an operator. The word after the operator has marks for `*` and `?`.
/// Returns `None` for other operations.
pub(super) fn apply(operator: u8, value: &[u8], written: &[u8]) -> Option<Vec<u8>> {
    match (operator, written) {
        (b'^', []) => recased(value, 1, u8::to_ascii_uppercase),
        (b'^', b"^") => recased(value, value.len(), u8::to_ascii_uppercase),
        (b',', []) => recased(value, 1, u8::to_ascii_lowercase),
        (b',', b",") => recased(value, value.len(), u8::to_ascii_lowercase),
        (b'#', [b'#', pattern @ ..]) => Some(without_start(value, pattern, true)),
        (b'#', pattern) => Some(without_start(value, pattern, false)),
        (b'%', [b'%', pattern @ ..]) => Some(without_end(value, pattern, true)),
        (b'%', pattern) => Some(without_end(value, pattern, false)),
        (b':', range) => slice(value, range),
        (b'/', change) => replaced(value, change),
        _ => None,
    }
}

fn recased(value: &[u8], count: usize, change: fn(&u8) -> u8) -> Option<Vec<u8>> {
    let (first, rest) = value.split_at_checked(count.min(value.len()))?;
    Some(first.iter().map(change).chain(rest.iter().copied()).collect())
}

fn without_start(value: &[u8], pattern: &[u8], longest: bool) -> Vec<u8> {
    let mut ends = (0..=value.len())
        .filter(|end| value.get(..*end).is_some_and(|start| is_match(pattern, start)));
    let end = if longest { ends.next_back() } else { ends.next() };
    value.get(end.unwrap_or(0)..).unwrap_or(&[]).to_vec()
}

fn without_end(value: &[u8], pattern: &[u8], longest: bool) -> Vec<u8> {
    let mut starts = (0..=value.len())
        .filter(|start| value.get(*start..).is_some_and(|end| is_match(pattern, end)));
    let start = if longest { starts.next() } else { starts.next_back() };
    value.get(..start.unwrap_or(value.len())).unwrap_or(&[]).to_vec()
}

/// Returns `OFFSET` or `OFFSET:LENGTH` of a value; `None` unless these are plain numbers.
fn slice(value: &[u8], range: &[u8]) -> Option<Vec<u8>> {
    let mut numbers = str::from_utf8(range).ok()?.splitn(2, ':').map(|part| part.trim().parse());
    let start: usize = numbers.next()?.ok()?;
    let length = match numbers.next() {
        Some(length) => length.ok()?,
        None => value.len(),
    };
    let end = start.saturating_add(length).min(value.len());
    Some(value.get(start.min(end)..end).unwrap_or(&[]).to_vec())
}

/// Returns a value with the first or every match of a text replaced; `None` for a pattern.
fn replaced(value: &[u8], change: &[u8]) -> Option<Vec<u8>> {
    let (all, change) = match change {
        [b'/', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let end = change.iter().position(|byte| *byte == b'/').unwrap_or(change.len());
    let (sought, new) = (change.get(..end)?, change.get(end + 1..).unwrap_or(&[]));
    let is_plain = !sought.iter().any(|byte| is_wildcard(*byte) || matches!(*byte, b'[' | b'\\'));
    // In some versions `&` means the match.
    if sought.is_empty() || !is_plain || matches!(sought, [b'#' | b'%', ..]) || new.contains(&b'&')
    {
        return None;
    }
    let mut made = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.windows(sought.len()).position(|part| part == sought) {
        made.extend(rest.get(..at)?);
        made.extend(new);
        rest = rest.get(at + sought.len()..)?;
        if !all {
            break;
        }
    }
    made.extend(rest);
    Some(made)
}
