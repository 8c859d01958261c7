//! Patterns of names, hosts and words: `*` matches any run, `?` one character.

use super::fit::Fit;
use crate::value::{display, is_exact, is_mark, is_root, may_match};

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
    Fit::known(may_match(pattern, value)).doubted()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Mark;

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
