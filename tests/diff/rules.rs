//! Differences of rules, modes and scopes: whatever may let a caller do more loosens, and no command is
//! decided otherwise without a finding.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::Direction;
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
];

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
            for command in COMMANDS {
                let arguments = json!({ "command": command });
                let location = Location::default();
                let call = Call {
                    tool: "shell_exec",
                    arguments: arguments.as_object().unwrap(),
                    client: None,
                    location: &location,
                    door: Door::Elsewhere,
                };
                let outcome = decide(&view, &authority, &call).unwrap().outcome;
                all.push((format!("{tenant:?} {role} {command}"), outcome));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

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
    }
}
