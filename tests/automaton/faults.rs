//! Faults at their part of the pattern, and limits.

use relay_bundle::AUTOMATON_STATES_MAX;
use relay_compiler::automaton::{RegexFault, compile};

/// Compiles a pattern with a fault, and compares the part at fault.
fn check(pattern: &str, part: &str, fault: RegexFault) {
    let error = compile(pattern).expect_err(pattern);
    let found = pattern.get(error.at.clone()).expect("a part of the pattern");
    assert_eq!((found, error.fault), (part, fault), "{pattern:?}");
    assert!(!fault.help().is_empty() && !error.to_string().ends_with('.'));
}

#[test]
fn a_fault_is_at_its_part() {
    check(r"rm(?=\s)x", r"(?=\s)", RegexFault::Lookahead);
    check(r"rm(?!\s)x", r"(?!\s)", RegexFault::NegativeLookahead);
    check(r"rm(?!\w)x", r"(?!\w)", RegexFault::NotBeforeWord);
    check(r"(?<=\s)rm", r"(?<=\s)", RegexFault::Lookbehind);
    check(r"(?<![\w-])rm", r"(?<![\w-])", RegexFault::NegativeLookbehind);
    check(r"(?<!\w)rm", r"(?<!\w)", RegexFault::NotAfterWord);
    check(r"(a)b\1", r"\1", RegexFault::Backreference);
    check(r"(?P<x>a)(?P=x)", r"(?P=x)", RegexFault::Backreference);
    check(r"x(?>ab)y", r"(?>ab)", RegexFault::Atomic);
    check(r"xa{2}+y", r"{2}+", RegexFault::Atomic);
    check(r"ab(c|d", r"(c|d", RegexFault::OpenGroup);
    check(r"ab)c", r")", RegexFault::Parenthesis);
    check(r"a[b-", r"[b-", RegexFault::OpenClass);
    check(r"x[b-a]", r"b-a", RegexFault::Range);
    check(r"x[^aé]", r"[^aé]", RegexFault::NegatedCharacter);
    check(r"(?i)xé", r"é", RegexFault::LetterCase);
    check(r"x\xe9", r"\xe9", RegexFault::ByteOrCharacter);
    check(r"x[\351]", r"\351", RegexFault::ByteOrCharacter);
    check(r"x\q", r"\q", RegexFault::Escape);
    check(r"x(?i)y", r"(?i)", RegexFault::LateFlags);
    check(r"(?u)y", r"(?u", RegexFault::Flags);
    check(r"x**", r"*", RegexFault::MultipleRepeat);
    check(r"x|*", r"*", RegexFault::NothingToRepeat);
    check(r"(?<n>x)", r"(?<", RegexFault::Group);
    check(r"(?P<n>x)(?P<n>x)", r"(?P<n>", RegexFault::GroupName);
}

#[test]
fn rewrites_of_the_help_mean_the_same() {
    let texts = ["x rm", "xrm", "rm", "rmx", "rm x", "a-rm", "a- rm"];
    for (rewritten, words) in [
        (r"\b{start-half}rm", ["x rm", "rm", "rmx", "rm x", "a-rm", "a- rm"].as_slice()),
        (r"rm\b{end-half}", &["x rm", "xrm", "rm", "rm x", "a-rm", "a- rm"]),
        (r"(?:^|[^\w-])rm", &["x rm", "rm", "rmx", "rm x", "a- rm"]),
        (r"rm(?:[^\w-]|\Z)", &["x rm", "xrm", "rm", "rm x", "a-rm", "a- rm"]),
    ] {
        let found: Vec<&str> = texts
            .into_iter()
            .filter(|text| super::matches(rewritten, text.as_bytes()).unwrap())
            .collect();
        let expected: Vec<&str> = texts.into_iter().filter(|text| words.contains(text)).collect();
        assert_eq!(found, expected, "{rewritten}");
    }
}

#[test]
fn an_automaton_that_is_too_large_names_its_part() {
    check("(a|b)*a(a|b){16}", "(a|b){16}", RegexFault::LargeCount);
    check("rm x{5000}", "{5000}", RegexFault::LargeCount);
    check("((a{1000}){1000}){1000}", "((a{1000}){1000}){1000}", RegexFault::LargeCount);
    check(r"^y(\w{4})z|[ab]*a.{14}b", ".{14}", RegexFault::LargeCount);
    let gaps: Vec<String> = (0..16).map(|number| format!("x{number}y.*z{number}y")).collect();
    check(&gaps.join("|"), &gaps.join("|"), RegexFault::LargePattern);
    check(&"(".repeat(100), "(", RegexFault::Depth);
    check(&"a".repeat(9_000), &"a".repeat(9_000), RegexFault::Length);
}

#[test]
fn an_automaton_of_the_largest_size_is_made() {
    // Two states are those of an end.
    let largest = AUTOMATON_STATES_MAX - 2;
    let text = |length: usize| format!("^{}", "ab".repeat(length / 2));
    let parts = compile(&text(largest - 2)).unwrap();
    assert!(parts.states() > largest - 2 && parts.states() <= AUTOMATON_STATES_MAX);
    let longer = text(largest + 2);
    check(&longer, &longer, RegexFault::LargePattern);
}

#[test]
fn patterns_that_others_cannot_determinize_are_small() {
    // The match ends the reading, so gaps before it cost little.
    for pattern in [
        r"(?:\S+\s+){0,16}?rm\b",
        r"x1.*y1|x2.*y2|x3.*y3|x4.*y4|x5.*y5|x6.*y6",
        r"\w{20}",
        r"git\s+(?:\S+\s+){0,16}push\b",
        r"(?:sudo\s+)?(?:\S+\s+){0,16}?(?:rm|dd)\s+(?:-\w+\s+)*/",
    ] {
        let parts = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
        assert!(parts.states() < 300, "{pattern}: {} states", parts.states());
    }
}
