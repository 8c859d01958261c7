//! The hosts of a project, with the aliases that files of the server add.
//!
//! The project decides: an alias or an address that it has stays its own, and a file can make no check of a
//! host key weaker. A jump that is described in place becomes a host of its own, so that rules see it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use relay_bundle::{Host, Hosts, KnownHosts, Outside, Place, Setting};
use relay_policy::host::canonical_host;
use relay_policy::inventory::JUMPS_MAX;
use relay_ssh::config::Jump;

use super::files::{Described, HostFiles, Login, Named};

/// The port of SSH.
const PORT: u32 = 22;

/// The hosts that calls name.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    /// Absent if neither the project nor the server has any: then any host may be named.
    hosts: Option<Hosts>,
    /// The logins of the hosts that files add, by alias.
    logins: BTreeMap<String, Login>,
    /// Why aliases of files are out of reach.
    refused: BTreeMap<String, String>,
    files: Arc<HostFiles>,
}

/// Where a host is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostSource {
    Project,
    /// A file of the server.
    Server,
    /// A call alone.
    Outside,
}

impl HostSource {
    /// Every source.
    pub(crate) const ALL: &[Self] = &[Self::Project, Self::Server, Self::Outside];

    /// Returns its word in metrics.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Server => "server",
            Self::Outside => "outside",
        }
    }
}

/// The reason for which a name that only patterns describe is out of reach.
const ONLY_PATTERNS: &str = "patterns of the ssh_config give it another address or a jump: give it a `Host` line of its own";

impl Fleet {
    /// Returns the hosts of a project with those that the files add. Logs each that is left out.
    pub(crate) fn of(project: Option<&Hosts>, files: &Arc<HostFiles>) -> Self {
        let mut adding =
            Adding { project, files, added: BTreeMap::new(), refused: BTreeMap::new() };
        for named in files.named() {
            adding.add(named);
        }
        adding.connect();
        let Adding { added, refused, .. } = adding;
        for (alias, reason) in &refused {
            tracing::warn!("no call can reach the host `{alias}` of the server's files: {reason}");
        }
        let mut hosts = project.cloned();
        let mut logins = BTreeMap::new();
        if !added.is_empty() {
            let all = hosts.get_or_insert_with(any_host);
            let (check, weaken) = (all.known_hosts.value, all.weaken.value);
            for (alias, Added { described, jump }) in added {
                let known_hosts = described.known_hosts;
                let known_hosts = known_hosts.map(|own| if weaken { own } else { own.max(check) });
                logins.insert(alias.clone(), described.login.clone());
                all.hosts.push(host(alias, described, jump, known_hosts));
            }
            all.hosts.sort_by(|a, b| a.alias.cmp(&b.alias));
        }
        Self { hosts, logins, refused, files: files.clone() }
    }

    /// Returns the hosts, and their settings.
    pub(crate) fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_ref()
    }

    /// Returns the login of a host that a file adds.
    pub(crate) fn login(&self, alias: &str) -> Option<&Login> {
        self.logins.get(alias)
    }

    /// Describes a name without an alias by the patterns of the ssh_config: its user, port and login.
    ///
    /// # Errors
    ///
    /// A line refuses it, or leads elsewhere than the name says, so that rules would judge another host.
    pub(crate) fn by_pattern(
        &self,
        name: &str,
        user: Option<&str>,
    ) -> Result<Option<Described>, String> {
        let described = self.files.by_pattern(name, user)?;
        let leads_elsewhere = |described: &Described| {
            canonical_host(&described.address) != name || !described.jumps.is_empty()
        };
        match described {
            Some(described) if leads_elsewhere(&described) => Err(ONLY_PATTERNS.to_owned()),
            described => Ok(described),
        }
    }

    /// Returns the files of the server that describe hosts.
    pub(crate) fn files(&self) -> &HostFiles {
        &self.files
    }

    /// Returns why an alias of a file is out of reach.
    pub(crate) fn refusal(&self, alias: &str) -> Option<&str> {
        self.refused.get(alias).map(String::as_str)
    }

    /// Returns where a host is described, by the alias of its way.
    pub(crate) fn source(&self, alias: &str) -> HostSource {
        let all = self.hosts.as_ref().map_or(&[][..], |hosts| &hosts.hosts);
        match all.iter().any(|host| host.alias == alias) {
            true if self.logins.contains_key(alias) => HostSource::Server,
            true => HostSource::Project,
            false => HostSource::Outside,
        }
    }

    /// Returns whether a file added any host.
    pub(crate) fn has_added(&self) -> bool {
        !self.logins.is_empty()
    }
}

/// The settings of a project without `hosts`.
fn any_host() -> Hosts {
    Hosts {
        known_hosts: Setting { value: KnownHosts::AcceptNew, at: None },
        outside: Setting { value: Outside::Permit, at: None },
        weaken: Setting { value: true, at: None },
        hosts: Vec::new(),
        at: Place::default(),
    }
}

fn host(
    alias: String,
    described: Described,
    jump: Option<String>,
    known_hosts: Option<KnownHosts>,
) -> Host {
    let Described { address, user, port, .. } = described;
    fn set<T>(value: T) -> Setting<T> {
        Setting { value, at: Some(Place::default()) }
    }
    let address = canonical_host(&address).into_owned();
    Host {
        address: (address != alias).then(|| set(address)),
        alias,
        user: user.map(set),
        port: port.map_or(Setting { value: PORT, at: None }, |port| set(port.into())),
        jump: jump.map(set),
        key: None,
        known_hosts: known_hosts.map(set),
        groups: Vec::new(),
        pins: Vec::new(),
        at: Place::default(),
    }
}

/// A host that a file adds.
struct Added {
    described: Described,
    jump: Option<String>,
}

/// The work of adding hosts.
struct Adding<'a> {
    project: Option<&'a Hosts>,
    files: &'a HostFiles,
    added: BTreeMap<String, Added>,
    refused: BTreeMap<String, String>,
}

impl Adding<'_> {
    fn own(&self, name: &str) -> Option<&Host> {
        let all = self.project.map_or(&[][..], |hosts| &hosts.hosts);
        let is_named = |host: &&Host| {
            host.alias == name || host.address.as_ref().is_some_and(|it| it.value == name)
        };
        all.iter().find(is_named)
    }

    /// Adds an alias, unless the project has it, or its address.
    fn add(&mut self, Named { alias, file, described }: Named<'_>) {
        let name = canonical_host(alias).into_owned();
        if self.own(&name).is_some() {
            tracing::info!(
                "`{alias}` of {} is left out: the project has a host of this name",
                file.display()
            );
            return;
        }
        if self.added.contains_key(&name) || self.refused.contains_key(&name) {
            return;
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        let described = match described {
            _ if !name.bytes().all(is_plain) => Err("its name is no plain host name".to_owned()),
            Ok(described) => match self.own(&canonical_host(&described.address)) {
                Some(own) => Err(format!("its address is that of the project's `{}`", own.alias)),
                None => Ok(described),
            },
            Err(refused) => Err(refused),
        };
        match described {
            Ok(described) => _ = self.added.insert(name, Added { described, jump: None }),
            Err(reason) => _ = self.refused.insert(name, reason),
        }
    }

    /// Connects hosts with the hosts that they are reached through.
    fn connect(&mut self) {
        let mut aliases: Vec<String> = self.added.keys().cloned().collect();
        // Ways of several jumps look at those of one.
        let jumps = |alias: &String| self.added.get(alias).map(|it| it.described.jumps.len());
        aliases.sort_by_key(jumps);
        for alias in aliases {
            if let Err(reason) = self.connect_one(&alias) {
                self.added.remove(&alias);
                self.refused.insert(alias, reason);
            }
        }
        // A host behind one that is out of reach is out of reach too.
        loop {
            let lost: Vec<String> =
                self.added.keys().filter(|alias| !self.is_reachable(alias)).cloned().collect();
            if lost.is_empty() {
                return;
            }
            for alias in lost {
                self.added.remove(&alias);
                let reason = "a host on the way is out of reach, or the way leads in a circle";
                self.refused.insert(alias, reason.to_owned());
            }
        }
    }

    fn connect_one(&mut self, alias: &str) -> Result<(), String> {
        let jumps = self.added.get(alias).map(|added| added.described.jumps.clone());
        let mut before: Option<String> = None;
        for jump in jumps.unwrap_or_default() {
            let name = self.jump(&jump)?;
            if let Some(before) = before.take() {
                let of_jump = self.jump_of(&name);
                match (of_jump, self.added.get_mut(&name)) {
                    (Some(own), _) if own == before => {}
                    (None, Some(added)) if added.described.jumps.is_empty() => {
                        added.jump = Some(before);
                    }
                    _ => return Err(format!("its jump `{name}` is reached in another way")),
                }
            }
            before = Some(name);
        }
        if let Some(added) = self.added.get_mut(alias) {
            added.jump = before;
        }
        Ok(())
    }

    /// Returns the alias of a jump: a known host, or one that is added for it.
    fn jump(&mut self, Jump { user, host, port }: &Jump) -> Result<String, String> {
        let name = canonical_host(host).into_owned();
        let differs = |own_user: Option<&str>, own_port: u32| {
            user.as_deref().is_some_and(|user| Some(user) != own_user)
                || port.is_some_and(|port| u32::from(port) != own_port)
        };
        let in_other_words = || format!("its jump `{name}` has another user or port elsewhere");
        if let Some(own) = self.own(&name) {
            let own_user = own.user.as_ref().map(|user| user.value.as_str());
            return match differs(own_user, own.port.value) {
                true => Err(in_other_words()),
                false => Ok(own.alias.clone()),
            };
        }
        if let Some(Added { described, .. }) = self.added.get(&name) {
            let own_port = described.port.map_or(PORT, u32::from);
            return match differs(described.user.as_deref(), own_port) {
                true => Err(in_other_words()),
                false => Ok(name),
            };
        }
        if let Some(reason) = self.refused.get(&name) {
            return Err(format!("its jump `{name}` is out of reach: {reason}"));
        }
        let by_pattern = self.files.by_pattern(&name, user.as_deref())?;
        let mut described = by_pattern.unwrap_or_else(|| Described {
            address: name.clone(),
            user: None,
            port: None,
            jumps: Vec::new(),
            known_hosts: None,
            login: Login::default(),
        });
        if let Some(own) = self.own(&canonical_host(&described.address)) {
            return Err(format!("its jump `{name}` is the project's `{}`: name that", own.alias));
        }
        if !described.jumps.is_empty() {
            return Err(format!(
                "its jump `{name}` has a jump by a pattern: give it a `Host` line"
            ));
        }
        described.user = user.clone().or(described.user);
        described.port = port.or(described.port);
        self.added.insert(name.clone(), Added { described, jump: None });
        Ok(name)
    }

    fn jump_of(&self, alias: &str) -> Option<String> {
        match self.added.get(alias) {
            Some(added) => added.jump.clone(),
            None => self.own(alias)?.jump.as_ref().map(|jump| jump.value.clone()),
        }
    }

    /// Returns whether each host on the way is known, and the way ends.
    fn is_reachable(&self, alias: &str) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), alias.to_owned());
        loop {
            let is_known = self.added.contains_key(&next) || self.own(&next).is_some();
            if !is_known || seen.len() > JUMPS_MAX || !seen.insert(next.clone()) {
                return false;
            }
            match self.jump_of(&next) {
                Some(jump) => next = jump,
                None => return true,
            }
        }
    }
}
