//! The settings of tools that start processes: limits, folders, variables and the ends of sessions.

use relay_bundle::{Bundle, SessionSettings, Setting, ShellSettings, ToolLimits, ToolSettings};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares the settings of two bundles that both offer such tools; where a side offers none, they
/// follow from that.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    let (Some(a), Some(b)) = (a.tool_settings(), b.tool_settings()) else { return };
    // Taken apart in full, so that a new setting asks to be compared.
    let ToolSettings { limits, shell, sessions } = b;
    self::limits(&a.limits, limits, out);
    self::shell(&a.shell, shell, out);
    if let (Some(old), Some(new)) = (&a.sessions, sessions) {
        let SessionSettings { idle_s, lifetime_s } = new;
        number("sessions idle", &old.idle_s, idle_s, out);
        number("sessions lifetime", &old.lifetime_s, lifetime_s, out);
    }
}

fn finding(change: Change, part: &str) -> Finding {
    Finding::new(Area::Authority, Kind::Tool, "", change).part(part.to_owned())
}

fn limits(a: &ToolLimits, b: &ToolLimits, out: &mut Findings) {
    let ToolLimits {
        timeout_s,
        timeout_s_max,
        output_bytes,
        output_bytes_max,
        input_bytes_max,
        sessions_max,
    } = b;
    number("limits timeout", &a.timeout_s, timeout_s, out);
    number("limits max-timeout", &a.timeout_s_max, timeout_s_max, out);
    number("limits output", &a.output_bytes, output_bytes, out);
    number("limits max-output", &a.output_bytes_max, output_bytes_max, out);
    number("limits input", &a.input_bytes_max, input_bytes_max, out);
    number("limits sessions", &a.sessions_max, sessions_max, out);
}

/// Compares a number of which more permits more.
fn number(part: &str, a: &Setting<u32>, b: &Setting<u32>, out: &mut Findings) {
    let direction = Direction::of_limit(&a.value, &b.value);
    out.setting(Some(a), Some(b), ToString::to_string, |change| {
        finding(change, part).direction(direction).at(a.at.as_ref(), b.at.as_ref())
    });
}

fn shell(a: &ShellSettings, b: &ShellSettings, out: &mut Findings) {
    let ShellSettings { folders, variables, at } = b;
    let places = (a.at.as_ref(), at.as_ref());
    let mut list = |part, before: &Option<Vec<_>>, after: &Option<Vec<_>>, is_in| {
        let change = list(before.as_deref(), after.as_deref(), is_in);
        let found = change.map(|(change, direction)| finding(change, part).direction(direction));
        found.into_iter().for_each(|found| out.push(found.at(places.0, places.1)));
    };
    list("shell folders", &a.folders, folders, is_below);
    list("shell environment", &a.variables, variables, is_meant);
}

/// Compares lists; without one, anything is permitted. `is_in` says whether an item is one of those
/// that another item means. The first folder is only the default.
fn list(
    a: Option<&[Setting<String>]>,
    b: Option<&[Setting<String>]>,
    is_in: fn(&str, &str) -> bool,
) -> Option<(Change, Direction)> {
    let texts = |list: Option<&[Setting<String>]>| -> Option<Vec<String>> {
        Some(list?.iter().map(|item| item.value.clone()).collect())
    };
    let (before, after) = (texts(a), texts(b));
    let is_within = |inner: &Option<Vec<String>>, outer: &Option<Vec<String>>| {
        let Some(outer) = outer else { return true };
        let each = |item: &String| outer.iter().any(|around| is_in(item, around));
        inner.as_ref().is_some_and(|inner| inner.iter().all(each))
    };
    let direction = Direction::proved(is_within(&after, &before), is_within(&before, &after));
    let shown = |list: Option<Vec<String>>| list.map(|all| all.join(" "));
    (before != after)
        .then(|| (Change::Value { before: shown(before), after: shown(after) }, direction))
}

/// Returns whether a folder is another one, or in it.
fn is_below(folder: &str, around: &str) -> bool {
    let around = around.trim_end_matches('/');
    folder.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns whether all names that an entry means are meant by another one.
fn is_meant(name: &str, by: &str) -> bool {
    match by.strip_suffix('*') {
        Some(beginning) => name.trim_end_matches('*').starts_with(beginning),
        None => name == by,
    }
}
