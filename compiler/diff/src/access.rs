//! The tenants and the roles of a project.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, CallerRole, Corrupt, List, Setting, Tenant};
use relay_engine::place::{Placement, number_of};
use relay_engine::view::View;

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind, PARENT};
use crate::reversal;
use crate::role;
use crate::shown::Shown;

/// Tools that a finding names.
const NAMES_MAX: usize = 5;

/// Compares the tenants and the roles of two bundles.
pub(crate) fn compare(shown: &Shown<'_>, out: &mut Findings) -> Result<(), Corrupt> {
    let [a, b] = shown.sides;
    tenants(&a.tenants().list()?, &b.tenants().list()?, out);
    roles(shown, out)
}

fn tenants(a: &[Tenant], b: &[Tenant], out: &mut Findings) {
    let finding = |name: &str, change| Finding::new(Area::Authority, Kind::Tenant, name, change);
    let named = |list: &[Tenant]| -> BTreeMap<String, Tenant> {
        list.iter().map(|tenant| (tenant.name.clone(), tenant.clone())).collect()
    };
    let (of_a, of_b) = (named(a), named(b));
    for Tenant { name, at } in a.iter().filter(|tenant| !of_b.contains_key(&tenant.name)) {
        let gone = finding(name, Change::Removed).at(Some(at), None);
        out.push(if b.is_empty() {
            gone.direction(Direction::NotProved).meaning("callers of any tenant are admitted")
        } else {
            let gone = gone.direction(Direction::Narrower).breaking(true);
            gone.meaning("its callers are refused")
        });
    }
    for Tenant { name, at } in b.iter().filter(|tenant| !of_a.contains_key(&tenant.name)) {
        let new = finding(name, Change::Added).at(None, Some(at));
        out.push(if a.is_empty() {
            let new = new.direction(Direction::Narrower);
            new.meaning("callers of tenants that the project does not name are refused")
        } else {
            let new = new.direction(Direction::NotProved);
            new.meaning("its callers are admitted, as far as `users` gives them a role")
        });
    }
}

fn roles(shown: &Shown<'_>, out: &mut Findings) -> Result<(), Corrupt> {
    let [a, b] = shown.sides;
    let named = |roles: &[CallerRole]| -> BTreeMap<String, CallerRole> {
        roles.iter().map(|role| (role.name.clone(), role.clone())).collect()
    };
    let (of_a, of_b) = (named(a.roles()), named(b.roles()));
    for gone in a.roles().iter().filter(|role| !of_b.contains_key(&role.name)) {
        let removed = finding(&gone.name, Change::Removed).at(Some(&gone.at), None);
        out.push(if of_b.is_empty() {
            removed.direction(Direction::NotProved).meaning("everyone sees everything")
        } else {
            let removed = removed.direction(Direction::Narrower).breaking(true);
            removed.meaning("no caller can have it")
        });
    }
    for new in b.roles() {
        match of_a.get(&new.name) {
            Some(old) => differences(shown, old, new, out)?,
            None => {
                let added = finding(&new.name, Change::Added).at(None, Some(&new.at));
                let sees = seen_by(b, new)?;
                out.push(if of_a.is_empty() && new.may_ask() {
                    let added = added.direction(Direction::NotProved);
                    added.meaning("its callers may ask for decisions on the calls of others")
                } else if of_a.is_empty() {
                    let added = added.direction(Direction::Narrower);
                    added.meaning(format!("everyone saw everything; {sees}"))
                } else {
                    // Its users are a finding of their own.
                    let added = added.direction(Direction::Same);
                    added.meaning(format!("{sees}; `users` says who has it"))
                });
            }
        }
    }
    Ok(())
}

fn finding(name: &str, change: Change) -> Finding {
    Finding::new(Area::Authority, Kind::Role, name, change)
}

/// Returns the counts of things that a role sees.
fn seen_by(bundle: &Bundle, role: &CallerRole) -> Result<String, Corrupt> {
    let view = view(bundle, role)?;
    let lists = [
        (List::Prompts, "prompts"),
        (List::Resources, "resources"),
        (List::Templates, "templates"),
        (List::Tools, "tools"),
    ];
    let counts: Vec<String> = lists
        .into_iter()
        .filter(|(list, _)| bundle.list(*list).count() > 0)
        .map(|(list, what)| format!("{} of {} {what}", view.count(list), bundle.list(list).count()))
        .chain([format!("tier {}", role.tier.value.number())])
        .collect();
    Ok(format!("its callers without a tenant have {}", counts.join(", ")))
}

/// Returns the view of callers with a role and of any tenant or none.
fn view<'b>(bundle: &'b Bundle, role: &CallerRole) -> Result<View<'b>, Corrupt> {
    let role = number_of(bundle.roles(), &role.name);
    View::of(bundle, &Placement { tenant: None, role, row: None })
}

fn differences(
    shown: &Shown<'_>,
    old: &CallerRole,
    new: &CallerRole,
    out: &mut Findings,
) -> Result<(), Corrupt> {
    let [a, b] = shown.sides;
    let CallerRole { name, tier, approve, decides: _, parent: _, tools, at } = new;
    let of = |part: &'static str, direction| {
        move |change| {
            finding(name, change).part(part).direction(direction).at(Some(&old.at), Some(at))
        }
    };
    let direction = Direction::of_limit(&old.tier.value, &tier.value);
    out.setting(
        Some(&old.tier),
        Some(tier),
        |tier| tier.number().to_string(),
        of("tier", direction),
    );
    let asks = |approve: &Option<Setting<bool>>| approve.as_ref().is_some_and(|it| it.value);
    let (before, after) = (asks(&old.approve), asks(approve));
    if before != after {
        let change =
            Change::Value { before: Some(before.to_string()), after: Some(after.to_string()) };
        // A person's yes admits calls that the mode `guarded` refuses.
        let direction = match after && reversal::is_guarded(shown) {
            true => Direction::NotProved,
            false => Direction::of_demand(&before, &after),
        };
        let meaning = match after {
            true => "a person is asked before tier 3",
            false => "no person is asked before tier 3",
        };
        out.push(shown.approval(of("approve", direction)(change).meaning(meaning)));
    }
    let (before, after) = (old.may_ask(), new.may_ask());
    if before != after {
        let change =
            Change::Value { before: Some(before.to_string()), after: Some(after.to_string()) };
        let direction = Direction::of_limit(&before, &after);
        let meaning = match after {
            true => "its callers may ask for decisions on the calls of others",
            false => "its callers may no longer ask for decisions on the calls of others",
        };
        out.push(of("decides", direction)(change).meaning(meaning).breaking(before));
    }
    let direction = role::tools_direction(old.tools.as_deref(), tools.as_deref());
    if direction != Direction::Same {
        let change = Change::Value {
            before: Some(role::shown(old.tools.as_deref())),
            after: Some(role::shown(tools.as_deref())),
        };
        let (gained, lost) = offered(&view(a, old)?, &view(b, new)?, a, b)?;
        let place = |tools: &Option<Vec<Setting<String>>>| {
            tools.iter().flatten().find_map(|pattern| pattern.at.clone())
        };
        let (of_a, of_b) = (place(&old.tools), place(tools));
        let found = of("tools", direction)(change).breaking(!lost.is_empty());
        out.push(
            found
                .meaning(difference(&gained, &lost))
                .at(of_a.as_ref().or(Some(&old.at)), of_b.as_ref().or(Some(at))),
        );
    }
    // A role's number changes when another role is added, so names are compared.
    let old_parent = role::parent(a.roles(), &old.name);
    let parent = role::parent(b.roles(), name);
    if old_parent != parent {
        let change = Change::Value {
            before: old_parent.map(str::to_owned),
            after: parent.map(str::to_owned),
        };
        let names = |roles, name: &str| {
            let mut names = role::ancestors(roles, name);
            names.sort_unstable();
            names
        };
        let before = names(a.roles(), &old.name);
        let after = names(b.roles(), name);
        // With fewer roles around it, no further `for` admits it, and no set of groups gets a role
        // that contains the others where it had none.
        let is_narrower = after.iter().all(|name| before.contains(name));
        let no_longer = old_parent
            .map(|parent| format!("`{name}` no longer sees what a `for role={parent}` admits"));
        let (direction, meaning) = match no_longer {
            Some(meaning) if is_narrower => (Direction::Narrower, meaning),
            _ => (Direction::NotProved, "a `for` that names its parent admits it too".into()),
        };
        out.push(of(PARENT, direction)(change).meaning(meaning));
    }
    Ok(())
}

/// Returns the tools that both sides offer and that one side alone shows to a role: the gained and
/// the lost ones.
fn offered<'b>(
    before: &View<'_>,
    after: &View<'b>,
    a: &Bundle,
    b: &'b Bundle,
) -> Result<(Vec<&'b str>, Vec<&'b str>), Corrupt> {
    let (mut gained, mut lost) = (Vec::new(), Vec::new());
    for (row, tool) in b.tools().iter().enumerate() {
        let Some(old) = a.tools().iter().position(|old| old.name == tool.name) else { continue };
        match (before.sees(List::Tools, old)?, after.sees(List::Tools, row)?) {
            (false, true) => gained.push(tool.name.as_str()),
            (true, false) => lost.push(tool.name.as_str()),
            (true, true) | (false, false) => {}
        }
    }
    Ok((gained, lost))
}

fn difference(gained: &[&str], lost: &[&str]) -> String {
    let listed = |names: &[&str]| {
        let shown = names.get(..NAMES_MAX.min(names.len())).unwrap_or_default().join("`, `");
        let more = match names.len().saturating_sub(NAMES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("`{shown}`{more}")
    };
    match (gained, lost) {
        ([], []) => "it sees the same of the tools that are offered".into(),
        (gained, []) => format!("it gains {}", listed(gained)),
        ([], lost) => format!("it loses {}", listed(lost)),
        (gained, lost) => format!("it gains {} and loses {}", listed(gained), listed(lost)),
    }
}
