//! Differences of rules, modes and scopes: whatever may let a caller do more loosens, and no command is
//! decided otherwise without a finding.

mod pairs;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Direction, Finding};
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Door, Outcome, decide};
use relay_engine::place::{Identity, place, preview};
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
    // A deny that means all that it meant.
    (
        "policy { deny a { program rm } }",
        "policy { deny a { program rm shred } }",
        Direction::Narrower,
    ),
    (
        "policy { deny a { program rm; operands x } }",
        "policy { deny a { program rm } }",
        Direction::Narrower,
    ),
    (
        "policy { deny a { writes \"/etc/**\" { except \"/etc/x\" } } }",
        "policy { deny a { writes \"/etc/**\" } }",
        Direction::Narrower,
    ),
    (
        "policy { deny a role=root { program rm } }",
        "policy { deny a { program rm } }",
        Direction::Narrower,
    ),
    (
        "policy { allow a { program kill } }",
        "policy { allow a role=root { program kill } }",
        Direction::Narrower,
    ),
    (
        "policy { deny a { tier min=1; program rm } }",
        "policy { deny a { tier min=2; program rm } }",
        Direction::NotProved,
    ),
    // A rule that has an exception of a call no longer selects one.
    (
        "policy { deny a { program rm cat; reads \"/etc/**\"; except { program cat } } }",
        "policy { deny a { reads \"/etc/**\"; except { program cat } } }",
        Direction::NotProved,
    ),
    // Rules that select by tier turn a rise around.
    (
        "policy open { deny a { tier max=1 } }",
        "policy open { deny a { tier max=1 }; tier b 2 { program ls } }",
        Direction::NotProved,
    ),
    (
        "policy { deny a { program kill; except { tier min=3 } }; lower b to=1 because=x { program kill } }",
        "policy { deny a { program kill; except { tier min=3 } } }",
        Direction::NotProved,
    ),
    (
        "policy { allow a { program git; tier min=3 }; tier b 2 { program git } }",
        "policy { allow a { program git; tier min=3 }; tier b 3 { program git } }",
        Direction::NotProved,
    ),
    (
        "policy open { deny a { program foo; tier max=2 } }",
        "policy open { deny a { program foo; tier max=2 }; floors { unknown-program 3 } }",
        Direction::NotProved,
    ),
    (
        "policy open { deny a { program foo; tier min=2 } }",
        "policy open { deny a { program foo; tier min=2 }; floors { unknown-program 3 } }",
        Direction::Narrower,
    ),
    // And those that name a class of paths.
    (
        "policy open { deny a { writes \"/srv/**\" { except critical } } }",
        "policy open { deny a { writes \"/srv/**\" { except critical } }; paths { critical \"/srv/b/**\" } }",
        Direction::NotProved,
    ),
    (
        "policy { allow a { writes critical } }",
        "policy { allow a { writes critical }; paths { critical \"/srv/b/**\" } }",
        Direction::NotProved,
    ),
    (
        "policy open { deny a { writes scratch }; paths { scratch \"/srv/b/**\" } }",
        "policy open { deny a { writes scratch } }",
        Direction::NotProved,
    ),
    (
        "policy open { deny a { reads secret } }",
        "policy open { deny a { reads secret }; paths { secret \"/srv/b/**\" } }",
        Direction::Narrower,
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
            let groups = flip["groups"].as_array().into_iter().flatten();
            let groups: Vec<String> =
                groups.map(|group| group.as_str().unwrap().to_owned()).collect();
            let identity = Identity {
                id: flip["user"].as_str().unwrap_or_default(),
                tenant: flip["tenant"].as_str(),
                groups: &groups,
                role: flip["role"].as_str(),
            };
            // Rows of `users` place a caller that has an id or groups.
            let placement = match identity.names_who() {
                true => place(bundle, &identity).unwrap().unwrap(),
                false => preview(bundle, &identity).unwrap().unwrap(),
            };
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

/// Projects in which roles, tenants, users, scopes and tools of other servers differ, with the words of
/// the one finding that loosens.
const PLACES: &[(&str, &str, &str)] = &[
    (
        "users { user bob role=dev; anyone role=ops }\npolicy open { deny a role=dev { program rm } }",
        "users { user bob role=ops; anyone role=ops }\npolicy open { deny a role=dev { program rm } }",
        "deny `a` does not hold; `rm a`, user bob: deny (policy.a) → allow (mode)",
    ),
    (
        "users { anyone role=dev }\npolicy open { scope role=dev { mode readonly } }",
        "users { anyone role=ops }\npolicy open { scope role=dev { mode readonly } }",
        "mode readonly → open; `touch a`, user anyone else: deny (mode-readonly) → allow (mode)",
    ),
    (
        "users { group g role=asks; anyone role=dev }\npolicy open",
        "users { group g role=dev; anyone role=dev }\npolicy open",
        "no person is asked before tier 3; `rm -rf /srv/x`, group g: approve (role-approves) → allow (mode)",
    ),
    (
        "users { user bob role=dev; anyone role=ops }\npolicy { allow a role=ops { program kill } }",
        "users { user bob role=ops; anyone role=ops }\npolicy { allow a role=ops { program kill } }",
        "allow `a` holds; `kill a`, user bob: deny (mode-guarded) → allow (policy.a)",
    ),
    (
        "users { anyone role=dev }",
        "users { anyone role=dev }\npolicy readonly",
        "without a policy, no command runs; `ls`, role asks: deny (no-policy) → allow (read-only)",
    ),
    (
        "users { anyone role=dev }\npolicy open { scope tenant=acme { mode readonly }; scope tenant=acme { mode guarded } }",
        "users { anyone role=dev }\npolicy open { scope tenant=acme { mode guarded } }",
        "tenant acme: deny (mode-readonly) → allow (mode)",
    ),
    (
        "users { anyone role=dev }\npolicy open { scope tenant=acme { mode guarded; scope role=ops { mode open widen=#true } }; scope tenant=acme { mode readonly } }",
        "users { anyone role=dev }\npolicy open { scope tenant=acme { mode guarded }; scope tenant=acme { mode readonly; scope role=ops { mode open widen=#true } } }",
        "role ops, tenant acme: deny (mode-readonly) → allow",
    ),
    (
        "users { anyone role=dev }\ntools { other \"fs_*\" { arg path writes }; other \"fs_*\" { arg path reads } }\npolicy open { deny a { writes \"/etc/**\" } }",
        "users { anyone role=dev }\ntools { other \"fs_*\" { arg path reads } }\npolicy open { deny a { writes \"/etc/**\" } }",
        "`fs_x path=/etc/passwd`, role asks: deny (policy.a) → allow (read-only)",
    ),
];

#[test]
fn what_a_policy_tells_apart_by_its_callers_and_tools_loosens() {
    for (before, after, words) in PLACES {
        let bundle = |text: &str| {
            compiled(&format!(
                "project demo epoch=1\ntenants {{ tenant acme }}\nroles {{ role dev tier=3; role ops tier=3; role asks tier=3 approve=#true }}\nprompts {{ prompt a {{ summary A; text x }} }}\n{text}\n"
            ))
        };
        let (old, new) = (bundle(before), bundle(after));
        let found = found(&old, &new);
        let loosens = |it: &&Finding| it.direction == Some(Direction::NotProved);
        let loosening: Vec<&Finding> = found.iter().filter(loosens).collect();
        let meaning = |it: &&&Finding| it.meaning.as_ref().is_some_and(|it| it.contains(words));
        assert!(loosening.iter().any(|it| meaning(&it)), "{before} -> {after}\n{loosening:#?}");
        assert!(decide_anew(&old, &new, &found) > 0);
    }
}

#[test]
fn a_role_that_asks_a_person_loosens_where_a_mode_refuses() {
    for (mode, direction) in [
        ("guarded", Direction::NotProved),
        ("open", Direction::Narrower),
        ("readonly", Direction::Narrower),
    ] {
        let bundle = |approve: &str| {
            compiled(&format!(
                "project demo epoch=1\nroles {{ role dev tier=3{approve} }}\nusers {{ anyone role=dev }}\nprompts {{ prompt a {{ summary A; text x }} }}\npolicy {mode}\n"
            ))
        };
        let (old, new) = (bundle(""), bundle(" approve=#true"));
        let found = found(&old, &new);
        let [finding] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(finding.direction, Some(direction), "{mode}");
        decide_anew(&old, &new, &found);
    }
}

#[test]
fn effects_that_differ_may_leave_a_deny() {
    let bundle = |policy: &str, role: &str| {
        compiled(&format!(
            "{HEAD}{policy}\nfacts {{ program zap tier=1 says=z {{ rest {role} }} }}\n"
        ))
    };
    let deny = "policy open { deny a { writes \"/etc/**\" } }";
    for (policy, direction) in [(deny, Direction::NotProved), ("policy open", Direction::Narrower)]
    {
        let (old, new) = (bundle(policy, "append"), bundle(policy, "remove"));
        let found = found(&old, &new);
        let [finding] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(finding.direction, Some(direction), "{policy}");
        let is_shown = decide_anew(&old, &new, &found) == 1;
        assert_eq!(is_shown, policy == deny, "{finding:#?}");
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
