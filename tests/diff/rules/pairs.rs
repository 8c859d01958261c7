//! Random pairs of projects that differ in a few parts: users, roles, rules, modes, scopes, tools of
//! other servers, paths, floors and facts. Every caller is asked of `engine` alone.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use relay_bundle::Bundle;
use relay_diff::{Direction, Finding};
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Door, Outcome, decide};
use relay_engine::place::{Identity, place};
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Value, json};

use super::{compiled, decide_anew};
use crate::diff::found;

/// The pairs of one run.
const CASES: u32 = 24;

const MODES: &[&str] = &["none", "open", "guarded", "guarded", "readonly"];
const ROLES: &[&str] = &[
    "role operator tier=2; role root tier=3",
    "role operator tier=3; role root tier=3",
    "role operator tier=3; role root tier=3 approve=#true",
    "role operator tier=3 approve=#true; role root tier=3",
];
const USERS: &[&str] = &[
    "anyone role=operator",
    "anyone role=root",
    "user bob role=operator",
    "user bob role=root",
    "user bob tenant=acme role=operator",
    "user bob tenant=globex role=operator",
    "group staff role=operator",
    "group staff role=root",
];
const RULES: &[&str] = &[
    "deny a { program rm }",
    "deny a { program rm git }",
    "deny b { writes \"/etc/**\" }",
    "deny b { writes \"/etc/**\" \"/srv/**\" }",
    "deny b { writes \"/etc/**\"; program echo }",
    "deny c role=root { program systemctl; operands nginx }",
    "deny c { program systemctl; operands nginx }",
    "approve d { tier min=3 }",
    "allow e { program systemctl; sub restart; operands nginx }",
    "allow f role=operator { program git; sub push }",
    "allow f { program git; sub push }",
    "tier g 3 { program git; sub push }",
    "tier h 2 { program ls }",
    "tier h 3 { program ls systemctl }",
    "lower i to=1 because=x { program kill }",
    "deny j { program ls kill; tier max=1 }",
    "deny k { program kill; except { tier min=3 } }",
    "allow l { program systemctl; tier min=3 }",
    "approve m { program foo; tier max=2 }",
    "deny n { writes \"/srv/**\" { except critical } }",
    "deny n { writes \"/srv/**\" { except critical \"/srv/b/**\" } }",
    "deny o { reads \"/srv/**\" { except secret } }",
    "deny p { writes scratch }",
    "allow q { writes critical }",
    "deny r observe=#true { program kill }",
    "deny s tenant=acme { program kill }",
    "deny t { host \"db-*\"; tier min=1 }",
    "deny u { program zap }",
];
const SCOPES: &[&str] = &[
    "scope tenant=acme { mode readonly }",
    "scope tenant=acme { mode guarded WIDEN }",
    "scope tenant=acme { mode readonly; scope role=root { mode guarded widen=#true } }",
    "scope role=root { mode open WIDEN; deny y { program kill } }",
    "scope role=operator { scope host=\"db-*\" { mode readonly } }",
    "scope role=operator host=\"db-*\" { mode guarded WIDEN }",
    "scope role=operator { mode readonly; scope host=\"db-*\" { mode guarded widen=#true } }",
    "scope host=\"db-*\" { mode readonly; deny z { program git } }",
];
const PATHS: &[&str] = &[
    "critical \"/srv/b/**\"",
    "secret \"/srv/b/**\"",
    "scratch \"/srv/b/**\"",
    "scratch \"/srv/**\"",
];
const FLOORS: &[&str] = &["", "floors { unknown-program 3 }", "floors { unknown-tool 3 }"];
const TOOLS: &[&str] = &[
    "other \"fs_*\" { arg path writes }",
    "other \"fs_*\" { arg path reads }",
    "other \"fs_x\" { arg path removes }",
    "other \"fs_*\"",
];
const FACTS: &[&str] = &[
    "",
    "program zap tier=1 says=z { rest append }",
    "program zap tier=1 says=z { rest remove }",
    "program zap tier=2 says=z { rest append }",
    "program zap tier=0 says=z { rest text }",
];

const COMMANDS: &[&str] = &[
    "rm a",
    "rm -rf /srv",
    "echo x > /etc/a",
    "echo x > /srv/b/a",
    "cat /srv/b/a",
    "systemctl restart nginx",
    "git push",
    "git push --force",
    "kill 1",
    "ls",
    "foo a",
    "zap /etc/a",
    "ssh db-1 git status",
];

/// A project, by the parts that its text is made of.
#[derive(Debug, Clone)]
struct Project {
    mode: &'static str,
    roles: &'static str,
    users: Vec<&'static str>,
    rules: Vec<&'static str>,
    scopes: Vec<&'static str>,
    paths: Vec<&'static str>,
    floors: &'static str,
    tools: Vec<&'static str>,
    facts: &'static str,
}

fn some(all: &[&'static str], most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(all.to_vec(), 0..=most.min(all.len()))
}

fn project() -> impl Strategy<Value = Project> {
    let one = |all: &[&'static str]| select(all.to_vec());
    let of_policy = (some(RULES, 6), some(SCOPES, 3), some(PATHS, 2), one(FLOORS));
    (one(MODES), one(ROLES), some(USERS, 4), of_policy, some(TOOLS, 3), one(FACTS)).prop_map(
        |(mode, roles, users, (rules, scopes, paths, floors), tools, facts)| Project {
            mode,
            roles,
            users,
            rules,
            scopes,
            paths,
            floors,
            tools,
            facts,
        },
    )
}

/// A project, and the same with some parts of another one.
fn pair() -> impl Strategy<Value = (Project, Project)> {
    (project(), project(), vec(0..16_usize, 1..3)).prop_map(|(a, other, parts)| {
        let mut b = a.clone();
        for part in parts {
            match part {
                0 => b.mode = other.mode,
                1 => b.roles = other.roles,
                2 | 3 => b.users.clone_from(&other.users),
                4 => b.rules.clone_from(&other.rules),
                5 => b.scopes.clone_from(&other.scopes),
                6 => b.paths.clone_from(&other.paths),
                7 => b.floors = other.floors,
                8 => b.tools.clone_from(&other.tools),
                9 => b.facts = other.facts,
                10 | 11 => toggle(&mut b.rules, &other.rules),
                12 => toggle(&mut b.users, &other.users),
                13 => toggle(&mut b.scopes, &other.scopes),
                14 => toggle(&mut b.tools, &other.tools),
                _ => toggle(&mut b.paths, &other.paths),
            }
        }
        (a, b)
    })
}

/// Removes the first line of another project, or adds it.
fn toggle(lines: &mut Vec<&'static str>, others: &[&'static str]) {
    let Some(line) = others.first() else { return };
    match lines.iter().position(|it| it == line) {
        Some(at) => _ = lines.remove(at),
        None => lines.push(line),
    }
}

/// Returns the lines, one for each name: a project has one rule of a name and one row of a user.
fn by_name(lines: &[&'static str], words: usize) -> Vec<String> {
    let name = |line: &str| line.split(' ').take(words).collect::<Vec<_>>().join(" ");
    let mut seen = BTreeSet::new();
    lines.iter().filter(|line| seen.insert(name(line))).map(|line| (*line).to_owned()).collect()
}

impl Project {
    fn text(&self) -> String {
        let Self { mode, roles, users, rules, scopes, paths, floors, tools, facts } = self;
        let row = |line: &str| line.rsplit_once(" role=").map(|(who, _)| who.to_owned());
        let mut seen = BTreeSet::new();
        let users: Vec<&str> =
            users.iter().copied().filter(|line| seen.insert(row(line))).collect();
        let mut text = format!(
            "project demo epoch=1\ntenants {{ tenant acme; tenant globex }}\nroles {{ {roles} }}\n\
             users {{ {}\n user last role=operator\n user first role=root\n }}\n\
             prompts {{ prompt a {{ summary A; text x }} }}\n",
            users.join("\n")
        );
        if !tools.is_empty() {
            text.push_str(&format!("tools {{ {} }}\n", tools.join("\n ")));
        }
        if *mode == "none" {
            return text;
        }
        let scopes: Vec<String> = scopes.iter().map(|scope| in_mode(scope, mode)).collect();
        let paths = match paths.is_empty() {
            true => String::new(),
            false => format!("paths {{ {} }}", paths.join("\n")),
        };
        let parts = [vec![paths, (*floors).to_owned()], by_name(rules, 2), scopes].concat();
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        text.push_str(&format!("policy {mode} {{\n{}\n}}\n", parts.join("\n")));
        if !facts.is_empty() {
            text.push_str(&format!("facts {{ {facts} }}\n"));
        }
        text
    }
}

/// Returns a scope with `widen` where its mode is wider than that of the policy.
fn in_mode(scope: &str, mode: &str) -> String {
    let of_scope = |word: &str| scope.contains(&format!("mode {word} WIDEN"));
    let is_wider = mode == "readonly" || (mode == "guarded" && of_scope("open"));
    scope.replace(" WIDEN", if is_wider { " widen=#true" } else { "" })
}

/// Returns the outcome of each call of each caller; a caller without a place is rejected.
fn outcomes(bundle: &Bundle) -> Vec<(String, Outcome)> {
    let authority = Authority::of(bundle).unwrap();
    let of_command = |command: &&str| ("shell_exec", json!({ "command": command }));
    let mut calls: Vec<(&str, Value)> = COMMANDS.iter().map(of_command).collect();
    calls.extend(
        ["git push", "rm a", "ls"]
            .map(|command| ("ssh_exec", json!({ "command": command, "host": "db-1" }))),
    );
    calls.extend(["/etc/a", "/srv/b/a"].map(|path| ("fs_x", json!({ "path": path }))));
    let mut all = Vec::new();
    for id in ["bob", "zoe"] {
        for tenant in [None, Some("acme"), Some("globex")] {
            for groups in [vec![], vec!["staff".to_owned()]] {
                let identity = Identity { id, tenant, groups: &groups, ..Identity::default() };
                let placement = place(bundle, &identity).unwrap();
                for (tool, arguments) in &calls {
                    let outcome = placement.as_ref().map_or(Outcome::Reject, |placement| {
                        let view = View::of(bundle, placement).unwrap();
                        let location = Location::default();
                        let call = Call {
                            tool,
                            arguments: arguments.as_object().unwrap(),
                            client: None,
                            location: &location,
                            door: Door::Elsewhere,
                        };
                        decide(&view, &authority, &call).unwrap().outcome
                    });
                    all.push((format!("{id} {tenant:?} {groups:?} {tool} {arguments}"), outcome));
                }
            }
        }
    }
    all
}

/// Returns the findings that claim a direction, in lines.
fn listed(found: &[Finding]) -> String {
    let line = |it: &Finding| {
        let meaning = it.meaning.as_deref().unwrap_or_default();
        format!("{:?} {} {meaning}\n", it.direction, it.id())
    };
    found.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_caller_that_may_do_more_has_a_finding_that_loosens((a, b) in pair()) {
        let (a, b) = (a.text(), b.text());
        let (before, after) = (compiled(&a), compiled(&b));
        let found = found(&before, &after);
        let loosens = found.iter().any(|it| it.direction == Some(Direction::NotProved));
        for ((about, old), (_, new)) in outcomes(&before).into_iter().zip(outcomes(&after)) {
            prop_assert!(old == new || !found.is_empty(), "{about}: {old:?} -> {new:?}\n{a}\n{b}");
            prop_assert!(new >= old || loosens, "{about}: {old:?} -> {new:?}\n{a}\n{b}\n{}", listed(&found));
        }
        decide_anew(&before, &after, &found);
    }
}
