//! Who gains and loses what: random audiences, against a comparison of each tenant and role alone.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use relay_bundle::{Bundle, Contents, List, Mask, encode};
use relay_compiler::{Options, Sources, compile};
use relay_diff::{Area, Change, Claim, Direction, Finding, Kind};
use relay_engine::place::Placement;
use relay_engine::view::View;

use super::findings;
use crate::bundle::random;
use crate::support::Memory;

/// Returns the rows of a list that callers of a tenant and in a role see.
fn seen(
    bundle: &Bundle,
    list: List,
    tenant: Option<usize>,
    role: Option<usize>,
) -> BTreeSet<usize> {
    let view = View::of(bundle, &Placement { tenant, role, row: None }).unwrap();
    view.rows(list).unwrap().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_each_tenant_and_role_gains_and_loses_is_found(
        mut before in random::with_audiences(),
        bits in vec(any::<bool>(), 16),
    ) {
        for (number, tool) in before.tools.iter_mut().enumerate() {
            tool.name.insert_str(0, &number.to_string());
        }
        for (number, template) in before.templates.iter_mut().enumerate() {
            template.uri_template.insert_str(0, &number.to_string());
        }
        let mut after: Contents = before.clone();
        let audiences = after.audiences.as_mut().unwrap();
        for (number, audience) in audiences.list.iter_mut().enumerate() {
            let lists = [
                &mut audience.prompts,
                &mut audience.resources,
                &mut audience.templates,
                &mut audience.tools,
            ];
            let counts = [
                before.prompts.len(),
                before.resources.len(),
                before.templates.len(),
                before.tools.len(),
            ];
            for (list, (visible, count)) in lists.into_iter().zip(counts).enumerate() {
                visible.rows = Mask::of(count, |row| bits[(number * 5 + list * 3 + row) % bits.len()]);
            }
        }
        let found = findings(&before, &after);
        let bundles =
            [&before, &after].map(|side| Bundle::open(Box::new(encode(side).unwrap())).unwrap());
        let [a, b] = &bundles;
        let tenants = (0..a.tenants().count()).map(Some).chain([None]);
        let roles: Vec<Option<usize>> = match a.roles().len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        let mut expected = BTreeSet::new();
        for tenant in tenants {
            for (list, role) in List::ALL.into_iter().flat_map(|list| roles.iter().map(move |role| (list, *role))) {
                let (old, new) = (seen(a, list, tenant, role), seen(b, list, tenant, role));
                let name = |row: &usize| match list {
                    List::Prompts => (Kind::Prompt, before.prompts[*row].name.clone()),
                    List::Resources => (Kind::Resource, before.resources[*row].uri.clone()),
                    List::Templates => (Kind::Template, before.templates[*row].uri_template.clone()),
                    List::Tools => (Kind::Tool, before.tools[*row].name.clone()),
                };
                expected.extend(new.difference(&old).map(|row| (name(row), Direction::NotProved)));
                expected.extend(old.difference(&new).map(|row| (name(row), Direction::Narrower)));
            }
        }
        let mut reported = BTreeSet::new();
        for Finding { subject, change, direction, area, .. } in &found {
            let Change::Readers { gained, lost } = change else { continue };
            let name = (subject.kind, subject.name.clone());
            let is_gained = expected.contains(&(name.clone(), Direction::NotProved));
            prop_assert_eq!(!gained.is_empty(), is_gained);
            prop_assert_eq!(!lost.is_empty(), expected.contains(&(name.clone(), Direction::Narrower)));
            let expected = if is_gained { Direction::NotProved } else { Direction::Narrower };
            prop_assert_eq!((*area, *direction), (Area::Authority, Some(expected)));
            prop_assert!(reported.insert(name), "one finding for each");
        }
        let named: BTreeSet<_> = expected.into_iter().map(|(name, _)| name).collect();
        prop_assert_eq!(reported, named);
    }
}

/// A project with these roles, users and prompts.
fn bundle(access: &str, prompts: &str) -> Bundle {
    let text =
        format!("project many\ntools {{ diagnostics }}\n{access}\nprompts {{\n{prompts}}}\n");
    let files = Memory::of(&[("project.kdl", &text)]);
    let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
    Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
}

const ROLES: &str =
    "role reader parent=operator tier=0\nrole operator tier=1\nrole auditor tier=2\nrole guest";

/// The direction of each finding of authority, under what it is about.
fn directions(a: &Bundle, b: &Bundle) -> Vec<(String, Direction)> {
    let found = relay_diff::compare(a, b).unwrap();
    let found =
        found.iter().filter_map(|it| Some((it.id().split_once('/')?.1.into(), it.direction?)));
    found.collect()
}

fn users(rows: &str) -> Bundle {
    let access = format!(
        "tenants {{ tenant acme; tenant globex }}\nroles {{\n{ROLES}\n}}\nusers {{\n{rows}\n}}"
    );
    bundle(&access, "prompt p { summary S; text T }\n")
}

#[test]
fn rows_of_users_have_their_directions() {
    use Direction::{Narrower as Tightens, NotProved as Loosens};
    for (before, after, id, direction) in [
        // A role that contains the other, one that lacks a part of it, and a new row.
        ("user ann role=reader", "user ann role=operator", "user/ann/role", Loosens),
        ("user ann role=operator", "user ann role=reader", "user/ann/role", Tightens),
        ("user ann role=reader", "user ann role=auditor", "user/ann/role", Loosens),
        // Unrelated roles are compared by what they see and may do.
        ("user ann role=auditor", "user ann role=guest", "user/ann/role", Tightens),
        ("user bob role=reader", "user bob role=reader\nuser ann role=reader", "user/ann", Loosens),
        ("user bob role=reader", "user bob role=reader\nanyone role=reader", "anyone", Loosens),
        // What is gone, and what counts instead.
        ("user bob role=reader\nanyone role=reader", "user bob role=reader", "anyone", Tightens),
        ("user ann role=operator\nanyone role=reader", "anyone role=reader", "user/ann", Tightens),
        ("user ann role=reader\nanyone role=operator", "anyone role=operator", "user/ann", Loosens),
        ("user ann role=reader\ngroup g role=auditor", "group g role=auditor", "user/ann", Loosens),
        (
            "user ann tenant=acme role=reader\nuser ann tenant=globex role=reader",
            "user ann tenant=globex role=reader",
            "user/ann/in tenant acme",
            Loosens,
        ),
        // Callers of both groups were refused, and now are admitted.
        ("group g role=operator\ngroup h role=auditor", "group h role=auditor", "group/g", Loosens),
    ] {
        let found = directions(&users(before), &users(after));
        assert_eq!(found, [(id.to_owned(), direction)], "{before} -> {after}");
    }
    let (before, after) = ("user ann role=reader\nanyone role=operator", "anyone role=operator");
    let found = relay_diff::compare(&users(before), &users(after)).unwrap();
    let meaning = "the role was `reader`; `ann` whose credentials say no tenant had `reader` and now has `operator`; it gains tier 0 → 1";
    assert_eq!(found[0].meaning.as_deref(), Some(meaning));
}

#[test]
fn a_new_row_takes_what_counted_before() {
    use Direction::{Narrower as Tightens, NotProved as Loosens};
    for (before, row, id, direction, breaking) in [
        ("anyone role=operator", "user ann role=reader", "user/ann", Tightens, true),
        ("anyone role=reader", "user ann role=reader", "user/ann", Direction::Same, false),
        (
            "user ann role=auditor",
            "user ann tenant=acme role=reader",
            "user/ann/in tenant acme",
            Loosens,
            true,
        ),
        (
            "anyone role=operator",
            "anyone tenant=acme role=reader",
            "anyone/in tenant acme",
            Loosens,
            true,
        ),
        ("anyone role=operator", "group g role=reader", "group/g", Tightens, true),
        // A caller may be inside or outside of the group.
        ("group g role=operator", "user ann role=reader", "user/ann", Loosens, false),
        // Some lose, others gain.
        (
            "anyone role=auditor\ngroup g role=reader",
            "user ann role=operator",
            "user/ann",
            Loosens,
            true,
        ),
    ] {
        let after = format!("{before}\n{row}");
        let found = relay_diff::compare(&users(before), &users(&after)).unwrap();
        let [Finding { direction: of, breaking: breaks, .. }] = found.as_slice() else {
            panic!("{before} + {row}: {found:?}")
        };
        let named = found[0].id();
        assert_eq!(named.split_once('/').unwrap().1, id);
        assert_eq!((*of, *breaks), (Some(direction), breaking), "{before} + {row}");
    }
}

#[test]
fn a_parent_does_not_see_what_is_for_its_child_alone() {
    let with = |role: &str, readers: &str| {
        let prompts = format!("prompt p {{ summary S; text T{readers} }}\n");
        bundle(
            &format!(
                "roles {{\n{ROLES}\n}}\nusers {{\nuser ann role={role}\nuser bob role=reader\nuser joe role=operator\n}}"
            ),
            &prompts,
        )
    };
    for (readers, direction) in [
        ("", Direction::Narrower),
        ("; for role=operator", Direction::Narrower),
        // It is hidden from operators.
        ("; for role=reader", Direction::NotProved),
    ] {
        let found = directions(&with("operator", readers), &with("reader", readers));
        assert_eq!(found, [("user/ann/role".to_owned(), direction)], "{readers}");
    }
}

/// Each row with each other one and each tenant would take minutes.
#[test]
fn rows_of_many_users_and_tenants_are_compared() {
    let numbers =
        |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let with = |users: usize| {
        let tenants = numbers(500, &|it| format!("tenant t{it}; "));
        let roles = numbers(20, &|it| format!("role r{it}; "));
        let groups = numbers(500, &|it| format!("group g{it} tenant=t{it} role=r{}; ", it % 20));
        let users = numbers(users, &|it| format!("user u{it} role=r{}; ", it % 20));
        let access = format!(
            "tenants {{ {tenants} }}\nroles {{ {roles} }}\nusers {{ anyone role=r0; {groups}{users} }}"
        );
        let of_tenants =
            numbers(100, &|it| format!("prompt p{it} {{ summary S; text T; for tenant=t{it} }}\n"));
        bundle(&access, &of_tenants)
    };
    let (before, after) = (with(1_000), with(0));
    assert_eq!(relay_diff::compare(&before, &after).unwrap().len(), 1_000);
}

#[test]
fn what_follows_from_a_role_is_its_own_finding_alone() {
    let with = |roles: &str| {
        let access = format!(
            "roles {{\n{roles}\n}}\nusers {{ anyone role=reader; user ann role=operator }}"
        );
        let prompts = "prompt all { summary S; text T }\nprompt some { summary S; text T; for role=operator }\n";
        bundle(&access, prompts)
    };
    // The role that contains it shows a prompt; its tools show a tool.
    let (apart, within) =
        (with("role reader\nrole operator"), with("role reader parent=operator\nrole operator"));
    let found = directions(&apart, &within);
    assert_eq!(found, [("role/reader/parent".to_owned(), Direction::NotProved)]);
    let found = directions(&within, &apart);
    assert_eq!(found, [("role/reader/parent".to_owned(), Direction::Narrower)]);
    // The prompt is now hidden from readers, and its own finding alone says so.
    let breaks = |a: &Bundle, b: &Bundle| {
        let found = relay_diff::compare(a, b).unwrap();
        let parent = found.into_iter().find(|it| it.part == "parent").unwrap();
        (parent.breaking, parent.meaning.unwrap())
    };
    let meaning = "`reader` no longer sees what a `for role=operator` admits";
    assert_eq!(breaks(&within, &apart), (true, meaning.to_owned()));
    assert!(!breaks(&apart, &within).0);
    // So does a role within it, and one that gets another parent.
    let chain = |parent: &str| {
        with(&format!("role reader parent=inner\nrole inner {parent}\nrole operator\nrole other"))
    };
    assert!(breaks(&chain("parent=operator"), &chain("parent=other")).0);
    assert!(!breaks(&chain("parent=other"), &chain("")).0);
    let few = with("role reader { tools \"nothing\" }\nrole operator");
    let found = directions(&few, &apart);
    assert_eq!(found, [("role/reader/tools".to_owned(), Direction::NotProved)]);
    // Patterns in other words match the same tools.
    let other = with("role reader { tools \"*\" \"server_*\" }\nrole operator");
    assert_eq!(directions(&apart, &other), []);
}

#[test]
fn what_is_renamed_keeps_no_readers_from_a_reviewer() {
    let with = |name: &str, readers: &str| {
        let access = "roles { role reader; role operator }\nusers { anyone role=reader; user ann role=operator }";
        bundle(access, &format!("prompt {name} {{ summary S; text T; {readers} }}\n"))
    };
    let found = relay_diff::compare(&with("old", "for role=operator"), &with("new", "")).unwrap();
    let Some(Finding { change, direction, .. }) = found.first() else { panic!("{found:?}") };
    assert_eq!(*direction, Some(Direction::NotProved));
    assert_eq!(*change, Change::Readers { gained: vec!["role reader".into()], lost: Vec::new() });
    assert!(found.iter().any(|it| matches!(it.change, Change::Renamed { .. })), "{found:?}");
}

#[test]
fn audiences_are_named_in_a_few_words() {
    let tenants: String = (0..6).map(|number| format!("tenant t{number}; ")).collect();
    let access = format!(
        "tenants {{ {tenants} }}\nroles {{ role reader; role operator; role auditor }}\nusers {{ anyone role=reader; user ann role=operator; user bob role=auditor }}"
    );
    for (readers, lost) in [
        ("for role=reader; for role=operator", "role auditor of every tenant"),
        ("for role=reader", "roles auditor, operator of every tenant"),
        (
            "for tenant=t1; for tenant=t2; for tenant=t3; for tenant=t4; for tenant=t5",
            "tenant t0 or none, every role",
        ),
        ("for tenant=t4; for tenant=t5", "tenants t0, t1, t2 and 1 more or none, every role"),
        (
            "for role=reader; for role=operator; for tenant=t0; for tenant=t1; for tenant=t2; for tenant=t3; for tenant=t4; for tenant=t5",
            "role auditor without a tenant",
        ),
    ] {
        let prompt = |readers: &str| format!("prompt p {{ summary S; text T; {readers} }}\n");
        let found =
            relay_diff::compare(&bundle(&access, &prompt("")), &bundle(&access, &prompt(readers)))
                .unwrap();
        let Change::Readers { lost: found, .. } = &found[0].change else { panic!("{found:?}") };
        assert_eq!(*found, [lost.to_owned()], "{readers}");
    }
}

#[test]
fn instructions_and_briefings_are_compared_for_each_audience() {
    let with = |text: &str| {
        let access = "gate on\nroles { role reader; role operator }\nusers { anyone role=reader; user ann role=operator }";
        let prompts = format!(
            "prompt all {{ summary S; text T }}\nprompt some {{ summary \"{text}\"; text \"{text}\"; for role=operator }}\n"
        );
        bundle(access, &prompts)
    };
    let found = relay_diff::compare(&with("Short"), &with("Longer by far")).unwrap();
    let of = |kind| found.iter().filter(move |it| it.subject.kind == kind).collect::<Vec<_>>();
    let [Finding { change: Change::Instructions { audiences, causes }, bytes, .. }] =
        of(Kind::Instructions)[..]
    else {
        panic!("{found:?}")
    };
    let [one] = audiences.as_slice() else { panic!("{audiences:?}") };
    assert_eq!(one.readers, ["role operator"]);
    assert_eq!((one.bytes[1] - one.bytes[0], *bytes), (8, 8));
    assert_eq!(causes.as_slice(), ["some"]);
    let briefed: Vec<&str> = of(Kind::Briefings).iter().map(|it| it.part.as_str()).collect();
    assert_eq!(briefed, ["for role operator"]);
}

/// A project of 12 tenants with three prompts each but for one, which has one, and a prompt.
fn of_tenants(prompt: &str) -> Bundle {
    let tenants: String = (0..12).map(|number| format!("tenant t{number}; ")).collect();
    let access = format!(
        "gate on\ntenants {{ {tenants} }}\nroles {{ role reader }}\nusers {{ anyone role=reader }}"
    );
    let own = |tenant: usize| -> String {
        let count = if tenant == 7 { 1 } else { 3 };
        let of =
            |it| format!("prompt p{tenant}-{it} {{ summary S; text T; for tenant=t{tenant} }}\n");
        (0..count).map(of).collect()
    };
    bundle(&access, &((0..12).map(own).collect::<String>() + prompt))
}

#[test]
fn briefings_of_those_that_see_a_changed_prompt_are_tried_first() {
    let with = |chapter: &str| {
        let text = format!("summary S; chapters {chapter}; text T; for tenant=t7");
        of_tenants(&format!("prompt own {{ {text} }}\n"))
    };
    let found = relay_diff::compare(&with("beds"), &with("saws")).unwrap();
    let briefed: Vec<_> = found.iter().filter(|it| it.subject.kind == Kind::Briefings).collect();
    let [
        Finding {
            change: Change::Briefings { losing: 1, gaining: 1, .. },
            part,
            meaning: None,
            ..
        },
    ] = briefed.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!(part, "for tenant t7, role reader");
}

#[test]
fn it_is_said_whose_briefings_were_not_tried() {
    let with = |text: &str| of_tenants(&format!("prompt all {{ summary S; text {text} }}\n"));
    let found = relay_diff::compare(&with("Old"), &with("New")).unwrap();
    let briefed: Vec<_> = found.iter().filter(|it| it.subject.kind == Kind::Briefings).collect();
    let [Finding { change: Change::Untried { readers, causes }, claim, .. }] = briefed.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!(causes.as_slice(), ["all"]);
    assert_eq!(*claim, Claim::Tried { inputs: 8, of: 13 });
    let [readers] = readers.as_slice() else { panic!("{readers:?}") };
    assert!(readers.contains("or none"), "{readers}");
}

#[test]
fn a_role_that_gains_the_right_to_ask_for_decisions_loosens() {
    let with = |roles: &str, users: &str| {
        bundle(
            &format!(
                "roles {{ role reader; role gateway{roles} }}\nusers {{ user gw role=gateway; {users} }}"
            ),
            "",
        )
    };
    let found = |before: &Bundle, after: &Bundle| -> Vec<(String, String, Direction)> {
        let found = relay_diff::compare(before, after).unwrap();
        let found = found
            .into_iter()
            .filter_map(|it| Some((it.subject.name.clone(), it.part.to_string(), it.direction?)));
        found.collect()
    };
    let (without, with_right) = (with("", ""), with(" decides=#true", ""));
    let of = |direction| vec![("gateway".to_owned(), "decides".to_owned(), direction)];
    assert_eq!(found(&without, &with_right), of(Direction::NotProved));
    assert_eq!(found(&with_right, &without), of(Direction::Narrower));
    assert_eq!(found(&without, &with(" decides=#false", "")), []);
    // A caller who gets the role gains its right.
    let (before, after) = (
        with(" decides=#true", "user ann role=reader"),
        with(" decides=#true", "user ann role=gateway"),
    );
    let [(_, _, direction)] = found(&before, &after).try_into().expect("one finding");
    assert_eq!(direction, Direction::NotProved);
    let [(_, _, direction)] = found(&after, &before).try_into().expect("one finding");
    assert_eq!(direction, Direction::Narrower);
    // The first roles of a project restrict, and such a right is new all the same.
    let none = bundle("", "");
    let added = found(&none, &with_right);
    let is_loose = |(name, _, direction): &(String, String, Direction)| {
        name == "gateway" && *direction == Direction::NotProved
    };
    assert!(added.iter().any(is_loose), "{added:?}");
}
