//! Patterns of names, hosts and words: `*` matches any run, `?` one character.

use super::fit::Fit;
use crate::value::{Mark, display, is_exact, is_hole, is_mark, is_root};

/// The most steps for a value with unknown parts; a longer one may match.
const STEPS_MAX: usize = 1 << 16;

/// Returns whether a text without unknown parts matches a pattern.
#[must_use]
pub fn glob_fit(pattern: &str, text: &str) -> Fit {
    Fit::known(is_match(pattern.as_bytes(), text.as_bytes()))
}

/// Returns whether a value matches a pattern.
pub(super) fn value_fit(pattern: &str, value: &[u8]) -> Fit {
    let pattern = pattern.as_bytes();
    if is_exact(value) {
        if !value.iter().any(|byte| is_root(*byte)) {
            return Fit::known(is_match(pattern, value));
        }
        return Fit::known(is_match(pattern, display(value).as_bytes()));
    }
    // A run in the pattern covers an unknown part, so every text of the value matches.
    if is_match(pattern, value) {
        return Fit::Surely;
    }
    match pattern.len().saturating_mul(value.len()) > STEPS_MAX || may_match(pattern, value) {
        true => Fit::Maybe,
        false => Fit::No,
    }
}

fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    // The position after the last `*`, and the text matched by it so far.
    let mut back: Option<(usize, usize)> = None;
    let (mut at, mut read) = (0, 0);
    while let Some(byte) = text.get(read) {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                back = Some((at, read));
            }
            Some(b'?') if !is_mark(*byte) => {
                at += 1;
                read += 1;
                // One character may have several bytes.
                while text.get(read).is_some_and(|byte| byte & 0xc0 == 0x80) {
                    read += 1;
                }
            }
            Some(letter) if letter == byte => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((from, taken)) = back else { return false };
                back = Some((from, taken + 1));
                (at, read) = (from, taken + 1);
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// Returns whether a text of a value may match: the two patterns have a text in common.
fn may_match(pattern: &[u8], value: &[u8]) -> bool {
    let is_run = |byte: u8| is_hole(byte) || Mark::Star.is(byte) || Mark::Name.is(byte);
    // Row by row of the value: whether the rest of the pattern from each position can be reached.
    let width = pattern.len() + 1;
    let mut reached = vec![false; width];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    spread(pattern, &mut reached);
    for byte in value {
        let mut next = vec![false; width];
        for at in 0..width {
            if !reached.get(at).copied().unwrap_or(false) {
                continue;
            }
            let mut reach = |to: usize| {
                if let Some(cell) = next.get_mut(to) {
                    *cell = true;
                }
            };
            if is_run(*byte) {
                // The unknown part may be empty, or any part of the pattern.
                (at..width).for_each(&mut reach);
                continue;
            }
            match pattern.get(at) {
                Some(b'*') => reach(at),
                Some(b'?') => reach(at + 1),
                Some(letter) if letter == byte || is_mark(*byte) => reach(at + 1),
                _ => {}
            }
        }
        spread(pattern, &mut next);
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// A `*` may be empty.
fn spread(pattern: &[u8], reached: &mut [bool]) {
    for at in 0..pattern.len() {
        let is_open = reached.get(at).copied().unwrap_or(false) && pattern.get(at) == Some(&b'*');
        if is_open && let Some(next) = reached.get_mut(at + 1) {
            *next = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_texts() {
        for (pattern, text, holds) in [
            ("nginx", "nginx", true),
            ("nginx", "nginx2", false),
            ("db-*", "db-1", true),
            ("*.corp.example", "a.b.corp.example", true),
            ("*.corp.example", "corp.example", false),
            ("a?c", "aéc", true),
            ("a*b*c", "axbxc", true),
            ("", "", true),
        ] {
            assert_eq!(glob_fit(pattern, text), Fit::known(holds), "{pattern} {text}");
        }
    }

    #[test]
    fn an_unknown_part_may_match_and_is_only_covered_by_a_run() {
        let hole = |before: &str, after: &str| {
            [before.as_bytes(), Mark::Hole.text(), after.as_bytes()].concat()
        };
        assert_eq!(value_fit("db-1", &hole("db-", "")), Fit::Maybe);
        assert_eq!(value_fit("web-1", &hole("db-", "")), Fit::No);
        assert_eq!(value_fit("db-*", &hole("db-", "")), Fit::Surely);
        assert_eq!(value_fit("*", &hole("", "")), Fit::Surely);
        assert_eq!(value_fit("a*z", &hole("a", "y")), Fit::No);
        assert_eq!(value_fit("x", &hole("", "")), Fit::Maybe);
    }
}
