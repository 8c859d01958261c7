//! The machine file: which bundle decides, whose signatures count, and who the caller is.
//!
//! Nothing of it comes from the environment or from the work tree: a repository can set both for a
//! client, and the agent can write both.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{User, geteuid};
use relay_bundle::{Mode, Tier};
use relay_engine::system_error::reason;
use relay_engine::toml_fault::TomlFault;
use relay_machine::file::{text_file, toml_text};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// The machine file of all users, which counts before any other.
pub const MACHINE_FILE: &str = "/etc/relay/hook.toml";
/// The machine file of a user, below the home.
pub const USER_FILE: &str = ".config/relay/hook.toml";
/// The word for the user that runs the client.
const OS_USER: &str = "os-user";
/// The longest deadline: clients wait ten seconds for the hooks that relay installs.
const BUDGET_MAX: Duration = Duration::from_secs(8);

/// The contents of a machine file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineFile {
    /// The bundle, by an absolute path.
    pub bundle: PathBuf,
    /// The trust file, by an absolute path.
    pub trust: PathBuf,
    /// Who the caller is: `os-user`, or an id.
    #[serde(default = "os_user")]
    pub principal: String,
    /// The tenant of the caller.
    #[serde(default)]
    pub tenant: Option<String>,
    /// The groups of the caller.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The role of the caller, among those that the bundle gives it.
    #[serde(default)]
    pub role: Option<String>,
    /// The audit file, by an absolute path.
    #[serde(default)]
    pub audit: Option<PathBuf>,
    /// The state folder, by an absolute path.
    #[serde(default)]
    pub state: Option<PathBuf>,
    /// The meaning of an allow of the policy for the client.
    #[serde(default)]
    pub allow: Allow,
    /// The highest tier that is granted in each mode of the policy.
    #[serde(default)]
    pub grant: BTreeMap<Mode, Tier>,
    /// The time within which relay answers.
    #[serde(default = "budget", deserialize_with = "duration")]
    pub budget: Duration,
    /// The names of MCP servers that are relay itself: their tools are decided as its own.
    #[serde(default)]
    pub relay_servers: Vec<String>,
}

/// The meaning of an allow of the policy for the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Allow {
    /// The client's own rules go on.
    #[default]
    Delegate,
    /// The call runs unasked, up to the tier of `grant`.
    Grant,
}

/// An error of a machine file.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says it, with its fields")]
pub enum MachineFileError {
    #[error("there is no machine file: `relay hook install` writes `{}`", path.display())]
    None { path: PathBuf },
    #[error("cannot read the machine file `{}`: {}", path.display(), reason(source))]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "the machine file `{}` belongs to another user, or others may write to it or to its folder: make it yours or root's alone (`chmod go-w`)",
        path.display()
    )]
    NotOwn { path: PathBuf },
    #[error("the machine file `{}` is not valid: {fault}", path.display())]
    Syntax { path: PathBuf, fault: TomlFault },
    #[error("the machine file `{}` is not valid: `{key}` is empty: leave it out, or name one", path.display())]
    Empty { path: PathBuf, key: &'static str },
    #[error("the machine file `{}` is not valid: `{key}` is a relative path", path.display())]
    Relative { path: PathBuf, key: &'static str },
    #[error(
        "the machine file `{}` is not valid: `budget` is 1 ms to {} s",
        path.display(),
        BUDGET_MAX.as_secs()
    )]
    Budget { path: PathBuf },
    #[error(
        "the machine file `{}` is not valid: `grant` says what `allow = \"grant\"` grants, and `allow` is \"delegate\"",
        path.display()
    )]
    IdleGrant { path: PathBuf },
    #[error("the machine file `{}` says `os-user`, and the password database has no such user", path.display())]
    NoUser { path: PathBuf },
    #[error("the home of this user is unknown, so `{key}` must be in the machine file `{}`", path.display())]
    NoHome { path: PathBuf, key: &'static str },
}

/// A machine file, with everything that it leaves out.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Its path.
    pub path: PathBuf,
    /// Its contents.
    pub file: MachineFile,
    /// The id of the caller.
    pub principal: String,
    /// The audit file.
    pub audit: PathBuf,
    /// The state folder.
    pub state: PathBuf,
}

/// The user that runs the client, by the password database.
#[derive(Debug, Clone, Default)]
pub struct OsUser {
    /// The name.
    pub name: Option<String>,
    /// The home.
    pub home: Option<PathBuf>,
}

impl OsUser {
    /// Returns the user that runs this process.
    #[must_use]
    pub fn current() -> Self {
        match User::from_uid(geteuid()) {
            Ok(Some(user)) => Self {
                name: Some(user.name).filter(|name| !name.is_empty()),
                home: Some(user.dir).filter(|home| home.is_absolute()),
            },
            Ok(None) | Err(_) => Self::default(),
        }
    }
}

/// Returns the path of the machine file that counts: that of all users, else the one of the command
/// line, else that of the user.
///
/// # Errors
///
/// Each of them is missing.
pub fn find(named: Option<&Path>, user: &OsUser) -> Result<PathBuf, MachineFileError> {
    // A file that is there and cannot be looked at counts all the same.
    let is_there = |path: &Path| !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let of_all = Path::new(MACHINE_FILE);
    if is_there(of_all) {
        return Ok(of_all.to_owned());
    }
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let own = user.home.as_ref().map(|home| home.join(USER_FILE));
    own.filter(|path| is_there(path))
        .ok_or_else(|| MachineFileError::None { path: of_all.to_owned() })
}

/// Reads a machine file.
///
/// # Errors
///
/// It is missing, may be written by others, or is not valid.
pub fn read(path: &Path, user: &OsUser) -> Result<Machine, MachineFileError> {
    let path = path.to_owned();
    let read = |source| MachineFileError::Read { path: path.clone(), source };
    let folder = path.parent().unwrap_or(Path::new("/"));
    let is_own = |metadata: &Metadata| {
        // In a folder with the sticky bit, only its owner may replace a file.
        let is_shared =
            metadata.mode() & 0o022 != 0 && !(metadata.is_dir() && metadata.mode() & 0o1000 != 0);
        let uid = metadata.uid();
        !is_shared && (uid == 0 || uid == geteuid().as_raw())
    };
    let all = [fs::metadata(&path).map_err(read)?, fs::metadata(folder).map_err(read)?];
    if !all.iter().all(is_own) {
        return Err(MachineFileError::NotOwn { path });
    }
    let text = text_file::read(&path).map_err(read)?;
    let file: MachineFile = toml_text::parse(&text, &[])
        .map_err(|fault| MachineFileError::Syntax { path: path.clone(), fault })?;
    file.check(&path)?;
    let principal = match file.principal.as_str() {
        OS_USER => {
            user.name.clone().ok_or_else(|| MachineFileError::NoUser { path: path.clone() })?
        }
        id => id.to_owned(),
    };
    let own = |named: &Option<PathBuf>, key, name: &str| match (named, &user.home) {
        (Some(named), _) => Ok(named.clone()),
        (None, Some(home)) => Ok(home.join(".local/state/relay").join(name)),
        (None, None) => Err(MachineFileError::NoHome { path: path.clone(), key }),
    };
    let audit = own(&file.audit, "audit", "hook.jsonl")?;
    let state = own(&file.state, "state", "hook")?;
    Ok(Machine { path, principal, audit, state, file })
}

impl MachineFile {
    /// Checks the values of a file at this path, beyond their form.
    ///
    /// # Errors
    ///
    /// A path is relative, a name is empty, the budget is out of its range, or a grant has no effect.
    pub fn check(&self, path: &Path) -> Result<(), MachineFileError> {
        let paths = [
            ("bundle", Some(&self.bundle)),
            ("trust", Some(&self.trust)),
            ("audit", self.audit.as_ref()),
            ("state", self.state.as_ref()),
        ];
        for (key, named) in paths {
            if named.is_some_and(|named| !named.is_absolute()) {
                return Err(MachineFileError::Relative { path: path.to_owned(), key });
            }
        }
        let names = [
            ("principal", Some(&self.principal)),
            ("tenant", self.tenant.as_ref()),
            ("role", self.role.as_ref()),
        ];
        let groups = self.groups.iter().map(|name| ("groups", Some(name)));
        let servers = self.relay_servers.iter().map(|name| ("relay-servers", Some(name)));
        for (key, name) in names.into_iter().chain(groups).chain(servers) {
            if name.is_some_and(|name| name.trim().is_empty()) {
                return Err(MachineFileError::Empty { path: path.to_owned(), key });
            }
        }
        if self.budget.is_zero() || self.budget > BUDGET_MAX {
            return Err(MachineFileError::Budget { path: path.to_owned() });
        }
        if self.allow == Allow::Delegate && !self.grant.is_empty() {
            return Err(MachineFileError::IdleGrant { path: path.to_owned() });
        }
        Ok(())
    }
}

impl Machine {
    /// Returns whether a call of this tier is granted in a mode of the policy.
    #[must_use]
    pub fn grants(&self, mode: Option<Mode>, tier: Tier) -> bool {
        let most = mode.and_then(|mode| self.file.grant.get(&mode)).copied().unwrap_or_default();
        self.file.allow == Allow::Grant && tier <= most
    }

    /// Returns the files and folders that decide about the agent, and are therefore not its own.
    #[must_use]
    pub fn protected(&self) -> Vec<&Path> {
        let MachineFile { bundle, trust, .. } = &self.file;
        vec![&self.path, bundle, trust, &self.audit, &self.state]
    }
}

fn os_user() -> String {
    OS_USER.to_owned()
}

const fn budget() -> Duration {
    Duration::from_secs(2)
}

fn duration<'de, D: Deserializer<'de>>(reader: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(reader)?;
    humantime::parse_duration(&text)
        .map_err(|_| serde::de::Error::custom("a duration is a number with a unit, such as \"2s\""))
}
