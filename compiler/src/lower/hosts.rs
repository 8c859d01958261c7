//! The hosts that a project knows.

use relay_bundle::{Host, Hosts, Setting};
use relay_policy::host::canonical_host;

use super::places::Places;
use crate::ast::{HostSettings, HostsSettings};
use crate::model;
use crate::source::Spanned;

/// Lowers the hosts.
pub(super) fn hosts(hosts: model::Hosts, places: &Places<'_>) -> Hosts {
    let model::Hosts { at, settings, groups: _, hosts } = hosts;
    let HostsSettings { known_hosts, outside, weaken, groups: _ } = settings;
    Hosts {
        known_hosts: places.setting(known_hosts),
        outside: places.setting(outside),
        weaken: places.setting(weaken),
        hosts: hosts.into_iter().map(|it| host(it, places)).collect(),
        at: places.of(at),
    }
}

fn host(host: model::Host, places: &Places<'_>) -> Host {
    let model::Host { alias, settings } = host;
    let HostSettings { address, user, port, jump, key, known_hosts, groups, pins } = settings;
    let list = |texts: Option<Vec<Spanned<String>>>| -> Vec<Setting<String>> {
        texts.into_iter().flatten().map(|text| places.written(text)).collect()
    };
    let canonical = |Spanned { value, at }: Spanned<String>| Spanned {
        value: canonical_host(&value).into_owned(),
        at,
    };
    Host {
        at: places.of(alias.at),
        alias: alias.value,
        address: places.optional(address.map(canonical)),
        user: places.optional(user),
        port: places.setting(port),
        jump: places.optional(jump),
        key: places.optional(key),
        known_hosts: places.optional(known_hosts),
        groups: list(groups),
        pins: list(pins),
    }
}
