//! Patterns of names against a matcher that tries everything.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use relay_engine::glob::{GlobError, Part, check, matches, parts};

/// Returns whether parts match letters, by trying every length of every run.
fn fits(parts: &[Part<'_>], name: &[char]) -> bool {
    match parts.split_first() {
        None => name.is_empty(),
        Some((Part::Run, rest)) => (0..=name.len()).any(|taken| fits(rest, &name[taken..])),
        Some((part, rest)) => {
            name.split_first().is_some_and(|(letter, after)| part.has(*letter) && fits(rest, after))
        }
    }
}

/// Pieces of patterns, some of which are whole only together with what follows.
pub(super) const PIECES: &[&str] = &[
    "*", "**", "?", "a", "b", "-", "é", "]", "!", "[a]", "[!a]", "[ab-]", "[a-é]", "[!b-c]",
    "[?*]", "[[]", "[", "[]", "[!]", "[b-a]", "[a-",
];

pub(super) fn any_pattern() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..7).prop_map(|pieces| pieces.concat())
}

pub(super) fn any_name() -> impl Strategy<Value = String> {
    vec(select(vec!['a', 'b', 'c', '-', 'é', '*', '[', ']', '!']), 0..7)
        .prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn match_as_a_matcher_that_tries_everything(pattern in any_pattern(), name in any_name()) {
        let found = matches(&pattern, &name);
        if check(&pattern).is_ok() {
            let parts: Vec<Part<'_>> = parts(&pattern).collect();
            let letters: Vec<char> = name.chars().collect();
            prop_assert_eq!(found, fits(&parts, &letters), "{} {}", pattern, name);
        }
    }
}

#[test]
fn match_whole_names() {
    for (pattern, name, expected) in [
        ("api-*", "api-search", true),
        ("api-*", "api-", true),
        ("api-*", "xapi-search", false),
        ("*", "anything.at/all", true),
        ("*", "", true),
        ("node-?", "node-7", true),
        ("node-?", "node-", false),
        ("node-?", "node-77", false),
        ("fs.read", "fsXread", false),
        ("API-*", "api-search", false),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "aXbYcd", false),
        ("a*b*c", "aXbYcdc", true),
        ("[a-c]x", "bx", true),
        ("[a-c]x", "dx", false),
        ("[!a-c]x", "bx", false),
        ("[!a-c]x", "dx", true),
        ("[a-]x", "-x", true),
        ("[-a]x", "-x", true),
        ("[a-c-e]", "-", true),
        ("[a-c-e]", "d", false),
        ("[!!]", "!", false),
        ("[[]]", "[]", true),
        ("a]", "a]", true),
        ("*é?", "xéy", true),
        ("a", "", false),
    ] {
        assert_eq!(check(pattern), Ok(()), "{pattern}");
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn are_refused_at_the_character() {
    for (pattern, expected) in [
        ("", GlobError::Empty),
        ("é[b", GlobError::Unclosed(2)),
        ("[", GlobError::Unclosed(0)),
        ("[a][", GlobError::Unclosed(3)),
        ("a[]", GlobError::EmptySet(1)),
        ("a[!]x]", GlobError::EmptySet(1)),
        ("a[c-a]", GlobError::Reversed(2)),
        ("[!éc-a]", GlobError::Reversed(4)),
    ] {
        assert_eq!(check(pattern), Err(expected), "{pattern}");
    }
}

#[test]
fn take_time_that_grows_with_both_lengths_alone() {
    // A matcher that tries every length of every run would run for ever here.
    let pattern = "a*".repeat(60) + "b";
    assert!(!matches(&pattern, &"a".repeat(64)));
    assert!(matches(&pattern, &("a".repeat(64) + "b")));
}
