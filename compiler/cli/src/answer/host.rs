//! The hosts that a project knows, as human output.

use relay_bundle::{Host, Hosts, Setting};

use crate::answer::table::{self, text};

/// Returns the meaning of each setting of all hosts, labelled with its KDL keyword.
pub(crate) fn facts(hosts: &Hosts) -> Vec<(&'static str, String)> {
    let Hosts { known_hosts, outside, weaken, hosts: _, at: _ } = hosts;
    vec![
        ("known-hosts", known_hosts.value.word().to_owned()),
        ("outside", outside.value.word().to_owned()),
        ("weaken", weaken.value.to_string()),
    ]
}

/// Returns each setting of a host that it has, labelled with its KDL keyword.
pub(crate) fn host_facts(host: &Host) -> Vec<(&'static str, String)> {
    let Host { alias: _, address, user, port, jump, key, known_hosts, groups, pins, at: _ } = host;
    let texts = [("address", address), ("user", user), ("jump", jump), ("key", key)];
    let texts = texts.into_iter();
    let mut facts: Vec<_> =
        texts.filter_map(|(name, it)| Some((name, it.as_ref()?.value.clone()))).collect();
    facts.push(("port", port.value.to_string()));
    facts.extend(known_hosts.as_ref().map(|it| ("known-hosts", it.value.word().to_owned())));
    let list = |list: &[Setting<String>]| {
        list.iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(" ")
    };
    let lists = [("groups", list(groups)), ("pins", list(pins))];
    facts.extend(lists.into_iter().filter(|(_, list)| !list.is_empty()));
    facts
}

/// Returns the hosts as a table.
pub(crate) fn draw(hosts: &Hosts, width: usize) -> String {
    let columns = ["HOST", "ADDRESS", "GROUPS", "THROUGH", "PINS"].map(text);
    let value = |it: &Option<Setting<String>>| {
        it.as_ref().map_or_else(String::new, |setting| setting.value.clone())
    };
    let row = |host: &Host| {
        let groups: Vec<&str> = host.groups.iter().map(|group| group.value.as_str()).collect();
        let user = host.user.as_ref().map_or_else(String::new, |user| format!("{}@", user.value));
        let address = host.address.as_ref().map_or(host.alias.as_str(), |it| it.value.as_str());
        let port = match host.port.value {
            22 => String::new(),
            port => format!(" port {port}"),
        };
        let address = format!("{user}{address}{port}");
        let pins = host.pins.len().to_string();
        vec![host.alias.clone(), address, groups.join(" "), value(&host.jump), pins]
    };
    table::draw(&columns, hosts.hosts.iter().map(row).collect(), width)
}
