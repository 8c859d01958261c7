//! The settings of tools that start processes: limits, folders, variables and the ends of sessions.

use relay_bundle::{
    Bundle, RemoteLimits, SessionSettings, Setting, ShellSettings, ToolLimits, ToolSettings,
};

use relay_engine::tool::{Group, ToolSpec, find};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares the settings of two bundles. Where one side offers no such tools, they follow from that.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    let offers = |bundle: &Bundle| {
        bundle.tools().iter().any(|it| find(&it.name).is_some_and(ToolSpec::starts_processes))
    };
    let offers_group = |bundle: &Bundle, group| {
        bundle.tools().iter().any(|it| find(&it.name).is_some_and(|it| it.group == group))
    };
    let of_sessions = [a, b].map(|bundle| offers_group(bundle, Group::Sessions));
    let of_hosts = [a, b].map(|bundle| offers_group(bundle, Group::Ssh));
    let (a, b) = match (a.tool_settings(), b.tool_settings()) {
        (Some(a), Some(b)) => (a, b),
        // A server goes by the defaults, which may permit more.
        (Some(_), None) if offers(a) == offers(b) => {
            let gone = finding(Change::Removed, "settings").direction(Direction::NotProved);
            return out.push(gone);
        }
        (None, Some(_)) if offers(a) == offers(b) => {
            return out.push(finding(Change::Added, "settings").direction(Direction::NotProved));
        }
        _ => return,
    };
    // Taken apart in full, so that a new setting asks to be compared.
    let ToolSettings { limits, shell, sessions, remote } = b;
    self::limits(&a.limits, limits, out);
    self::shell(&a.shell, shell, out);
    match (&a.sessions, sessions) {
        (Some(old), Some(SessionSettings { idle_s, lifetime_s })) => {
            number("sessions idle", &old.idle_s, idle_s, out);
            number("sessions lifetime", &old.lifetime_s, lifetime_s, out);
        }
        (None, None) => {}
        // Sessions that come or go with their tools follow from these.
        (old, _) if of_sessions[0] == of_sessions[1] => {
            let change = if old.is_some() { Change::Removed } else { Change::Added };
            out.push(finding(change, "sessions").direction(Direction::NotProved));
        }
        _ => {}
    }
    match (&a.remote, remote) {
        (Some(old), Some(RemoteLimits { forwards_max, fanout, fanout_hosts_max })) => {
            number("limits forwards", &old.forwards_max, forwards_max, out);
            number("limits fanout", &old.fanout, fanout, out);
            number("limits fanout-hosts", &old.fanout_hosts_max, fanout_hosts_max, out);
        }
        (None, None) => {}
        // Those that come or go with their tools follow from these.
        (old, _) if of_hosts[0] == of_hosts[1] => {
            let change = if old.is_some() { Change::Removed } else { Change::Added };
            out.push(finding(change, "limits of other hosts").direction(Direction::NotProved));
        }
        _ => {}
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
