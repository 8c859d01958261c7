//! The shipped policies, and projects that start from one.

use relay_bundle::Digest;
use relay_bundle::{RuleKind, RuleView};
use relay_compiler::Options;

use super::Judged;
use crate::support::{Memory, compiled, root};

const NAMES: [&str; 4] = ["workstation", "ci", "server", "readonly"];
/// The fewest `match` and `no-match` lines of a shipped policy.
const LINES_MIN: usize = 200;

#[test]
fn each_is_proved_by_its_own_lines_and_checks_without_a_finding() {
    for name in NAMES {
        assert_eq!(checked(&format!("policy use={name}")), "", "{name}");
        // A project that starts from it skips its lines.
        let text = root().join(format!("compiler/policies/{name}.kdl"));
        let text = std::fs::read_to_string(text).unwrap();
        assert_eq!(checked(&text), "", "{name} as the policy of a project");
        let judged = Judged::of(&format!("policy use={name}"));
        let rules = (0..judged.bundle.rule_count()).map(|rule| judged.bundle.rule(rule).unwrap());
        let rules: Vec<RuleView<'_>> = rules.collect();
        let mut lines = 0;
        for rule in &rules {
            let examples = rule.examples().unwrap();
            let of = |matches| examples.iter().filter(|it| it.matches == matches).count();
            let rule_name = rule.name().unwrap();
            assert!(of(true) > 0 && of(false) > 0, "{name}: {rule_name} has no line of each kind");
            assert!(rule.because().unwrap().is_some(), "{name}: {rule_name} gives no reason");
            assert_eq!(rule.origin().unwrap(), Some(&*format!("{name} 1")), "{rule_name}");
            lines += examples.len();
        }
        assert!(lines >= LINES_MIN, "{name}: {lines} lines");
        let denies = rules.iter().filter(|rule| rule.kind().unwrap() == RuleKind::Deny);
        assert!(denies.count() >= 4, "{name}");
    }
}

/// Each part of a project that a line of a shipped policy can fall by.
#[test]
fn the_lines_are_tried_again_beside_parts_of_the_projects_own() {
    let parts = [
        (
            "facts about a program",
            "policy use=workstation\nfacts { program cat because=\"here it prints no file\" tier=1 }",
        ),
        ("a path", "policy use=workstation { paths { secret \"**/docs/secrets.md\" } }"),
        ("a floor", "policy use=workstation { floors { opaque-code 0 because=\"a sandbox\" } }"),
        (
            "a rule that lowers",
            "policy use=workstation { lower builds to=1 because=\"a sandbox\" { program npm } }",
        ),
        (
            "a rule that raises",
            "policy use=ci { tier plans 3 because=\"a plan locks the state\" { program terraform } }",
        ),
        ("a host", "hosts { host metadata address=\"192.0.2.1\" }\npolicy use=ci"),
    ];
    for (part, policy) in parts {
        let report = checked(policy);
        let is_of_line =
            report.contains("rule::no_match") || report.contains("rule::unwanted_match");
        assert!(is_of_line && report.contains("relay:policies/"), "{part}: {report}");
    }
}

/// Returns the errors and warnings of a project with this policy, as a report.
fn checked(policy: &str) -> String {
    let text =
        format!("project demo epoch=1\nprompts {{ prompt a {{ text \"Hello.\" }} }}\n{policy}\n");
    let files = Memory::of(&[("project.kdl", &text)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let diagnostics = &compiled.diagnostics;
    if diagnostics.error_count() + diagnostics.warning_count() == 0 {
        String::new()
    } else {
        report
    }
}

/// A changed policy without another version would change what projects permit without a word.
#[test]
fn the_text_of_a_version_stays() {
    let digests = NAMES.map(|name| {
        let text = std::fs::read(root().join(format!("compiler/policies/{name}.kdl"))).unwrap();
        format!("{name} 1 {}", &Digest::of(&text).hex()[..16])
    });
    insta::assert_snapshot!("shipped_policies", digests.join("\n"));
}

#[test]
fn a_project_overrides_drops_and_adds_by_name() {
    let shipped = Judged::of("policy use=workstation");
    assert_eq!(shipped.told(("", ""), "cat .env"), "deny policy.no-secret-reads");
    let at = shipped.command(("", ""), "cat .env").at.unwrap();
    assert_eq!(at.file, "relay:policies/workstation.kdl");
    let own = Judged::of(
        r#"policy open use=workstation {
    floors { unknown-program 3 }
    drop no-secret-reads because="a sandbox without secrets"
    deny no-cargo { program cargo }
}"#,
    );
    assert_eq!(own.told(("", ""), "cat .env"), "allow read-only");
    assert_eq!(own.told(("", ""), "cargo build"), "deny policy.no-cargo");
    assert_eq!(own.told(("", ""), "no-such-program").split(' ').next(), Some("approve"));
    let own = Judged::of(
        r#"policy readonly use=workstation {
    deny no-secret-reads { reads secret; program cat }
}"#,
    );
    assert_eq!(own.told(("", ""), "cat .env"), "deny policy.no-secret-reads");
    assert_eq!(own.command(("", ""), "cat .env").at.unwrap().file, "project.kdl");
    assert_eq!(own.told(("", ""), "head .env"), "allow read-only");
    assert_eq!(own.told(("", ""), "touch a"), "deny mode-readonly");
}
