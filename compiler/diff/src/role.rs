//! How roles relate: which contains which, and whose tools are within those of another.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, CallerRole, Corrupt, List, Setting};
use relay_engine::glob;
use relay_engine::place::{contains, number_of};

use crate::direction::Direction;

/// Returns the name of the role that contains a role.
pub(crate) fn parent<'r>(roles: &'r [CallerRole], name: &str) -> Option<&'r str> {
    roles.get(number_of(roles, name)?)?.parent_in(roles).map(|role| role.name.as_str())
}

/// Returns a role, and those that contain it, by their names.
pub(crate) fn ancestors<'r>(roles: &'r [CallerRole], name: &str) -> Vec<&'r str> {
    let first = number_of(roles, name).and_then(|number| roles.get(number));
    let names = std::iter::successors(first, |role| role.parent_in(roles));
    // A bundle with a circle ends after as many steps as there are roles.
    names.take(roles.len()).map(|role| role.name.as_str()).collect()
}

/// Returns whether it is proved that callers of a role see and may do nothing after the change that those of
/// another one did not before: one of the two roles was not widened, and they are within each other on the
/// side where both have the same width.
pub(crate) fn was_within(a: &Bundle, b: &Bundle, wide: &str, name: &str) -> Result<bool, Corrupt> {
    if wide == name {
        return Ok(!is_widened(a, b, name));
    }
    for (side, unwidened) in [(b, wide), (a, name)] {
        let roles = side.roles();
        if let (Some(wide), Some(name)) = (number_of(roles, wide), number_of(roles, name))
            && !is_widened(a, b, unwidened)
            && is_seen_within(side, wide, name)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a role may do more after the change than before.
fn is_widened(a: &Bundle, b: &Bundle, name: &str) -> bool {
    let role = |bundle: &Bundle| {
        number_of(bundle.roles(), name).and_then(|at| bundle.roles().get(at).cloned())
    };
    match (role(a), role(b)) {
        (Some(old), Some(new)) => {
            Direction::of_limit(&old.tier.value, &new.tier.value)
                .and(tools_direction(old.tools.as_deref(), new.tools.as_deref()))
                == Direction::NotProved
        }
        _ => true,
    }
}

/// Returns whether callers of a role see and may do nothing that those of another one do not: in the
/// second bundle, or where it lacks one of them, in the first. Other roles of one name are one.
pub(crate) fn is_within(a: &Bundle, b: &Bundle, wide: &str, name: &str) -> Result<bool, Corrupt> {
    if wide == name {
        return Ok(true);
    }
    for bundle in [b, a] {
        let roles = bundle.roles();
        if let (Some(wide), Some(name)) = (number_of(roles, wide), number_of(roles, name)) {
            return is_seen_within(bundle, wide, name);
        }
    }
    Ok(false)
}

/// Returns whether a role has no more tier, tools, prompts and resources than another one, in any
/// tenant.
fn is_seen_within(bundle: &Bundle, wide: usize, name: usize) -> Result<bool, Corrupt> {
    let roles = bundle.roles();
    let (Some(of_wide), Some(of_name)) = (roles.get(wide), roles.get(name)) else {
        return Ok(false);
    };
    // The build proves the tools and the tier of a role within those of its parent. But what is
    // `for` a role is not for its parent.
    let is_authority_within = contains(roles, wide, name)
        || of_name.tier.value <= of_wide.tier.value
            && covers(of_wide.tools.as_deref(), of_name.tools.as_deref());
    if !is_authority_within {
        return Ok(false);
    }
    let mut known = BTreeSet::new();
    for tenant in [None].into_iter().chain((0..bundle.tenants().count()).map(Some)) {
        let audience = |role| bundle.audiences().of(tenant, Some(role));
        let (Some(wide), Some(name)) = (audience(wide)?, audience(name)?) else { continue };
        if known.insert((wide.number(), name.number())) {
            for list in List::ALL {
                let rows = wide.rows(list)?;
                if !name.rows(list)?.rows().all(|row| rows.contains(row)) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Returns whether two roles match the same tools.
pub(crate) fn have_equal_tools(a: &CallerRole, b: &CallerRole) -> bool {
    tools_direction(a.tools.as_deref(), b.tools.as_deref()) == Direction::Same
}

/// Returns the direction of the tools of a role: by name or by pattern, `None` is all.
pub(crate) fn tools_direction(
    a: Option<&[Setting<String>]>,
    b: Option<&[Setting<String>]>,
) -> Direction {
    Direction::proved(covers(a, b), covers(b, a))
}

/// Returns whether it is proved that some patterns match every name that others match: each of
/// those is one of these, or a name that one of these matches.
fn covers(wide: Option<&[Setting<String>]>, patterns: Option<&[Setting<String>]>) -> bool {
    let Some(wide) = wide else { return true };
    let covers = |pattern: &Setting<String>| {
        let is_name = !pattern.value.contains(['*', '?', '[']);
        wide.iter().any(|wide| {
            let matches =
                || glob::check(&wide.value).is_ok() && glob::matches(&wide.value, &pattern.value);
            wide.value == pattern.value || wide.value == "*" || (is_name && matches())
        })
    };
    match patterns {
        None => wide.iter().any(|wide| wide.value == "*"),
        Some(patterns) => patterns.iter().all(covers),
    }
}

/// Returns the patterns for people.
pub(crate) fn shown(tools: Option<&[Setting<String>]>) -> String {
    match tools {
        None => "all".into(),
        Some([]) => "none".into(),
        Some(tools) => tools.iter().map(|tool| tool.value.as_str()).collect::<Vec<_>>().join(", "),
    }
}
