//! Pairs of projects, each with one change of facts, floors or paths.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{loosening, project, shown, tier};

/// Programs that the pairs change, plain ones and some with sub-commands.
const OURS: &str = r#"program ourtool other tier=2 says="deploys" {
    flags "--list"
    flags "--plan" cap=0
    flags "-n" "--dry-run" cap=1
    flags "--wipe" tier=3
    flags "--log" value=append
    flags "--file" value=script
    flags "--to" value=text {
        value prod tier=3
        value "test*" tier=1
    }
    flags "--check" attached=text {
        value none cap=0
        value all
    }
    operand remove
    rest read
    form tier=1 {
        has "--list"
        without "--wipe" "--log"
    }
}
program ourctl tier=1 {
    flags "-f" "--force" tier=3 everywhere=#true
    sub show tier=0 { rest text; }
    sub drop tier=2 {
        flags "--all" tier=3
        flags "--one" "--two"
        operand text
        rest text
        form tier=1 least=1 most=1 {
            has "--one"
            without "--force"
        }
    }
    sub "get-*" tier=0 { rest text; }
}"#;

fn facts(programs: &str) -> String {
    format!("facts {{\n{programs}\n}}")
}

/// Returns the program, and the program with one text in the place of another.
fn ours(replaced: &str, by: &str) -> [String; 2] {
    assert_eq!(OURS.matches(replaced).count(), 1, "{replaced}");
    [facts(OURS), facts(&OURS.replace(replaced, by))]
}

/// Returns a pair the other way round.
fn reversed([before, after]: [String; 2]) -> [String; 2] {
    [after, before]
}

/// Returns two policies.
fn policy(before: &str, after: &str) -> [String; 2] {
    [before, after].map(|inside| match inside {
        "" => String::new(),
        inside => format!("policy {{\n{inside}\n}}"),
    })
}

#[test]
fn whatever_lowers_a_command_loosens_and_a_command_shows_it() {
    let rm = "program rm tier=0 says=\"removes nothing\" because=\"x\" {
        flags \"-r\" \"-f\" because=\"y\"
        rest text because=\"z\"
    }";
    let ourtool = "program/other, ourtool";
    let pairs = [
        // Settings of a program.
        (ourtool, ours("other tier=2", "other tier=1")),
        (ourtool, ours("says=\"deploys\"", "style=go")),
        (ourtool, ours("says=\"deploys\"", "stop=1")),
        (ourtool, ours("says=\"deploys\"", "output=word")),
        ("program/ourctl", ours("ourctl tier=1", "ourctl tier=1 sub-at=2")),
        // Names.
        ("program/other", ours("ourtool other", "ourtool")),
        ("program/third", ours("ourtool other", "ourtool other third")),
        // Options.
        ("option --wipe", ours("\"--wipe\" tier=3", "\"--wipe\" tier=1")),
        ("option --wipe", ours("\"--wipe\" tier=3", "\"--wipe\" tier=3 cap=0")),
        ("option --wipe2", ours("\"--wipe\" tier=3", "\"--wipe\" \"--wipe2\" tier=3")),
        ("option --all", ours("flags \"--all\" tier=3", "// gone")),
        ("option --mine", ours("flags \"--wipe\"", "flags \"--mine\"\n flags \"--wipe\"")),
        ("option --dry-run -n", ours("cap=1", "cap=0")),
        ("option --force -f", ours("\"--force\" tier=3", "\"--force\" tier=1")),
        ("option --force -f", ours("tier=3 everywhere=#true", "cap=0 everywhere=#true")),
        ("option --log", ours("value=append", "value=text")),
        ("option --log", ours("value=append", "attached=append")),
        ("option --file", ours("value=script", "value=text")),
        // Values.
        ("option --to", ours("value prod tier=3", "value prod tier=1")),
        ("option --to", ours("value prod tier=3", "value \"x*\" tier=0")),
        ("option --check", ours("value all", "value all cap=0")),
        // Operands.
        ("operand 1", ours("operand remove", "operand text")),
        ("operands", ours("operand remove", "// gone")),
        ("show: operands", reversed(ours("sub show tier=0 { rest text; }", "sub show tier=0"))),
        // Sub-commands.
        ("sub-command shown", ours("sub show tier=0", "sub shown tier=1\n sub show tier=0")),
        ("drop", ours("sub drop tier=2", "sub drop tier=1")),
        ("sub-command put-*", ours("sub \"get-*\"", "sub \"put-*\"")),
        // Forms.
        ("form with --list", ours("form tier=1 {", "form tier=0 {")),
        ("form with --list", ours("\"--wipe\" \"--log\"", "\"--wipe\"")),
        (
            "form with --log",
            ours("form tier=1 {", "form tier=0 {\n has \"--log\"\n }\n form tier=1 {"),
        ),
        (
            "form with --list, without --log --wipe",
            ours("\"--wipe\" \"--log\"", "\"--wipe\" \"--log\"\n rest text"),
        ),
        ("drop: form with --one --two", ours("has \"--one\"", "has \"--one\" \"--two\"")),
        ("drop: form with --one", ours("least=1 most=1", "least=1")),
        // What is shipped.
        ("program/rm", [String::new(), facts(rm)]),
        ("program/ourtool", [String::new(), facts("program ourtool tier=1 { rest text; }")]),
        ("program/ourtool", [facts("program ourtool tier=3 { rest text; }"), String::new()]),
        ("variable/OURS", [String::new(), facts("environment OURS because=\"x\"")]),
        // Floors.
        ("floor unknown-program", policy("", "floors { unknown-program 1 because=x; }")),
        ("floor unknown-flag", policy("", "floors { unknown-flag 1 because=x; }")),
        ("floor unknown-word", policy("", "floors { unknown-word 2 because=x; }")),
        ("floor opaque-code", policy("", "floors { opaque-code 0 because=x; }")),
        ("floor unparsed", policy("", "floors { unparsed 1 because=x; }")),
        // Paths.
        ("/srv/build/**/scratch", policy("", "paths { scratch \"/srv/build/**\"; }")),
        ("/srv/db/**/critical", policy("paths { critical \"/srv/db/**\"; }", "")),
        ("./hooks/*/admits", policy("paths { admits \"./hooks/*\"; }", "")),
        ("**/vault/*.age/secret", policy("paths { secret \"**/vault/*.age\"; }", "")),
        (
            "/srv/db/**/critical",
            policy(
                "paths { critical \"/srv/db/**\"; }",
                "paths { critical \"/srv/db/**\" { except \"/srv/db/*.log\"; }; }",
            ),
        ),
        (
            "/srv/x/**/scratch",
            policy(
                "paths { scratch \"/srv/x/**\" { except \"/srv/x/keep/**\"; }; }",
                "paths { scratch \"/srv/x/**\"; }",
            ),
        ),
    ];
    assert!(pairs.len() >= 30);
    let mut wrong = String::new();
    let mut known = BTreeMap::new();
    // Each of its comparisons is as if it were the first.
    let mut comparer = relay_diff::Comparer::default();
    for (id, [before, after]) in pairs {
        let [a, b] = [&before, &after].map(|nodes| {
            Rc::clone(known.entry(nodes.clone()).or_insert_with(|| Rc::new(project(nodes))))
        });
        let found = relay_diff::compare(&a, &b).expect("a comparison");
        assert_eq!(comparer.compare(&a, &b).expect("a comparison"), found, "{id}");
        let loosening = loosening(&found);
        let named = loosening.iter().filter(|it| it.id().contains(id));
        let witnesses: Vec<_> = named.filter_map(|it| it.witness.as_ref()).collect();
        let is_lower = |it: &&relay_diff::Witness| {
            let (old, new) = (tier(&a, &it.command), tier(&b, &it.command));
            (old, new) == (it.before, it.after) && new < old
        };
        if witnesses.is_empty() || !witnesses.iter().all(is_lower) {
            wrong.push_str(&format!("{id}: {after}\n{}\n", shown(&found)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Rules may be about effects that leave the tier as it is, so a lost one may widen them.
#[test]
fn an_effect_that_is_lost_loosens_without_a_lower_command() {
    let listens = reversed(ours("\"--wipe\" tier=3", "\"--wipe\" tier=3 listens=#true"));
    let user = ours("says=\"deploys\"", "says=\"deploys\" user=root");
    for ([before, after], says) in [
        (listens, "listens true"),
        (reversed(ours("says=\"deploys\"", "says=\"deploys\" listens=#true")), "listens true"),
        (user.clone(), "no user"),
        (reversed(user), "user root"),
    ] {
        let found = relay_diff::compare(&project(&before), &project(&after)).expect("a comparison");
        let loosening = loosening(&found);
        assert!(!loosening.is_empty(), "{after}\n{}", shown(&found));
        assert!(loosening.iter().all(|it| it.witness.is_none()), "{}", shown(&found));
        assert!(shown(&found).contains(says), "{}", shown(&found));
    }
}

#[test]
fn what_lowers_nothing_does_not_loosen() {
    let pairs = [
        // Settings.
        ours("other tier=2", "other tier=3"),
        ours("says=\"deploys\"", "says=\"rolls out\""),
        ours("says=\"deploys\"", "says=\"deploys\" sends=#true"),
        ours("says=\"deploys\"", "says=\"deploys\" listens=#true"),
        ours("says=\"deploys\"", "says=\"deploys\" writes=\"/etc/ours\""),
        ours("ourtool other", "other ourtool"),
        // Options.
        ours("\"--plan\" cap=0", "\"--plan\" cap=1"),
        ours("\"--plan\" cap=0", "\"--plan\" cap=0 says=\"only plans\""),
        ours("\"--plan\" cap=0", "\"--plan\" cap=0 tier=1"),
        ours("cap=1", "cap=2"),
        ours("\"-n\" \"--dry-run\"", "\"--dry-run\" \"-n\""),
        ours("value=append", "value=remove"),
        ours("\"--wipe\" tier=3", "\"--wipe\" tier=3 says=\"wipes\""),
        ours("\"--wipe\" tier=3", "\"--wipe\" tier=3 listens=#true"),
        // Values.
        ours("value \"test*\" tier=1", "value \"test*\" tier=2"),
        ours("value none cap=0", "value none cap=1"),
        ours("value none cap=0", "value none"),
        ours("value all", "value all tier=2"),
        // Operands.
        ours("sub show tier=0 { rest text; }", "sub show tier=0"),
        ours("sub show tier=0 { rest text; }", "sub show tier=0 { rest read; }"),
        ours("operand text", "operand remove"),
        // Sub-commands.
        ours("sub show tier=0", "sub show tier=1"),
        ours("sub drop tier=2", "sub drop tier=2 says=\"drops\""),
        // Forms.
        ours("form tier=1 {", "form tier=2 {"),
        ours("form tier=1 {", "form tier=1 least=1 {"),
        ours("least=1 most=1", "least=1 most=1 says=\"drops one\""),
        ours("without \"--force\"", "without \"--force\" \"--all\""),
        ours(
            "has \"--list\"\n        without",
            "has \"--list\"\n        matching \"x*\"\n        without",
        ),
        ours(
            "form tier=1 {\n        has \"--list\"\n        without \"--wipe\" \"--log\"\n    }",
            "// gone",
        ),
        // The order of the text, and variables.
        [facts(OURS), facts(&format!("// moved\n\n{OURS}"))],
        [facts("environment OURS because=\"x\""), String::new()],
        [facts("environment OURS because=\"x\""), facts("environment OURS because=\"y\"")],
        // Floors.
        policy("", "floors { unknown-program 3; }"),
        policy("floors { unknown-flag 1 because=x; }", "floors { unknown-flag 2; }"),
        policy("floors { unknown-flag 1 because=x; }", "floors { unknown-flag 1 because=y; }"),
        // Paths.
        policy("paths { scratch \"/srv/build/**\"; }", ""),
        policy("", "paths { critical \"/srv/db/**\"; }"),
        policy("", "paths { admits \"/opt/hooks/*\"; secret \"**/vault/*.age\"; }"),
        policy("paths { critical \"/srv/db/*\"; }", "paths { critical \"/srv/db/**\"; }"),
        policy("paths { scratch \"/srv/x/**\"; }", "paths { scratch \"/srv/x/y/**\"; }"),
        policy(
            "paths { critical \"/srv/db/**\" { except \"/srv/db/*.log\"; }; }",
            "paths { critical \"/srv/db/**\"; }",
        ),
    ];
    assert!(pairs.len() >= 30);
    let mut wrong = String::new();
    let mut known = BTreeMap::new();
    for [before, after] in pairs {
        let [a, b] = [&before, &after].map(|nodes| {
            Rc::clone(known.entry(nodes.clone()).or_insert_with(|| Rc::new(project(nodes))))
        });
        let found = relay_diff::compare(&a, &b).expect("a comparison");
        if !loosening(&found).is_empty() {
            wrong.push_str(&format!("{after}\n{}\n", shown(&found)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
