//! The hosts that a project knows: which names mean one host.
//!
//! Rules select a host by its alias, by its groups and by its address; commands and arguments name it by
//! its alias or its address. So a rule sees all names of a host, whichever of them a request has.

use std::collections::BTreeMap;

use relay_bundle::Hosts;

use crate::host::canonical_host;

/// The hosts that a project knows, and perhaps a server beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    hosts: Vec<KnownHost>,
    /// The numbers of the hosts of each alias and of each address.
    by_name: BTreeMap<String, Vec<usize>>,
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
}

impl KnownHost {
    /// Returns all names by which rules may select it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let Self { alias, address, groups } = self;
        [alias, address].into_iter().chain(groups).map(String::as_str)
    }
}

impl Inventory {
    /// Returns the hosts of a project; none without a `hosts` node.
    #[must_use]
    pub fn of(hosts: Option<&Hosts>) -> Self {
        let mut inventory = Self::default();
        for host in hosts.iter().flat_map(|hosts| &hosts.hosts) {
            let groups = host.groups.iter().map(|group| group.value.clone());
            let address = host.address.as_ref().map(|address| address.value.as_str());
            inventory.add(&host.alias, address, groups.collect());
        }
        inventory
    }

    /// Adds a host; without an address, connections go to its alias.
    pub fn add(&mut self, alias: &str, address: Option<&str>, groups: Vec<String>) {
        let number = self.hosts.len();
        let alias = canonical_host(alias).into_owned();
        let address = address.map_or_else(|| alias.clone(), |it| canonical_host(it).into_owned());
        for name in [&alias, &address] {
            let numbers = self.by_name.entry(name.clone()).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
        self.hosts.push(KnownHost { alias, address, groups });
    }

    /// Returns the hosts of an alias or an address, in the spelling of [`canonical_host`].
    pub fn called(&self, name: &str) -> impl Iterator<Item = &KnownHost> {
        self.by_name.get(name).into_iter().flatten().filter_map(|number| self.hosts.get(*number))
    }

    /// Returns all hosts.
    #[must_use]
    pub fn all(&self) -> &[KnownHost] {
        &self.hosts
    }
}
