//! The relations of roles: containment, and the inclusion of tools.

use relay_bundle::{CallerRole, Setting};
use relay_engine::glob;
use relay_engine::place::number_of;

use crate::direction::Direction;

/// Returns the name of the role that contains a role.
pub(crate) fn parent<'r>(roles: &'r [CallerRole], name: &str) -> Option<&'r str> {
    roles.get(number_of(roles, name)?)?.parent_in(roles).map(|role| role.name.as_str())
}

/// Returns a role, and those that contain it, by their names.
pub(crate) fn ancestors<'r>(roles: &'r [CallerRole], name: &str) -> Vec<&'r str> {
    let first = number_of(roles, name).and_then(|number| roles.get(number));
    let names = std::iter::successors(first, |role| role.parent_in(roles));
    // A bundle with a circle ends after as many steps as it has roles.
    names.take(roles.len()).map(|role| role.name.as_str()).collect()
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

/// Returns whether `wide` is proved to match every name that `patterns` match: each of those is in
/// `wide`, or is a name that one in `wide` matches.
pub(crate) fn covers(
    wide: Option<&[Setting<String>]>,
    patterns: Option<&[Setting<String>]>,
) -> bool {
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
