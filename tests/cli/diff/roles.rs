//! Tenants, roles, users and who sees what: one change each, in every form.

use super::forms;
use crate::cli::{Sandbox, copy, snapshot};
use crate::support::root;

/// A change of the project in `tests/cli/diff/roles`: its name, a text and what replaces it.
const CHANGES: [(&str, &str, &str); 18] = [
    (
        "role_widened",
        "role reader { tools \"server_info\" }",
        "role reader { tools \"server_info\" \"audit_*\" }",
    ),
    ("role_narrowed", "role operator tier=2", "role operator tier=2 { tools \"server_info\" }"),
    ("role_tier", "role auditor tier=1", "role auditor tier=3"),
    ("role_parent_gone", "role observer parent=operator", "role observer tier=2"),
    (
        "role_added",
        "role auditor tier=1",
        "role auditor tier=1\n    role guest { tools \"nothing\" }",
    ),
    (
        "user_role_widened",
        "bob@acme.example\" tenant=acme role=observer",
        "bob@acme.example\" tenant=acme role=operator",
    ),
    (
        "user_role_incomparable",
        "bob@acme.example\" tenant=acme role=observer",
        "bob@acme.example\" tenant=acme role=auditor",
    ),
    (
        "user_removed",
        "    user \"ann@acme.example\" tenant=acme role=operator\n    user \"bob",
        "    user \"bob",
    ),
    (
        "group_added",
        "    anyone role=reader",
        "    group \"acme:sre\" tenant=acme role=operator\n    anyone role=reader",
    ),
    ("anyone_removed", "    anyone role=reader\n", ""),
    ("tenant_added", "    tenant globex\n", "    tenant globex\n    tenant initech\n"),
    (
        "for_widened",
        "text \"Roll out to one region first.\"\n        for role=operator",
        "text \"Roll out to one region first.\"",
    ),
    (
        "for_widened_to_a_tenant",
        "first.\"\n        for role=operator",
        "first.\"\n        for role=operator\n        for tenant=globex",
    ),
    (
        "for_narrowed",
        "Invoices of acme are in EUR.\"\n        for tenant=acme",
        "Invoices of acme are in EUR.\"\n        for tenant=acme role=operator",
    ),
    ("for_moved", "for tenant=acme", "for tenant=globex"),
    (
        "for_of_a_resource",
        "us-1\"\n        for role=operator",
        "us-1\"\n        for role=operator\n        for role=auditor",
    ),
    (
        "text_of_one_audience",
        "summary \"How acme writes invoices\"",
        "summary \"How acme writes its invoices, and when\"",
    ),
    ("text_of_everyone", "summary \"How all teams work\"", "summary \"How all of our teams work\""),
];

/// Two copies of that project, `a` and `b`.
fn copies() -> Sandbox {
    let sandbox = Sandbox::new();
    for side in ["a", "b"] {
        copy(&root().join("tests/cli/diff/roles"), &sandbox.path(side));
    }
    sandbox
}

#[test]
fn each_change_of_who_sees_what_is_found_and_explained() {
    for (name, from, to) in CHANGES {
        let sandbox = copies();
        sandbox.edit("b/project.kdl", from, to);
        let run = sandbox.relay("diff a b --exit-code").ends(1);
        snapshot(&format!("diff_roles_{name}"), &run.stdout);
        snapshot(&format!("diff_roles_{name}_forms"), &forms::of(&sandbox));
        sandbox.relay("diff b a --exit-code").ends(1);
        let json = sandbox.relay("diff a b --json").ends(0);
        crate::cli::schemas::assert_conforms("diff", &json.json());
        forms::assert_directions(&json);
    }
}

/// The changes that let somebody see or do more.
const LOOSENS: [&str; 11] = [
    "role_widened",
    "role_tier",
    "user_role_widened",
    "user_role_incomparable",
    "user_removed",
    "group_added",
    "tenant_added",
    "for_widened",
    "for_widened_to_a_tenant",
    "for_moved",
    "for_of_a_resource",
];

#[test]
fn what_widens_fails_the_run() {
    for (name, from, to) in CHANGES {
        let sandbox = copies();
        sandbox.edit("b/project.kdl", from, to);
        let run = sandbox.relay("diff a b --fail-on loosens");
        assert_eq!(run.code, i32::from(LOOSENS.contains(&name)), "{name}: {}", run.stdout);
    }
}

#[test]
fn the_first_roles_and_the_last_have_their_directions() {
    let sandbox = copies();
    let text = sandbox.read("b/project.kdl");
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("for "));
    let open: Vec<&str> = lines.collect();
    let (before, rest) = open.split_at(7);
    let rest = rest.iter().skip_while(|line| !line.starts_with("prompts"));
    let open: Vec<&str> = before.iter().chain(rest).copied().collect();
    sandbox.write("b/project.kdl", &open.join("\n"));
    snapshot("diff_roles_all_gone", &sandbox.relay("diff a b").ends(0).silent().stdout);
    sandbox.relay("diff a b --fail-on loosens").ends(1);
    sandbox.relay("diff b a --fail-on loosens").ends(0);
}

#[test]
fn a_call_of_an_environment_names_it() {
    let sandbox = Sandbox::new();
    let project = |name: &str, mode: &str| {
        let text = format!(
            "project firm epoch=1\nprompts {{ prompt a {{ summary A; text x }} }}\npolicy\nwhen prod {{ policy {mode} }}\n"
        );
        sandbox.write(name, &text);
    };
    project("a.kdl", "readonly");
    project("b.kdl", "open");
    let answer = sandbox.relay("diff a.kdl b.kdl --json").ends(0).json();
    let found = &answer["projects"][0]["findings"][0];
    assert_eq!(found["flip"]["environment"], "prod", "{found:#}");
    let text = sandbox.relay("diff a.kdl b.kdl").ends(0).stdout;
    assert!(text.contains("`touch a`, env prod: deny (mode-readonly) → allow (mode)"), "{text}");
}
