//! The hosts that a project knows: which names mean one host.
//!
//! Rules select a host by its alias, by its groups and by its address; commands and arguments name it by
//! its alias or its address. So a rule sees all names of a host, whichever of them a request has.

use hashbrown::HashMap;
use relay_bundle::{Host, Hosts};

use crate::host::canonical_host;

/// The hosts that a project knows, and perhaps a server beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    hosts: Vec<KnownHost>,
    /// The numbers of the hosts of each alias and of each address.
    by_name: HashMap<String, Vec<usize>>,
}

/// The names of a host, each in one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHost {
    /// The name that commands and calls use.
    pub alias: String,
    /// The name or the literal address to which a connection goes; often the alias.
    pub address: String,
    /// The groups that it is in.
    pub groups: Vec<String>,
    /// The alias of the host through which it is reached.
    pub jump: Option<String>,
}

/// The most hosts through which another one is reached.
pub const JUMPS_MAX: usize = 8;

impl KnownHost {
    /// Returns all names by which rules may select it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let Self { alias, address, groups, jump: _ } = self;
        [alias, address].into_iter().chain(groups).map(String::as_str)
    }
}

impl Inventory {
    /// Returns the hosts of a project; none without a `hosts` node.
    #[must_use]
    pub fn of(hosts: Option<&Hosts>) -> Self {
        let mut inventory = Self::default();
        for Host { alias, address, groups, jump, .. } in hosts.iter().flat_map(|it| &it.hosts) {
            let address = address.as_ref().map_or(alias, |address| &address.value);
            inventory.add(KnownHost {
                alias: alias.clone(),
                address: address.clone(),
                groups: groups.iter().map(|group| group.value.clone()).collect(),
                jump: jump.as_ref().map(|jump| jump.value.clone()),
            });
        }
        inventory
    }

    /// Adds a host, with its names in one spelling.
    fn add(&mut self, host: KnownHost) {
        let number = self.hosts.len();
        let one = |name: &str| canonical_host(name).into_owned();
        let host = KnownHost { alias: one(&host.alias), address: one(&host.address), ..host };
        for name in [&host.alias, &host.address] {
            let numbers = self.by_name.entry(name.clone()).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
        self.hosts.push(host);
    }

    /// Returns the hosts of an alias or an address, in the spelling of [`canonical_host`].
    pub fn called(&self, name: &str) -> impl Iterator<Item = &KnownHost> {
        self.by_name.get(name).into_iter().flatten().filter_map(|number| self.hosts.get(*number))
    }

    /// Returns the hosts through which a host is reached, the nearest to it first.
    pub fn jumps<'i>(&'i self, host: &'i KnownHost) -> impl Iterator<Item = &'i KnownHost> {
        let next = |host: &&'i KnownHost| {
            let jump = host.jump.as_deref()?;
            self.called(jump).find(|known| known.alias == jump)
        };
        std::iter::successors(next(&host), next).take(JUMPS_MAX)
    }

    /// Returns all hosts.
    #[must_use]
    pub fn all(&self) -> &[KnownHost] {
        &self.hosts
    }
}
