//! Regexes of rules: Python's answers, an independent engine, limits, and tables of automata.

pub(crate) mod entry;
mod faults;
mod python;
mod random;
mod table;

use relay_bundle::{Automaton, AutomatonParts};
use relay_compiler::automaton::{RegexError, compile};

/// Returns whether a pattern matches, by the record that a server reads.
fn matches(pattern: &str, text: &[u8]) -> Result<bool, RegexError> {
    compile(pattern).map(|parts| answers(&parts, text))
}

/// Returns whether an automaton matches.
fn answers(parts: &AutomatonParts, text: &[u8]) -> bool {
    let record = parts.to_bytes();
    let automaton = Automaton::open(&record).expect("a valid record");
    assert_eq!(automaton.parts(), AutomatonParts { literals: Vec::new(), ..parts.clone() });
    automaton.matches(text)
}

#[test]
fn bytes_that_are_not_utf_8_are_bytes_like_others() {
    let cases: &[(&str, &[u8], bool)] = &[
        ("^.$", b"\xff", true),
        (r"^\W\S\D[^a]$", b"\xff\xfe\x80\xc3", true),
        (r"\w", b"\xff", false),
        ("é", b"\xc3", false),
        ("é", b"\xff\xc3\xa9", true),
        (r"rm\b", b"rm\xc3", true),
        (r"a$", b"a\xff\n", false),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(matches(pattern, text).unwrap(), *expected, "{pattern} in {text:?}");
    }
}

#[test]
fn equal_languages_have_equal_automata() {
    let pairs = [
        (r"systemctl (restart|reload) nginx", r"systemctl (?:re(?:load|start)) nginx"),
        (r"a+", r"aa*"),
        (r"^(a|b)*$", r"^[ab]*$"),
        (r"(?i)rm", r"[rR][mM]"),
        (r"x{2,}", r"xx"),
        (r"a\Z|a\n\Z", r"a$"),
        (r"[^\w\W]", r"a\bb"),
        (r"a\b\Z|a\n\Z", r"(?:a$)+"),
        (r"", r"x*"),
        (r"", r"\Z"),
        (r"(?s)[\na].", r"(?s)a.|\n(?:\n|[^\n])"),
        (r"\n(?s:.)|\nb", r"\n[^b]|\nb"),
    ];
    for (left, right) in pairs {
        let record = |pattern: &str| compile(pattern).unwrap().to_bytes();
        assert_eq!(record(left), record(right), "{left} and {right}");
    }
    assert_ne!(compile("a$").unwrap().to_bytes(), compile(r"a\Z").unwrap().to_bytes());
}

#[test]
fn automata_know_when_they_answer_always_the_same() {
    let asked = |pattern: &str| {
        let record = compile(pattern).unwrap().to_bytes();
        let automaton = Automaton::open(&record).unwrap();
        (automaton.matches_nothing(), automaton.matches_everything(), automaton.states())
    };
    assert_eq!(asked(r"a\bb"), (true, false, 2));
    assert_eq!(asked("a|"), (false, true, 2));
    assert_eq!(asked("rm"), (false, false, 4));
}
