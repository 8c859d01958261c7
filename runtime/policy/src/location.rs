//! The location of commands, as given by the caller: their folder, and the home of their user.
//!
//! Without it a text begins in an unnamed work tree, and absolute paths belong to the host. With
//! it, an absolute path below that folder belongs to the work tree, and one below the home to the
//! home. A doubt falls upwards: a folder of the system is never a work tree, even if commands begin
//! there, since the folder of a client follows the folder that its shell enters.

use thiserror::Error;

/// The longest path of a folder.
pub const LOCATION_BYTES_MAX: usize = 4096;

/// The location of commands. By default nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    cwd: Option<Vec<u8>>,
    home: Option<Vec<u8>>,
    is_adrift: bool,
    host: Option<String>,
}

/// The reason for refusing a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LocationError {
    /// It does not begin with `/`.
    #[error("it is not an absolute path")]
    Relative,
    /// It has more than [`LOCATION_BYTES_MAX`] bytes.
    #[error("it has more than {LOCATION_BYTES_MAX} bytes")]
    TooLong,
    /// It holds a control character.
    #[error("it holds a control character")]
    Control,
}

/// The first folders of paths outside of all work trees and homes (docs/tiers.md 8.1).
const SYSTEM: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "snap",
    "srv",
    "sys",
    "usr",
    "var",
    "Applications",
    "Library",
    "Network",
    "System",
    "cores",
    "private",
];
/// Folders of the system for temporary files.
const SCRATCH: &[&[&str]] = &[&["var", "tmp"], &["dev", "shm"]];
/// The folders of homes.
const HOMES: &[&str] = &["home", "Users"];
/// The homes of root.
const ROOT_HOMES: &[&[&str]] = &[&["root"], &["var", "root"]];

impl Location {
    /// Reads the location of commands: their folder, and the home of their user.
    ///
    /// # Errors
    ///
    /// A folder is a relative path; see [`LocationError`].
    pub fn new(cwd: Option<&str>, home: Option<&str>) -> Result<Self, LocationError> {
        let read = |path: &str| {
            if !path.starts_with('/') {
                return Err(LocationError::Relative);
            }
            if path.len() > LOCATION_BYTES_MAX {
                return Err(LocationError::TooLong);
            }
            if path.chars().any(char::is_control) {
                return Err(LocationError::Control);
            }
            Ok(normal(path))
        };
        let (cwd, home) = (cwd.map(read).transpose()?, home.map(read).transpose()?);
        Ok(Self { cwd, home, ..Self::default() })
    }

    /// Returns the location of commands that begin in another folder; a relative one is meant from
    /// this one. `None` for a relative folder if this one is unknown, and for a path that no folder has.
    #[must_use]
    pub fn within(&self, folder: &str) -> Option<Self> {
        let path = match (folder.starts_with('/'), self.cwd.as_deref()) {
            (true, _) => folder.to_owned(),
            (false, Some(cwd)) => format!("{}/{folder}", str::from_utf8(cwd).ok()?),
            (false, None) => return None,
        };
        let Self { cwd, .. } = Self::new(Some(&path), None).ok()?;
        Some(Self { cwd, is_adrift: false, ..self.clone() })
    }

    /// Returns the location of commands that follow others from the same folder, which may have left it:
    /// they begin in an unknown one.
    #[must_use]
    pub fn adrift(&self) -> Self {
        Self { is_adrift: true, ..self.clone() }
    }

    /// Returns the location of commands on another host, as a call names it.
    #[must_use]
    pub fn on(&self, host: &str) -> Self {
        Self { host: Some(host.to_owned()), ..self.clone() }
    }

    /// Returns the other host on which commands run, as a call named it.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Returns whether commands begin in an unknown folder.
    pub(crate) fn is_adrift(&self) -> bool {
        self.is_adrift
    }

    /// Returns the folder in which commands begin.
    pub(crate) fn cwd(&self) -> Option<&[u8]> {
        self.cwd.as_deref()
    }

    /// Returns the home of the user.
    pub(crate) fn home(&self) -> Option<&[u8]> {
        self.home.as_deref()
    }

    /// Returns whether the home is a folder for files of its user, unlike the homes of services:
    /// `/`, `/var/www` or `/usr/sbin`.
    pub(crate) fn has_own_home(&self) -> bool {
        self.home.as_deref().is_some_and(|home| {
            let parts = parts(home);
            let is_root = ROOT_HOMES.iter().any(|root| parts == *root);
            let is_group = matches!(parts.as_slice(), [first] if HOMES.contains(first));
            is_root || (!is_group && !is_system(&parts))
        })
    }

    /// Returns whether commands may begin in a work tree: a folder below the own home, or one that
    /// belongs neither to the system nor to another user.
    pub(crate) fn may_be_work(&self) -> bool {
        let Some(cwd) = self.cwd.as_deref() else { return false };
        if self.has_own_home()
            && let Some(home) = self.home.as_deref()
            && let Some(rest) = below(cwd, home)
        {
            return !rest.is_empty();
        }
        let parts = parts(cwd);
        let is_home = match parts.as_slice() {
            [] | [_] => parts.first().is_none_or(|first| HOMES.contains(first)),
            // The home of an unknown or another user.
            [first, rest @ ..] => HOMES.contains(first) && (rest.len() == 1 || self.home.is_some()),
        };
        !is_home && !is_system(&parts)
    }
}

/// Returns a path relative to a folder; `None` if it is outside of the folder.
pub(crate) fn below<'p>(path: &'p [u8], folder: &[u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(folder)?;
    match rest {
        [] => Some(rest),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

fn is_system(parts: &[&str]) -> bool {
    let is_scratch = SCRATCH.iter().any(|scratch| parts.starts_with(scratch));
    parts.first().is_none_or(|first| SYSTEM.contains(first)) && !is_scratch
}

fn parts(path: &[u8]) -> Vec<&str> {
    let path = str::from_utf8(path).unwrap_or("");
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Removes `.`, `..` and repeated `/` from an absolute path.
fn normal(path: &str) -> Vec<u8> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/")).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_absolute_path() {
        let cwd = |path: &str| Location::new(Some(path), None).map(|_| ());
        assert_eq!(cwd("/workspace/app"), Ok(()));
        assert_eq!(cwd("app"), Err(LocationError::Relative));
        assert_eq!(cwd(""), Err(LocationError::Relative));
        assert_eq!(cwd("/a\nb"), Err(LocationError::Control));
        assert_eq!(cwd(&"/a".repeat(3000)), Err(LocationError::TooLong));
    }

    #[test]
    fn a_folder_of_the_system_is_not_a_work_tree() {
        let may_be_work =
            |cwd: &str, home: Option<&str>| Location::new(Some(cwd), home).unwrap().may_be_work();
        for cwd in ["/workspace/app", "/app", "/home/me/app", "/tmp/x", "/var/tmp/x", "/mnt/c/app"]
        {
            assert!(may_be_work(cwd, None), "{cwd}");
        }
        let system =
            ["/", "/etc/nginx", "/usr/src/app", "/home", "/home/me", "/root/app", "/opt/app"];
        for cwd in system {
            assert!(!may_be_work(cwd, None), "{cwd}");
        }
        assert!(may_be_work("/root/app", Some("/root")));
        assert!(may_be_work("/home/me/app", Some("/home/me")));
        assert!(!may_be_work("/home/you/app", Some("/home/me")));
        assert!(!may_be_work("/home/me", Some("/home/me")));
        assert!(!may_be_work("/etc", Some("/")));
        assert!(!may_be_work("/workspace/../etc", None));
    }

    #[test]
    fn the_home_of_a_service_is_not_an_own_home() {
        let is_own = |home: &str| Location::new(None, Some(home)).unwrap().has_own_home();
        for home in ["/home/me", "/Users/me", "/root", "/var/root", "/workspace"] {
            assert!(is_own(home), "{home}");
        }
        for home in ["/", "/var/www", "/usr/sbin", "/home", "/etc", "/root/x"] {
            assert!(!is_own(home), "{home}");
        }
    }
}
