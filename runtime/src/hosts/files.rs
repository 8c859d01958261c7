//! The files of the server that describe hosts: an ssh_config, and an inventory in the format of relay-shell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use relay_bundle::KnownHosts;
use relay_ssh::Identity;
use relay_ssh::config::{
    Config, ConfigError, Disk, HostKeyChecking, HostSettings, IdentityAgent, Jump, LocalUser,
};
use relay_ssh::inventory::{Inventory, InventoryError, InventoryHost, KnownHostsRule};
use thiserror::Error;

use super::account::Account;
use crate::settings::config::Ssh as Settings;

/// The most aliases of an ssh_config: each is looked for in all of its lines.
const ALIASES_MAX: usize = 1_000;
/// The most ignored lines of a file that are named.
const IGNORED_MAX: usize = 10;

/// The files of the server that describe hosts.
#[derive(Debug, Default)]
pub(crate) struct HostFiles {
    config: Option<(PathBuf, Config)>,
    inventory: Option<(PathBuf, Inventory)>,
    account: Account,
}

/// A file with hosts cannot be used.
#[derive(Debug, Error)]
pub(crate) enum HostFilesError {
    #[error("`ssh.config` needs HOME and USER of the server: set both")]
    NoAccount,
    #[error("`ssh.inventory` needs HOME of the server: set it")]
    NoHome,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}: over {ALIASES_MAX} hosts: write them to an inventory", path.display())]
    Many { path: PathBuf },
    #[error(transparent)]
    Inventory(#[from] InventoryError),
}

/// A host as a file describes it.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) address: String,
    pub(crate) user: Option<String>,
    pub(crate) port: Option<u16>,
    /// The hosts to go through, in order.
    pub(crate) jumps: Vec<Jump>,
    pub(crate) known_hosts: Option<KnownHosts>,
    pub(crate) login: Login,
}

/// The keys and names by which a host of a file is logged in to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Login {
    /// Absent for the keys of the server's user.
    pub(crate) identities: Option<Vec<Identity>>,
    pub(crate) identities_only: bool,
    /// Absent for the agent of the server.
    pub(crate) agent: Option<IdentityAgent>,
    /// The name in files of known hosts; absent for the address.
    pub(crate) known_as: Option<String>,
}

/// An alias of a file.
pub(super) struct Named<'f> {
    pub(super) alias: &'f str,
    pub(super) file: &'f Path,
    /// The host, or why no call may reach it.
    pub(super) described: Result<Described, String>,
}

impl HostFiles {
    /// Reads the files that the settings name.
    ///
    /// # Errors
    ///
    /// One of them is unreadable or malformed.
    pub(crate) fn read(settings: &Settings, account: Account) -> Result<Self, HostFilesError> {
        let home = account.home.as_ref().and_then(|home| home.to_str()).map(ToOwned::to_owned);
        let config = match &settings.config {
            None => None,
            Some(path) => {
                let local = home.clone().zip(account.user.clone());
                let (home, name) = local.ok_or(HostFilesError::NoAccount)?;
                let config = Config::read(path, LocalUser { name, home }, &Disk)?;
                if config.aliases().len() > ALIASES_MAX {
                    return Err(HostFilesError::Many { path: path.clone() });
                }
                Some((path.clone(), config))
            }
        };
        let inventory = match &settings.inventory {
            None => None,
            Some(path) => {
                let home = home.as_deref().ok_or(HostFilesError::NoHome)?;
                Some((path.clone(), Inventory::read(path, home)?))
            }
        };
        let files = Self { config, inventory, account };
        files.report_unused();
        Ok(files)
    }

    /// Returns the account of the server.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the path of the ssh_config, and the aliases that it declares.
    pub(crate) fn config(&self) -> Option<(&Path, Vec<&str>)> {
        self.config.as_ref().map(|(path, config)| (path.as_path(), config.aliases()))
    }

    /// Returns the aliases of both files: those of the inventory first, which come before the same of the
    /// ssh_config.
    pub(super) fn named(&self) -> Vec<Named<'_>> {
        let mut named = Vec::new();
        if let Some((file, inventory)) = &self.inventory {
            for alias in inventory.aliases() {
                let Some(host) = inventory.host(alias) else { continue };
                named.push(Named { alias, file, described: Ok(of_inventory(alias, host)) });
            }
        }
        if let Some((file, config)) = &self.config {
            for alias in config.aliases() {
                let settings = config.host(alias, None).map_err(|refused| refused.to_string());
                named.push(Named { alias, file, described: settings.map(of_config) });
            }
        }
        named
    }

    /// Describes a host by the patterns of the ssh_config, which need not name it.
    pub(super) fn by_pattern(
        &self,
        name: &str,
        user: Option<&str>,
    ) -> Result<Option<Described>, String> {
        let Some((_, config)) = &self.config else { return Ok(None) };
        let settings = config.host(name, user).map_err(|refused| refused.to_string())?;
        Ok(Some(of_config(settings)))
    }

    /// Warns of lines that have no part in connections.
    fn report_unused(&self) {
        let Some((path, config)) = &self.config else { return };
        let mut lines = BTreeMap::new();
        // Both often stand in `Host *`, so the first host is enough.
        let (mut names_known_hosts, mut sets_times) = (None, None);
        for alias in config.aliases() {
            let Ok(settings) = config.host(alias, None) else { continue };
            let known_hosts =
                [&settings.user_known_hosts_files, &settings.global_known_hosts_files];
            if known_hosts.iter().any(|files| files.is_some()) {
                names_known_hosts.get_or_insert(alias);
            }
            let times = [settings.connect_timeout, settings.server_alive_interval];
            if times.iter().any(Option::is_some) || settings.server_alive_count_max.is_some() {
                sets_times.get_or_insert(alias);
            }
            lines.extend(settings.ignored);
        }
        if let Some(alias) = names_known_hosts {
            tracing::warn!(
                "{}: files of known hosts (of `{alias}`) are not read: `known-hosts` of [ssh] names those that are",
                path.display()
            );
        }
        if let Some(alias) = sets_times {
            tracing::warn!(
                "{}: times of connections (of `{alias}`) are not used: those of [ssh] are",
                path.display()
            );
        }
        for (at, keyword) in lines.iter().take(IGNORED_MAX) {
            tracing::warn!("{at}: `{keyword}` has no part in connections of this server");
        }
        if let Some(more) = lines.len().checked_sub(IGNORED_MAX + 1) {
            tracing::warn!("{}: {} more such lines", path.display(), more + 1);
        }
    }
}

fn of_inventory(alias: &str, host: &InventoryHost) -> Described {
    let InventoryHost { hostname, user, port, identity_file, jump, known_hosts } = host;
    let identity = |key: &PathBuf| vec![Identity { key: key.clone(), certificate: None }];
    Described {
        address: hostname.clone().unwrap_or_else(|| alias.to_owned()),
        user: user.clone(),
        port: *port,
        jumps: jump.clone().unwrap_or_default(),
        known_hosts: known_hosts.map(|rule| match rule {
            KnownHostsRule::Strict => KnownHosts::Strict,
            KnownHostsRule::AcceptNew => KnownHosts::AcceptNew,
            KnownHostsRule::Ignore => KnownHosts::Ignore,
        }),
        login: Login {
            identities: identity_file.as_ref().map(identity),
            identities_only: identity_file.is_some(),
            ..Login::default()
        },
    }
}

fn of_config(settings: HostSettings) -> Described {
    let certificates = settings.certificate_files;
    let identities = settings.identity_files.map(|files| {
        let certificate = |number: usize| certificates.get(number).cloned();
        let each = files.into_iter().enumerate();
        each.map(|(number, key)| Identity { key, certificate: certificate(number) }).collect()
    });
    Described {
        address: settings.hostname,
        user: settings.user,
        port: settings.port,
        jumps: settings.proxy_jump.unwrap_or_default(),
        known_hosts: settings.strict_host_key_checking.map(|checking| match checking {
            // No person could be asked.
            HostKeyChecking::Yes | HostKeyChecking::Ask => KnownHosts::Strict,
            HostKeyChecking::AcceptNew => KnownHosts::AcceptNew,
            HostKeyChecking::No => KnownHosts::Ignore,
        }),
        login: Login {
            identities,
            identities_only: settings.identities_only.unwrap_or(false),
            agent: settings.identity_agent,
            known_as: settings.host_key_alias,
        },
    }
}
