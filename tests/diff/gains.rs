//! Whenever a caller gains, a finding loosens: random pairs of projects, in which every caller is asked
//! of `engine` alone.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use relay_bundle::{Bundle, List, Tier, Who};
use relay_compiler::{Options, Sources, compile};
use relay_diff::{Area, Change, Direction, Finding, Kind};
use relay_engine::glob;
use relay_engine::place::{Identity, Placement, place};
use relay_engine::view::View;

use super::{compiled, found};
use crate::support::Memory;

const ROLES: [&str; 3] = ["narrow", "middle", "wide"];
const TENANTS: [&str; 2] = ["acme", "globex"];
/// Those that rows name. `joe` is missing in all rows.
const NAMED: [&str; 6] = ["user ann", "user bob", "group g", "group h", "group k", "anyone"];
const TOOLS: [&str; 4] =
    ["", " { tools \"server_*\" }", " { tools \"api-*\" server_info }", " { tools server_info }"];
/// Tools that are offered, and some of other servers.
const PROBES: [&str; 5] = ["server_info", "server_api", "explain_context", "api-get", "api-put"];

/// A row of `users`: whom it names, as in [`NAMED`], and the tenant.
type Key = (usize, Option<usize>);

/// A project, as numbers of the names above.
#[derive(Debug, Clone, PartialEq)]
struct Project {
    /// Each role: the role that contains it, its tier and its tools.
    roles: [(bool, u8, usize); 3],
    tenants: bool,
    rows: std::collections::BTreeMap<Key, usize>,
    /// The `for`s of each prompt: roles and tenants.
    prompts: Vec<Vec<(Option<usize>, Option<usize>)>>,
}

fn rows() -> impl Strategy<Value = std::collections::BTreeMap<Key, usize>> {
    let key = (0..NAMED.len(), option::weighted(0.4, 0..TENANTS.len()));
    btree_map(key, 0..ROLES.len(), 0..6)
}

fn project() -> impl Strategy<Value = Project> {
    let role = || (prop::bool::weighted(0.4), 0..3u8, 0..TOOLS.len());
    let admitted = (option::weighted(0.7, 0..ROLES.len()), option::weighted(0.3, 0..TENANTS.len()));
    let prompts = vec(vec(admitted, 0..3), 1..3);
    ([role(), role(), role()], prop::bool::weighted(0.7), rows(), prompts)
        .prop_map(|(roles, tenants, rows, prompts)| Project { roles, tenants, rows, prompts })
}

/// A project, and the same with some things of another one.
fn pair() -> impl Strategy<Value = (Project, Project)> {
    let parts = vec((0..8u8, 0..12usize), 1..4);
    (project(), project(), parts).prop_map(|(a, other, parts)| {
        let mut b = a.clone();
        for (part, at) in parts {
            match part {
                0 => b.roles[at % 3] = other.roles[at % 3],
                1 => b.tenants = other.tenants,
                2 => b.prompts.clone_from(&other.prompts),
                3 => b.rows.clone_from(&other.rows),
                _ => one_row(&mut b, &other, at),
            }
        }
        (a, b)
    })
}

/// Adds, removes or replaces one row.
fn one_row(b: &mut Project, other: &Project, at: usize) {
    let keys: BTreeSet<Key> = b.rows.keys().chain(other.rows.keys()).copied().collect();
    let Some(key) = keys.iter().nth(at % keys.len().max(1)) else { return };
    match other.rows.get(key) {
        Some(role) => b.rows.insert(*key, *role),
        None => b.rows.remove(key),
    };
}

fn bundle(project: &Project) -> Option<Bundle> {
    let Project { roles, tenants, rows, prompts } = project;
    let mut text =
        "project garden\ntools { diagnostics; other \"api-get\" \"api-put\" }\n".to_owned();
    if *tenants {
        text.push_str("tenants { tenant acme; tenant globex }\n");
    }
    text.push_str("roles {\n");
    for (number, (is_within, tier, tools)) in roles.iter().enumerate() {
        let parent = ROLES.get(number + 1).filter(|_| *is_within);
        let parent = parent.map_or(String::new(), |parent| format!(" parent={parent}"));
        text.push_str(&format!(
            "    role {}{parent} tier={tier}{}\n",
            ROLES[number], TOOLS[*tools]
        ));
    }
    text.push_str("}\nusers {\n");
    for role in ROLES {
        text.push_str(&format!("    user last-{role} role={role}\n"));
    }
    for ((named, tenant), role) in rows {
        let tenant = match tenant.filter(|_| *tenants) {
            Some(tenant) => format!(" tenant={}", TENANTS[tenant]),
            None if !tenants && tenant.is_some() => continue,
            None => String::new(),
        };
        text.push_str(&format!("    {}{tenant} role={}\n", NAMED[*named], ROLES[*role]));
    }
    text.push_str("}\nprompts {\n");
    for (number, readers) in prompts.iter().enumerate() {
        text.push_str(&format!("    prompt p{number} {{ summary S; text T"));
        let readers: BTreeSet<_> =
            readers.iter().map(|(role, tenant)| (*role, tenant.filter(|_| *tenants))).collect();
        for (role, tenant) in readers {
            let role = role.map(|role| format!(" role={}", ROLES[role]));
            let tenant = tenant.map(|tenant| format!(" tenant={}", TENANTS[tenant]));
            if role.is_some() || tenant.is_some() {
                let [role, tenant] = [role, tenant].map(Option::unwrap_or_default);
                text.push_str(&format!("; for{role}{tenant}"));
            }
        }
        text.push_str(" }\n");
    }
    text.push_str("}\n");
    let files = Memory::of(&[("project.kdl", &text)]);
    let bytes = compile(&Sources::new(&files, "project.kdl"), &Options::default()).bundle?;
    Some(Bundle::open(Box::new(bytes)).unwrap())
}

#[derive(Debug, Clone, PartialEq)]
struct Caller {
    id: &'static str,
    tenant: Option<&'static str>,
    groups: Vec<String>,
}

/// The place of a caller, and everything that it may see or do there.
#[derive(Debug, Clone, PartialEq)]
struct Has {
    tenant: Option<String>,
    role: String,
    row: Option<Row>,
    tier: Tier,
    things: BTreeSet<String>,
}

/// Whom a row names, and the tenant.
type Row = (Who, String, Option<String>);

fn callers() -> Vec<Caller> {
    let mut callers = Vec::new();
    for id in ["ann", "bob", "joe"] {
        for tenant in [None, Some("acme"), Some("globex"), Some("initech")] {
            for set in 0..8u8 {
                let is_of = |(number, _): &(u8, &&str)| set >> number & 1 == 1;
                let groups = (0..).zip(&["g", "h", "k"]).filter(is_of);
                let groups = groups.map(|(_, group)| (*group).to_owned()).collect();
                callers.push(Caller { id, tenant, groups });
            }
        }
    }
    callers
}

fn has(bundle: &Bundle, caller: &Caller, role: Option<&str>) -> Option<Has> {
    let Caller { id, tenant, groups } = caller;
    let identity = Identity { id, tenant: *tenant, groups, role };
    let placement = place(bundle, &identity).unwrap().ok()?;
    let Placement { tenant, role, row } = placement;
    let name = |tenant: usize| bundle.tenants().name(tenant).unwrap().to_owned();
    let role = &bundle.roles()[role.unwrap()];
    let row = row.map(|row| {
        let row = bundle.users().list().unwrap()[row].clone();
        (row.who, row.id, row.tenant.map(|tenant| name(tenant as usize)))
    });
    let view = View::of(bundle, &placement).unwrap();
    let sees = |name: &&&str| {
        let tools = role.tools.as_ref();
        tools.is_none_or(|tools| tools.iter().any(|tool| glob::matches(&tool.value, name)))
    };
    let mut things: BTreeSet<String> =
        PROBES.iter().filter(sees).map(|name| format!("may call {name}")).collect();
    for row in view.rows(List::Prompts).unwrap() {
        things.insert(bundle.prompt(row).unwrap().name().unwrap().to_owned());
    }
    for row in view.rows(List::Tools).unwrap() {
        things.insert(format!("sees {}", bundle.tools()[row].name));
    }
    Some(Has {
        tenant: tenant.map(name),
        role: role.name.clone(),
        row,
        tier: role.tier.value,
        things,
    })
}

/// Returns whether a caller that had the one and has the other has something more. New parts of the
/// project are left out.
fn gains(before: Option<&Has>, after: Option<&Has>, a: &Bundle) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return before.is_none() && after.is_some();
    };
    let is_known =
        |thing: &&String| !thing.starts_with('p') || a.find_prompt(thing).unwrap().is_some();
    let enters = a.tenants().count() > 0 && after.tenant.is_some() && after.tenant != before.tenant;
    let mut more = after.things.difference(&before.things).filter(is_known);
    enters || after.tier > before.tier || more.next().is_some()
}

/// Every caller, with what it has on both sides and whether it gains.
fn asked(a: &Bundle, b: &Bundle) -> Vec<(Caller, Option<Has>, Option<Has>, bool)> {
    let mut all = Vec::new();
    for caller in callers() {
        let asking = || [None].into_iter().chain(ROLES.map(Some));
        let before: Vec<_> = asking().map(|role| has(a, &caller, role)).collect();
        for (number, role) in asking().enumerate() {
            let after = has(b, &caller, role);
            // A caller that asks for a role could have asked for another one.
            let is_gain = match role {
                None => gains(before[0].as_ref(), after.as_ref(), a),
                Some(_) => {
                    after.is_some()
                        && before.iter().all(|before| gains(before.as_ref(), after.as_ref(), a))
                }
            };
            all.push((caller.clone(), before[number].clone(), after, is_gain));
        }
    }
    all
}

/// Returns the row that a finding is about.
fn row(finding: &Finding) -> Option<Row> {
    let who = match finding.subject.kind {
        Kind::User => Who::User,
        Kind::Group => Who::Group,
        Kind::Anyone => Who::Anyone,
        _ => return None,
    };
    let tenant = finding.part.rsplit_once("in tenant ").map(|(_, tenant)| tenant.to_owned());
    Some((who, finding.subject.name.clone(), tenant))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whenever_a_caller_gains_a_finding_loosens((old, new) in pair()) {
        let (Some(a), Some(b)) = (bundle(&old), bundle(&new)) else { return Ok(()) };
        let found = relay_diff::compare(&a, &b).unwrap();
        let asked = asked(&a, &b);
        let is_of = |direction| move |it: &&Finding| it.direction == Some(direction);
        let gaining = asked.iter().find(|(.., is_gain)| *is_gain);
        if let Some(gaining) = gaining {
            prop_assert!(found.iter().any(|it| is_of(Direction::NotProved)(&it)), "{gaining:?}\n{found:?}");
        }
        // Callers that are placed by a row that tightens never gain.
        for finding in found.iter().filter(is_of(Direction::Narrower)) {
            let Some(row) = row(finding) else { continue };
            for (caller, before, after, is_gain) in &asked {
                let is_by_row = [before, after].into_iter().flatten().any(|has| has.row.as_ref() == Some(&row));
                let place = |has: &Option<Has>| has.as_ref().map(|has| (has.tenant.clone(), has.role.clone()));
                if is_by_row && place(before) != place(after) && (row.0 != Who::Group || caller.groups.len() == 1) {
                    prop_assert!(!is_gain, "{finding:?}: {caller:?} {before:?} {after:?}");
                }
            }
        }
    }

    #[test]
    fn one_row_has_the_direction_of_what_it_does(old in project(), key in select((0..NAMED.len() * 3).collect::<Vec<_>>()), role in option::of(0..ROLES.len())) {
        let mut new = old.clone();
        let key = (key / 3, [None, Some(0), Some(1)][key % 3].filter(|_| old.tenants));
        match role {
            Some(role) => new.rows.insert(key, role),
            None => new.rows.remove(&key),
        };
        let (Some(a), Some(b)) = (bundle(&old), bundle(&new)) else { return Ok(()) };
        let found = relay_diff::compare(&a, &b).unwrap();
        let rows: Vec<_> = found.iter().filter(|it| row(it).is_some()).collect();
        prop_assert_eq!(rows.len(), usize::from(old != new), "{:?}", found);
        let Some(finding) = rows.first() else { return Ok(()) };
        let asked = asked(&a, &b);
        let gains = asked.iter().any(|(.., is_gain)| *is_gain);
        // Who loses is told apart by names alone where nothing else differs.
        let places = |has: &Option<Has>| has.as_ref().map(|has| (has.tenant.clone(), has.role.clone()));
        let differs = asked.iter().any(|(_, before, after, _)| places(before) != places(after));
        match finding.direction {
            Some(Direction::NotProved) => prop_assert!(gains, "{:?}", finding),
            Some(Direction::Narrower) => prop_assert!(!gains && differs, "{:?}", finding),
            _ => prop_assert!(!gains, "{:?}", finding),
        }
    }
}

/// Returns the finding with this id; the area is left out of it.
fn finding(before: &str, after: &str, id: &str) -> Finding {
    let found = found(&compiled(before), &compiled(after));
    let ids: Vec<String> = found.iter().map(Finding::id).collect();
    let found = found.into_iter().find(|it| it.id().split_once('/').unwrap().1 == id);
    found.unwrap_or_else(|| panic!("{id} is not one of {ids:?}"))
}

#[test]
fn a_caller_that_was_refused_and_is_admitted_loosens() {
    let of_tenants = |rows: &str| {
        format!(
            "project demo\ntenants {{ tenant acme; tenant globex }}\nroles {{ role reader tier=0; role operator tier=2 }}\ntools {{ diagnostics }}\nusers {{\nuser rob role=reader\nuser root role=operator\n{rows}\n}}\n"
        )
    };
    let apart = |rows: &str| {
        format!(
            "project demo\nroles {{ role narrow tier=1 {{ tools server_info }}; role wide tier=2 }}\ntools {{ diagnostics }}\nusers {{\nuser root role=wide\ngroup staff role=narrow\n{rows}\n}}\n"
        )
    };
    for (before, after, id, meaning) in [
        // For a caller that gives no tenant, rows of two tenants were in doubt.
        (
            of_tenants("anyone tenant=acme role=operator\nanyone tenant=globex role=reader"),
            of_tenants("anyone tenant=acme role=operator"),
            "anyone/in tenant globex",
            "the role was `reader`; a caller whose credentials say no tenant was refused and now has `operator` of tenant `acme`",
        ),
        (
            of_tenants("user ann tenant=acme role=operator\nuser ann tenant=globex role=operator"),
            of_tenants("user ann tenant=acme role=operator"),
            "user/ann/in tenant globex",
            "the role was `operator`; `ann` whose credentials say no tenant was refused and now has `operator` of tenant `acme`",
        ),
        (
            of_tenants("group g tenant=acme role=operator\ngroup h tenant=globex role=operator"),
            of_tenants("group g tenant=acme role=operator"),
            "group/h/in tenant globex",
            "the role was `operator`; a caller of the groups `h` and `g` whose credentials say no tenant was refused and now has `operator` of tenant `acme`",
        ),
        // The roles of two groups were unordered.
        (
            apart("group visitors role=wide"),
            apart(""),
            "group/visitors",
            "the role was `wide`; a caller of the groups `visitors` and `staff` was refused and now has `narrow`",
        ),
    ] {
        let finding = finding(&before, &after, id);
        assert_eq!(finding.direction, Some(Direction::NotProved), "{id}");
        let said = finding.meaning.unwrap_or_default();
        assert!(said.starts_with(&format!("{meaning}; it gains tier ")), "{id}: {said}");
    }
}

#[test]
fn a_role_before_is_compared_with_another_one_after() {
    let with = |roles: &str, role: &str| {
        format!(
            "project demo\nroles {{\n{roles}\n}}\nusers {{ user ann role={role}; user bob role=reader }}\ntools {{ diagnostics }}\n"
        )
    };
    let old = "role reader tier=1 { tools audit_tail }\nrole operator tier=0 { tools server_info }";
    for (before, after, direction) in [
        // The role that she had is widened by the same change, so that in one bundle it holds the other.
        (
            old,
            "role reader tier=1 { tools audit_tail }\nrole operator tier=1 { tools server_info audit_tail }",
            Direction::NotProved,
        ),
        // The role that she gets is widened, and the one that she had is gone.
        (
            "role reader tier=0 { tools server_info }\nrole operator tier=1 { tools server_info explain_context }",
            "role reader tier=2 { tools server_info audit_tail }",
            Direction::NotProved,
        ),
        // The role that she gets is narrowed to what she had, and a tool less.
        (
            old,
            "role reader tier=0 { tools server_info }\nrole operator tier=2",
            Direction::Narrower,
        ),
    ] {
        let finding = finding(&with(before, "operator"), &with(after, "reader"), "user/ann/role");
        assert_eq!(finding.direction, Some(direction), "{after}");
        let meaning = match direction {
            Direction::NotProved if before == old => {
                "`ann` had `operator` and now has `reader`; it gains tier 0 → 1, tool `audit_tail`"
            }
            Direction::NotProved => {
                "`ann` had `operator` and now has `reader`; it gains tier 1 → 2, tool `audit_tail`"
            }
            _ => "no caller gains by it",
        };
        assert_eq!(finding.meaning.as_deref(), Some(meaning));
    }
}

#[test]
fn the_skills_of_a_caller_that_is_of_another_tenant_are_contexts() {
    let with = |tenant: &str| {
        format!(
            "project demo\ntenants {{ tenant acme; tenant globex }}\nroles {{ role operator tier=2 }}\nusers {{ user bob tenant={tenant} role=operator; user root role=operator }}\ntools {{ diagnostics }}\nskills {{\n    tenant acme {{ skill care \"Ask before you delete.\" }}\n    tenant globex {{ skill fast \"Do not ask.\" }}\n}}\n"
        )
    };
    let moved = finding(&with("acme"), &with("globex"), "calls/by `users`");
    let Change::Calls { groups } = &moved.change else { panic!("{moved:?}") };
    let [group] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!(moved.area, Area::Contexts);
    assert_eq!(group.calls, ["user bob (tenant acme → tenant globex)"]);
    assert_eq!((group.lost.len(), group.gained.len()), (1, 1));
    // Where no tenant has skills of its own, nothing is given otherwise.
    let bare = |tenant| {
        with(tenant).replace("skills {", "skills { global { skill x \"X.\" } }\n/-skills {")
    };
    let found = found(&compiled(&bare("acme")), &compiled(&bare("globex")));
    assert!(found.iter().all(|it| it.area != Area::Contexts), "{found:?}");
}
