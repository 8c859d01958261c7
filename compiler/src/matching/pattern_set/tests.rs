//! Sets of patterns against all short names.

use std::collections::BTreeMap;

use proptest::collection::btree_set;
use proptest::prelude::*;
use relay_engine::glob;

use super::{NameSet, TooMany, meet, outside, sets};

/// Letters that the patterns of [`patterns`] distinguish, and one more.
const LETTERS: [char; 5] = ['a', 'b', 'c', '-', 'z'];
/// Short enough to try all names, long enough for all sets of the patterns.
const LENGTH_MAX: usize = 6;

fn names() -> Vec<String> {
    let mut names = vec![String::new()];
    let mut start = 0;
    for _ in 0..LENGTH_MAX {
        let end = names.len();
        for place in start..end {
            names.extend(LETTERS.map(|letter| format!("{}{letter}", names[place])));
        }
        start = end;
    }
    names.split_off(1)
}

fn matched(patterns: &[&str], name: &str) -> Vec<usize> {
    (0..patterns.len()).filter(|index| glob::matches(patterns[*index], name)).collect()
}

/// Up to five patterns of up to three parts.
fn patterns() -> impl Strategy<Value = Vec<String>> {
    let pattern = "(\\*|\\?|a|b|-|\\[ab\\]|\\[!a-b\\]){1,3}";
    btree_set(pattern, 0..5).prop_map(|patterns| patterns.into_iter().collect())
}

fn texts(patterns: &[String]) -> Vec<&str> {
    patterns.iter().map(String::as_str).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn are_those_of_all_short_names(patterns in patterns()) {
        let patterns = texts(&patterns);
        let found = sets(&patterns).unwrap();
        let mut expected: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for name in names() {
            let length = name.chars().count();
            expected.entry(matched(&patterns, &name)).or_insert(length);
        }
        for NameSet { patterns: set, witness } in &found {
            prop_assert_eq!(&matched(&patterns, witness), set, "{}", witness);
            if let Some(length) = expected.remove(set) {
                prop_assert_eq!(witness.chars().count(), length, "{} is a shortest", witness);
            } else {
                prop_assert!(witness.chars().count() > LENGTH_MAX, "{}", witness);
            }
        }
        prop_assert!(expected.is_empty(), "{:?}", expected);
    }

    #[test]
    fn one_is_outside_others_if_a_short_name_is(child in patterns(), parent in patterns()) {
        let (child, parent) = (texts(&child), texts(&parent));
        let is_outside =
            |name: &str| !matched(&child, name).is_empty() && matched(&parent, name).is_empty();
        match outside(&child, &parent).unwrap() {
            Some(witness) => prop_assert!(is_outside(&witness), "{}", witness),
            None => {
                let found = names().into_iter().find(|name| is_outside(name));
                prop_assert_eq!(found, None);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_lists_meet_in_a_short_name(one in patterns(), other in patterns()) {
        let (one, other) = (texts(&one), texts(&other));
        let is_both =
            |name: &str| !matched(&one, name).is_empty() && !matched(&other, name).is_empty();
        match meet(&one, &other).unwrap() {
            Some(witness) => prop_assert!(is_both(&witness), "{}", witness),
            None => prop_assert_eq!(names().into_iter().find(|name| is_both(name)), None),
        }
    }
}

fn shown(patterns: &[&str]) -> Vec<String> {
    let sets = sets(patterns).unwrap();
    let shown = sets.into_iter().map(|NameSet { patterns: set, witness }| {
        let set: Vec<&str> = set.into_iter().map(|index| patterns[index]).collect();
        format!("{witness}: {}", set.join(" "))
    });
    shown.collect()
}

#[test]
fn witnesses_are_short_and_print() {
    assert_eq!(shown(&[]), ["a: "]);
    assert_eq!(shown(&["*"]), ["a: *"]);
    let expected = ["a: ", "api-: api-*", "api-_x: api-* *_x", "_x: *_x"];
    assert_eq!(shown(&["api-*", "*_x"]), expected);
    assert_eq!(shown(&["[!a-z]"]), ["a: ", "0: [!a-z]"]);
    let expected = ["êa: ", "aa: [\u{1}-é]*", "a: [\u{1}-é]* ?", "ê: ?"];
    assert_eq!(shown(&["[\u{1}-é]*", "?"]), expected);
}

#[test]
fn a_name_that_is_written_has_its_own_set() {
    // The pattern matches only these two letters, so one of these always matches with it.
    assert_eq!(shown(&["[ab]", "a", "b"]), ["c: ", "a: [ab] a", "b: [ab] b"]);
    assert_eq!(shown(&["[ab]", "a"]), ["c: ", "b: [ab]", "a: [ab] a"]);
    assert_eq!(shown(&["?*", "a"]), ["b: ?*", "a: ?* a"]);
}

#[test]
fn thousands_of_names_are_no_states() {
    let names: Vec<String> =
        (0..5_000).map(|number| format!("a-tool-of-a-server-{number}")).collect();
    let patterns: Vec<&str> = names.iter().map(String::as_str).chain(["a-*", "*-7"]).collect();
    // Each name, and the sets of the two patterns alone.
    assert_eq!(sets(&patterns).unwrap().len(), 5_000 + 4);
}

#[test]
fn the_work_has_a_limit() {
    let patterns: Vec<String> = (0..40).map(|number| format!("*{number:02}*")).collect();
    assert_eq!(sets(&texts(&patterns)), Err(TooMany));
    assert_eq!(outside(&["*x*"], &texts(&patterns)), Ok(Some("x".into())), "found at once");
    assert_eq!(outside(&["*"], &["[!a]*", "a*"]), Ok(None), "the two are all names");
}
