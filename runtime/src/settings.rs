//! The settings in force: the command line over `server.toml` over the defaults.
//!
//! This is also the only module that reads the environment.

pub(crate) mod args;
pub(crate) mod config;
pub(crate) mod reference;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use self::args::{Args, Transport};
use self::config::{
    AuthError, Config, ConfigError, Durable, Limits, MetricsAccess, OnFailure, Processes, Ssh,
};
use crate::caller::principal::{GroupsError, Principal, check_groups};

/// The environment variable that chooses the level of the log.
pub(crate) const LOG_VARIABLE: &str = "RELAY_LOG";

/// The settings in force.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The command line, to read the configuration again.
    args: Args,
    pub(crate) bundle: PathBuf,
    pub(crate) transport: Transport,
    /// Whether the server stops when standard input ends, which it always does on stdio.
    pub(crate) ends_with_stdin: bool,
    pub(crate) trust: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    /// The folder of this user for copies of bundles, used without a state folder.
    pub(crate) cache: Option<PathBuf>,
    pub(crate) audit: AuditSettings,
    /// The caller of unauthenticated requests.
    pub(crate) principal: Arc<Principal>,
    pub(crate) tls: Option<config::Tls>,
    pub(crate) auth: Option<config::Auth>,
    pub(crate) allowed_hosts: Option<Vec<String>>,
    pub(crate) allowed_origins: Option<Vec<String>>,
    pub(crate) briefing: config::Briefing,
    /// Who may read the metrics.
    pub(crate) metrics: MetricsAccess,
    pub(crate) limits: Limits,
    pub(crate) processes: Processes,
    pub(crate) ssh: Ssh,
    /// The variables of this process, for those that tools start.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The value of `RELAY_LOG`.
    pub(crate) log_level: Option<String>,
    /// The file into which `relay build` writes the public half of this user's dev key.
    pub(crate) dev_key: Option<PathBuf>,
    /// The interval at which the bundle's path is checked; `None` means only on SIGHUP.
    pub(crate) poll: Option<Duration>,
}

/// Where audit records go, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuditSettings {
    pub(crate) path: AuditPath,
    pub(crate) durable: Durable,
    pub(crate) on_failure: OnFailure,
    /// The records and the seconds of a checkpoint; 0 for none.
    pub(crate) checkpoint_records: u64,
    pub(crate) checkpoint_s: u64,
    /// Whether the server refuses to start without them.
    pub(crate) checkpoints_required: bool,
    /// The folder of their key: the state folder, or else this user's own.
    pub(crate) checkpoint_folder: Option<PathBuf>,
}

/// Where audit records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AuditPath {
    /// The named file.
    Named(PathBuf),
    /// This user's own file, in a folder created if missing.
    Own(PathBuf),
    /// Nowhere, as configured.
    Off,
    /// Nowhere: both `XDG_STATE_HOME` and `HOME` are unset.
    Homeless,
}

/// An error in the settings.
#[derive(Debug, Error)]
pub(crate) enum SettingsError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "{address} can be reached from other machines, and no authentication is configured: add [[auth.api-keys]] or [[auth.jwt]] to the configuration, or listen on 127.0.0.1"
    )]
    PublicWithoutAuth { address: SocketAddr },
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error("the groups of the principal cannot be used: {0}")]
    Groups(#[from] GroupsError),
    #[error("two keys in briefing.keys have the id {id}: give each an id of its own")]
    BriefingKeyTwice { id: u8 },
}

impl Settings {
    /// Returns whether callers authenticate. Otherwise, and always on standard input and output,
    /// all requests are of the principal of these settings.
    pub(crate) fn authenticates(&self) -> bool {
        self.auth.is_some() && self.transport != Transport::Stdio
    }

    /// Merges the command line with the configuration file that it names.
    pub(crate) fn new(args: Args) -> Result<Self, SettingsError> {
        let Args {
            bundle,
            transport,
            config,
            trust,
            state,
            audit,
            principal,
            tenant,
            groups,
            role,
            ends_with_stdin,
        } = args.clone();
        let config = config.as_deref().map(Config::read).transpose()?.unwrap_or_default();
        let local = config.principal.unwrap_or_default();
        let transport =
            transport.or(config.listen.map(Transport::Http)).unwrap_or(Transport::Stdio);
        let state = state.or(config.state);
        let settings = Self {
            args,
            bundle,
            transport,
            ends_with_stdin,
            trust: trust.or(config.trust),
            audit: audit_settings(audit, config.audit, state.as_deref()),
            state,
            cache: user_folder("XDG_CACHE_HOME", ".cache").map(|cache| cache.join("relay/bundles")),
            principal: Arc::new(Principal {
                id: principal.unwrap_or(local.id),
                issuer: None,
                tenant: tenant.or(local.tenant),
                groups: if groups.is_empty() { local.groups } else { groups },
                role: role.or(local.role),
            }),
            tls: config.tls,
            auth: config.auth,
            allowed_hosts: config.allowed_hosts,
            allowed_origins: config.allowed_origins,
            briefing: config.briefing,
            metrics: config.metrics.access.unwrap_or(default_metrics(transport)),
            limits: config.limits,
            processes: config.processes,
            ssh: config.ssh,
            variables: variables(),
            log_level: variable(LOG_VARIABLE).and_then(|level| level.into_string().ok()),
            dev_key: dev_key(),
            poll: Some(config.watch.poll_ms).filter(|ms| *ms > 0).map(Duration::from_millis),
        };
        settings.check()?;
        Ok(settings)
    }

    /// Reads the configuration file again.
    pub(crate) fn read_again(&self) -> Result<Self, SettingsError> {
        Self::new(self.args.clone())
    }

    /// Returns the keys of `server.toml` that `new` sets differently and that need a restart.
    pub(crate) fn need_restart(&self, new: &Self) -> Vec<String> {
        let Self {
            args: _,
            bundle: _,
            transport,
            ends_with_stdin: _,
            trust,
            state,
            cache: _,
            audit,
            principal,
            tls,
            auth,
            allowed_hosts,
            allowed_origins,
            briefing,
            limits,
            processes,
            ssh,
            variables: _,
            metrics,
            log_level: _,
            dev_key: _,
            poll,
        } = self;
        let config::Briefing { lifetime_min, keys } = briefing;
        let changed = [
            ("listen", *transport != new.transport),
            ("trust", *trust != new.trust),
            ("state", *state != new.state),
            ("audit.path", audit.path != new.audit.path),
            ("audit.durable", audit.durable != new.audit.durable),
            ("audit.on-failure", audit.on_failure != new.audit.on_failure),
            ("audit.checkpoint-records", audit.checkpoint_records != new.audit.checkpoint_records),
            ("audit.checkpoint-s", audit.checkpoint_s != new.audit.checkpoint_s),
            ("principal", *principal != new.principal),
            // Certificates and keys are read again; adding or removing them needs a restart.
            ("tls", tls.is_some() != new.tls.is_some()),
            ("auth", auth.is_some() != new.auth.is_some()),
            ("briefing.keys", keys.is_some() != new.briefing.keys.is_some()),
            ("briefing.lifetime-min", *lifetime_min != new.briefing.lifetime_min),
            ("allowed-hosts", *allowed_hosts != new.allowed_hosts),
            ("allowed-origins", *allowed_origins != new.allowed_origins),
            ("metrics.access", *metrics != new.metrics),
            ("watch.poll-ms", *poll != new.poll),
            ("processes", *processes != new.processes),
            ("ssh", *ssh != new.ssh),
        ];
        let changed = changed.into_iter().filter(|(_, is_changed)| *is_changed);
        let limits = limits.differences(&new.limits).into_iter();
        let limits = limits.map(|name| format!("limits.{}", name.replace('_', "-")));
        changed.map(|(name, _)| name.to_owned()).chain(limits).collect()
    }

    /// Returns whether only this machine can reach the server.
    pub(crate) fn is_local(&self) -> bool {
        is_local(self.transport)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if let (Transport::Http(address), false, None) =
            (self.transport, self.is_local(), &self.auth)
        {
            return Err(SettingsError::PublicWithoutAuth { address });
        }
        check_groups(&self.principal.groups)?;
        let keys = self.briefing.keys.as_deref().unwrap_or_default();
        if let Some(id) = first_repeated(keys.iter().map(|key| key.id)) {
            return Err(SettingsError::BriefingKeyTwice { id });
        }
        self.auth.as_ref().map_or(Ok(()), config::Auth::check)?;
        Ok(())
    }
}

fn is_local(transport: Transport) -> bool {
    match transport {
        Transport::Stdio => true,
        Transport::Http(address) => address.ip().is_loopback(),
    }
}

fn default_metrics(transport: Transport) -> MetricsAccess {
    if is_local(transport) { MetricsAccess::Authenticated } else { MetricsAccess::Off }
}

/// Returns the first repeated id.
fn first_repeated<T: Clone + Ord>(mut ids: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = BTreeSet::new();
    ids.find(|id| !seen.insert(id.clone()))
}

fn audit_settings(
    named: Option<PathBuf>,
    config: config::Audit,
    state: Option<&Path>,
) -> AuditSettings {
    let config::Audit { path, durable, on_failure, checkpoint_records, checkpoint_s } = config;
    let own = || user_folder("XDG_STATE_HOME", ".local/state").map(|folder| folder.join("relay"));
    AuditSettings {
        path: audit_path(named.or(path)),
        durable,
        on_failure,
        checkpoint_records: checkpoint_records.unwrap_or(config::Audit::CHECKPOINT_RECORDS).into(),
        checkpoint_s: checkpoint_s.unwrap_or(config::Audit::CHECKPOINT_S).into(),
        checkpoints_required: state.is_some()
            || checkpoint_records.is_some()
            || checkpoint_s.is_some(),
        checkpoint_folder: state.map(Path::to_owned).or_else(own),
    }
}

fn audit_path(named: Option<PathBuf>) -> AuditPath {
    match named {
        Some(path) if path.as_os_str() == config::Audit::NONE => AuditPath::Off,
        Some(path) => AuditPath::Named(path),
        None => match user_folder("XDG_STATE_HOME", ".local/state") {
            Some(folder) => AuditPath::Own(folder.join("relay/audit.jsonl")),
            None => AuditPath::Homeless,
        },
    }
}

fn dev_key() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", ".local/share").map(|data| data.join("relay/dev.pub"))
}

/// Returns a folder of the XDG base directories, or its default in the home folder if unset.
fn user_folder(name: &str, usual: &str) -> Option<PathBuf> {
    let folder = |name| variable(name).map(PathBuf::from);
    folder(name).or_else(|| Some(folder("HOME")?.join(usual)))
}

/// Returns the environment variables.
fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Returns an environment variable; an empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
