//! The hosts of a call: those that its arguments name, and those on the way to them.

use std::collections::BTreeSet;

use relay_policy::host::{canonical_host, host_of_address};
use relay_policy::inventory::Inventory;

use crate::tool::{ForwardSpec, Reach, host_list};

/// The argument with a host on the way, which the caller chooses.
const JUMP: &str = "jump";

/// The hosts of a call.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// Those that the arguments name, the target of a forward included.
    pub(super) named: Vec<String>,
    /// Those through which the project reaches them: they are connected to, and run nothing.
    pub(super) on_the_way: BTreeSet<String>,
    /// Whether one of them is outside the project.
    pub(super) is_outside: bool,
    /// The forward of a tool that opens one; empty inside if its text is malformed.
    pub(super) forward: Option<Option<ForwardSpec>>,
}

impl Hosts {
    /// Returns the hosts of a call of a tool, whose arguments `text_of` returns as texts.
    pub(super) fn of(
        reach: &Reach,
        text_of: impl Fn(&str) -> Option<String>,
        inventory: &Inventory,
    ) -> Self {
        let listed = |name: &str| -> Vec<String> {
            let written = text_of(name).unwrap_or_default();
            host_list(&written).flat_map(readings).map(ToOwned::to_owned).collect()
        };
        let mut named = reach.host.map_or_else(Vec::new, listed);
        if named.is_empty() && reach.is_of_fleet {
            named.extend(inventory.all().iter().map(|host| host.alias.clone()));
        }
        named.extend(listed(JUMP));
        let forward =
            reach.forward.map(|name| ForwardSpec::parse(&text_of(name).unwrap_or_default()));
        if let Some(Ok(spec)) = &forward {
            named.extend(spec.other_host().map(ToOwned::to_owned));
        }
        let is_other = |host: &String| inventory.called(&canonical_host(host)).next().is_none();
        let is_outside = named.iter().any(is_other);
        let mut on_the_way = BTreeSet::new();
        for host in &named {
            for known in inventory.called(&canonical_host(host)) {
                on_the_way.extend(inventory.jumps(known).map(|jump| jump.alias.clone()));
            }
        }
        Self { named, on_the_way, is_outside, forward: forward.map(Result::ok) }
    }
}

/// Returns the hosts that a name may mean: what follows its last `@`, and the host of an address.
pub(super) fn readings(written: &str) -> impl Iterator<Item = &str> {
    let address = host_of_address(written);
    let last = written.rsplit_once('@').map(|(_, host)| host_of_address(host));
    [Some(address), last.filter(|last| *last != address)].into_iter().flatten()
}
