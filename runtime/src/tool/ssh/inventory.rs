//! The hosts that a caller may name, as `ssh_hosts` and the resources show them.

use relay_bundle::{Corrupt, Host, Setting};
use relay_engine::decide::{self, Door, Outcome, Rule};
use relay_policy::host::canonical_host;
use relay_policy::location::Location;
use serde_json::{Map, Value, json};

use crate::trust::placed::Placed;

/// The tool that lists hosts: callers that do not see it see no host.
pub(crate) const SSH_HOSTS: &str = "ssh_hosts";
/// The tools that reach a host, the weakest first, with the argument that names it.
const REACHING: [(&str, &str); 7] = [
    ("ssh_check", "hosts"),
    ("ssh_exec", "host"),
    ("ssh_fanout", "hosts"),
    ("ssh_download", "host"),
    ("ssh_upload", "host"),
    ("ssh_forward", "host"),
    ("ssh_spawn", "host"),
];

/// Returns whether a caller sees the tool that lists hosts.
pub(crate) fn is_seen(placed: &Placed) -> Result<bool, Corrupt> {
    Ok(placed.view()?.tools()?.any(|tool| tool.name == SSH_HOSTS))
}

/// Returns the hosts that a caller may name.
pub(crate) fn all(placed: &Placed) -> Result<Vec<&Host>, Corrupt> {
    let reaching = reaching(placed)?;
    let mut hosts = Vec::new();
    for host in placed.loaded.fleet().hosts().map_or(&[][..], |hosts| &hosts.hosts) {
        if !is_denied(placed, reaching, &host.alias)? {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// Returns one host as JSON; for a name that no host has, how a call would reach it. `None` if the caller
/// may not name it.
pub(crate) fn one(placed: &Placed, name: &str) -> Result<Option<Value>, Corrupt> {
    let (canonical, reaching) = (canonical_host(name), reaching(placed)?);
    let fleet = placed.loaded.fleet();
    let own = fleet.hosts().map_or(&[][..], |hosts| &hosts.hosts);
    let own = own.iter().find(|host| host.alias == canonical);
    let is_out_of_reach =
        own.is_none() && (reaching.is_none() || fleet.refusal(&canonical).is_some());
    if is_out_of_reach || is_denied(placed, reaching, name)? {
        return Ok(None);
    }
    Ok(Some(own.map_or_else(
        || json!({
            "name": canonical, "hostname": canonical, "user": "", "port": 22, "jump": "", "groups": [],
        }),
        shown,
    )))
}

/// Returns the weakest tool by which a caller reaches hosts, with the argument that names them.
fn reaching(placed: &Placed) -> Result<Option<(&'static str, &'static str)>, Corrupt> {
    let tools: Vec<&str> = placed.view()?.tools()?.map(|tool| tool.name.as_str()).collect();
    Ok(REACHING.into_iter().find(|(tool, _)| tools.contains(tool)))
}

/// Returns whether the policy keeps a caller from a host, with any call.
fn is_denied(placed: &Placed, reaching: Option<(&str, &str)>, host: &str) -> Result<bool, Corrupt> {
    // A caller that only lists hosts reaches none of them.
    let Some((tool, argument)) = reaching else { return Ok(false) };
    let arguments = Map::from_iter([(argument.to_owned(), Value::from(host))]);
    let location = Location::default();
    let call = decide::Call {
        tool,
        arguments: &arguments,
        client: None,
        location: &location,
        door: Door::Server,
    };
    let decision = decide::decide(&placed.view()?, &placed.loaded.authority, &call)?;
    let is_of_host = matches!(decision.rule, Rule::Deny | Rule::OutsideHost);
    Ok(decision.outcome == Outcome::Deny && is_of_host)
}

/// Returns a host as JSON.
pub(crate) fn shown(host: &Host) -> Value {
    let Host { alias, address, user, port, jump, groups, .. } = host;
    let text = |setting: &Option<Setting<String>>| {
        setting.as_ref().map_or_else(String::new, |setting| setting.value.clone())
    };
    let address = address.as_ref().map_or(alias.as_str(), |address| &address.value);
    let groups: Vec<&str> = groups.iter().map(|group| group.value.as_str()).collect();
    json!({
        "name": alias, "hostname": address, "user": text(user), "port": port.value,
        "jump": text(jump), "groups": groups,
    })
}
