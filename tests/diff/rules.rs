//! Differences of rules, modes and scopes: whatever may let a caller do more loosens, and no command is
//! decided otherwise without a finding.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Direction, Finding};
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Door, Outcome, decide};
use relay_engine::place::{Identity, preview};
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::json;

use super::found;
use crate::support::{Memory, compiled as compiled_with_facts};

const HEAD: &str = "project demo epoch=1
tenants { tenant acme; tenant globex }
roles { role operator tier=2; role root tier=3 }
users { anyone role=operator }
prompts { prompt a { summary A; text x } }
";

/// Returns the bundle of a project of one document, with the shipped facts.
fn compiled(text: &str) -> Bundle {
    let files = Memory::of(&[("project.kdl", text)]);
    let (compiled, report) = compiled_with_facts(&files, "project.kdl", &Options::default());
    let bytes = compiled.bundle.unwrap_or_else(|| panic!("{report}\n{text}"));
    Bundle::open(Box::new(bytes)).expect("a bundle")
}

/// Lines of a policy, each with a change of it, and the direction of the change.
const CHANGES: &[(&str, &str, Direction)] = &[
    ("policy guarded", "policy open", Direction::NotProved),
    ("policy guarded", "policy readonly", Direction::Narrower),
    ("policy", "policy { deny a { program rm } }", Direction::Narrower),
    ("policy { deny a { program rm } }", "policy", Direction::NotProved),
    (
        "policy { deny a { program rm } }",
        "policy { deny a observe=#true { program rm } }",
        Direction::NotProved,
    ),
    (
        "policy { deny a { program rm } }",
        "policy { deny a { program rm; except { operands tmp } } }",
        Direction::NotProved,
    ),
    ("policy", "policy { allow a { program kill } }", Direction::NotProved),
    ("policy { allow a { program kill } }", "policy", Direction::Narrower),
    ("policy", "policy { approve a { program kill } }", Direction::NotProved),
    ("policy", "policy { tier a 3 { program rm } }", Direction::Narrower),
    (
        "policy { tier a 3 { program rm } }",
        "policy { tier a 2 { program rm } }",
        Direction::NotProved,
    ),
    ("policy", "policy { lower a to=1 because=x { program rm } }", Direction::NotProved),
    ("policy", "policy { scope tenant=acme { mode readonly } }", Direction::Narrower),
    ("policy { scope tenant=acme { mode readonly } }", "policy", Direction::NotProved),
    (
        "policy { deny a { program rm } }",
        "policy { deny a role=root { program rm } }",
        Direction::NotProved,
    ),
    (
        "policy { paths { class a \"/srv/a/**\" }; deny b { writes a } }",
        "policy { paths { class a \"/srv/b/**\" }; deny b { writes a } }",
        Direction::NotProved,
    ),
];

#[test]
fn each_change_of_a_rule_has_its_direction() {
    for (before, after, direction) in CHANGES {
        let bundle = |policy: &str| compiled(&format!("{HEAD}{policy}\n"));
        let found = found(&bundle(before), &bundle(after));
        let directions: Vec<_> = found.iter().filter_map(|it| it.direction).collect();
        assert_eq!(directions, [*direction], "{before} -> {after}\n{found:#?}");
    }
}

const LINES: &[&str] = &[
    "deny a { program rm }",
    "deny b { writes \"/etc/**\" }",
    "deny c role=root { program systemctl; operands nginx }",
    "approve d { tier min=3 }",
    "allow e { program systemctl; sub restart; operands nginx cron }",
    "allow f role=operator { program git; sub push }",
    "tier g 3 { program git; sub push }",
    "lower h to=1 because=x { program kill }",
    "scope tenant=acme { mode readonly }",
    "scope role=root { mode open widen=#true; deny i { program kill } }",
    "deny j (regex)\"cr.n\"",
    "scope host=\"db-*\" { mode readonly; deny k { program git } }",
    "deny l { host \"web-*\"; tier min=2 }",
    "approve m tenant=globex { connects \"*\" { except \"*.corp.example\" } }",
];
const COMMANDS: &[&str] = &[
    "rm a",
    "rm -rf /srv",
    "echo x > /etc/a",
    "systemctl restart nginx",
    "systemctl restart cron",
    "git push",
    "git push --force",
    "kill 1",
    "ls",
    "ssh db-1 git status",
    "curl https://example.com",
];
/// The hosts on which commands run; empty for the own one.
const HOSTS: &[&str] = &["", "db-1", "web-1"];

fn policies() -> impl Strategy<Value = String> {
    let mode = select(vec!["open", "guarded"]);
    (mode, subsequence(LINES.to_vec(), 0..=LINES.len())).prop_map(|(mode, lines)| {
        // A scope that widens must be wider than the mode around it.
        let lines: Vec<&str> =
            lines.into_iter().filter(|line| mode != "open" || !line.contains("widen")).collect();
        format!("{HEAD}policy {mode} {{ {} }}\n", lines.join("; "))
    })
}

/// Returns the outcome of each command for each caller.
fn outcomes(bundle: &Bundle) -> Vec<(String, Outcome)> {
    let authority = Authority::of(bundle).unwrap();
    let mut all = Vec::new();
    for tenant in [None, Some("acme"), Some("globex")] {
        for role in ["operator", "root"] {
            let identity = Identity { tenant, role: Some(role), ..Identity::default() };
            let placement = preview(bundle, &identity).unwrap().unwrap();
            let view = View::of(bundle, &placement).unwrap();
            for (host, command) in
                HOSTS.iter().flat_map(|host| COMMANDS.iter().map(move |command| (host, command)))
            {
                let (tool, arguments) = match *host {
                    "" => ("shell_exec", json!({ "command": command })),
                    host => ("ssh_exec", json!({ "command": command, "host": host })),
                };
                let location = Location::default();
                let call = Call {
                    tool,
                    arguments: arguments.as_object().unwrap(),
                    client: None,
                    location: &location,
                    door: Door::Elsewhere,
                };
                let outcome = decide(&view, &authority, &call).unwrap().outcome;
                all.push((format!("{tenant:?} {role} {host} {command}"), outcome));
            }
        }
    }
    all
}

/// Decides every call of a report's JSON anew: it has the outcomes that the report says, and its
/// direction. Returns the number of calls.
fn decide_anew(before: &Bundle, after: &Bundle, found: &[Finding]) -> usize {
    let mut count = 0;
    for finding in found {
        let json = serde_json::to_value(finding).unwrap();
        let flip = &json["flip"];
        if finding.direction == Some(Direction::NotProved) && json.get("proved").is_some() {
            let is_shown = !flip.is_null() || !json["witness"].is_null();
            assert_eq!(json["proved"], json!(is_shown), "{json:#}");
        }
        if flip.is_null() {
            continue;
        }
        count += 1;
        let [old, new] = [(before, "before"), (after, "after")].map(|(bundle, side)| {
            let identity = Identity {
                tenant: flip["tenant"].as_str(),
                role: flip["role"].as_str(),
                ..Identity::default()
            };
            let placement = preview(bundle, &identity).unwrap().unwrap();
            let view = View::of(bundle, &placement).unwrap();
            let location = Location::default();
            let call = Call {
                tool: flip["tool"].as_str().unwrap(),
                arguments: flip["arguments"].as_object().unwrap(),
                client: flip["client"].as_str(),
                location: &location,
                door: Door::Elsewhere,
            };
            let decision = decide(&view, &Authority::of(bundle).unwrap(), &call).unwrap();
            assert_eq!(flip[side]["outcome"], json!(decision.outcome.word()), "{json:#}");
            assert_eq!(flip[side]["rule"], json!(decision.rule_name()), "{json:#}");
            assert_eq!(flip[side]["tier"], json!(decision.tier.number()), "{json:#}");
            decision.outcome
        });
        match finding.direction {
            Some(Direction::NotProved) => assert!(new < old, "{json:#}"),
            Some(Direction::Narrower) => assert!(new > old, "{json:#}"),
            _ => assert_ne!(new, old, "{json:#}"),
        }
    }
    count
}

#[test]
fn a_call_shows_each_kind_of_difference() {
    for (before, after, shown) in [
        ("policy", "policy open", "deny (mode-guarded) → allow (mode)"),
        ("policy", "policy readonly", "allow (mode) → deny (mode-readonly)"),
        ("policy open { deny a { program rm } }", "policy open", "deny (policy.a) → allow (mode)"),
        (
            "policy open",
            "policy open { deny a { tool audit_tail; arg tool x } }",
            "`audit_tail tool=x`, role root: allow (read-only) → deny (policy.a)",
        ),
        (
            "policy",
            "policy { allow a { program systemctl; sub restart; operands cron } }",
            "`systemctl restart cron`, role root: deny (mode-guarded) → allow (policy.a)",
        ),
        (
            "policy open { approve a { connects \"*.x.org\" } }",
            "policy open",
            "approve (policy.a) → allow",
        ),
        (
            "policy",
            "policy { lower a to=1 because=x { program git; sub push } }",
            "deny (mode-guarded) → allow (mode)",
        ),
        ("policy", "policy { tier a 3 { program touch } }", "`touch"),
        (
            "policy { scope tenant=acme { mode readonly } }",
            "policy",
            "tenant acme: deny (mode-readonly) → allow (mode)",
        ),
        (
            "policy { scope host=\"db-*\" { mode readonly } }",
            "policy",
            "`ssh_exec command=touch a host=db-x`",
        ),
        (
            "policy open { deny a role=operator { program ls } }",
            "policy open { deny a role=root { program ls } }",
            "role operator: deny (policy.a) → allow",
        ),
        (
            "policy open { deny a { writes \"/srv/**\" } }",
            "policy open { deny a { writes \"/srv/**\" { except \"/srv/tmp/**\" } } }",
            "/srv/tmp/x`, role root: deny (policy.a) → allow",
        ),
        (
            "policy open { paths { class c \"/srv/a/**\" }; deny b { writes c } }",
            "policy open { paths { class c \"/srv/b/**\" }; deny b { writes c } }",
            "/srv/a/x`, role root: deny (policy.b) → allow",
        ),
    ] {
        let bundle = |policy: &str| compiled(&format!("{HEAD}tools {{ diagnostics }}\n{policy}\n"));
        let (before_bundle, after_bundle) = (bundle(before), bundle(after));
        let found = found(&before_bundle, &after_bundle);
        assert_eq!(
            decide_anew(&before_bundle, &after_bundle, &found),
            1,
            "{before} -> {after}\n{found:#?}"
        );
        let words = found.iter().find_map(|it| it.flip.as_ref()).unwrap().to_string();
        assert!(words.contains(shown), "{before} -> {after}: {words}");
    }
}

#[test]
fn what_no_call_shows_is_not_proved() {
    for (before, after) in [
        // The mode refuses all of it anyway.
        ("policy { deny a { program kill } }", "policy"),
        (
            "policy { allow a { program systemctl; sub restart; operands cron; match \"systemctl restart cron\" } }",
            "policy { allow a { program systemctl; sub restart; operands cron } }",
        ),
    ] {
        let bundle = |policy: &str| compiled(&format!("{HEAD}{policy}\n"));
        let found = found(&bundle(before), &bundle(after));
        let [found] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!((found.direction, found.proved), (Some(Direction::NotProved), Some(false)));
        assert!(found.meaning.as_ref().unwrap().contains("not proved: no call"), "{found:#?}");
    }
}

#[test]
fn shipped_policies_are_compared_as_they_decide() {
    let policies = [
        "policy",
        "policy use=readonly",
        "policy use=ci",
        "policy use=ci { drop no-push because=x }",
        "policy open",
    ];
    let bundles = policies.map(|policy| compiled(&format!("{HEAD}{policy}\n")));
    for (before, a) in bundles.iter().zip(policies) {
        for (after, b) in bundles.iter().zip(policies) {
            let found = found(before, after);
            assert_eq!(found.is_empty(), a == b, "{a} -> {b}");
            let loosens = found.iter().any(|it| it.direction == Some(Direction::NotProved));
            for ((about, old), (_, new)) in outcomes(before).into_iter().zip(outcomes(after)) {
                assert!(old == new || !found.is_empty(), "{about}: {old:?} -> {new:?}: {a} -> {b}");
                assert!(new >= old || loosens, "{about}: {old:?} -> {new:?}: {a} -> {b}");
            }
            decide_anew(before, after, &found);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_command_is_decided_otherwise_without_a_finding((a, b) in (policies(), policies())) {
        let (before, after) = (compiled(&a), compiled(&b));
        let found = found(&before, &after);
        let loosens = found.iter().any(|it| it.direction == Some(Direction::NotProved));
        for ((about, old), (_, new)) in outcomes(&before).into_iter().zip(outcomes(&after)) {
            prop_assert!(old == new || !found.is_empty(), "{about}: {old:?} -> {new:?}\n{a}\n{b}");
            // Allow is the first outcome, a denial the last.
            prop_assert!(new >= old || loosens, "{about}: {old:?} -> {new:?}\n{a}\n{b}\n{found:#?}");
        }
        decide_anew(&before, &after, &found);
    }
}
