//! Host settings from a file of ssh_config(5).
//!
//! A stated list of keywords has a part in the settings (see [`HostSettings`]); the first value wins,
//! and files of keys add up. Blocks are those of `Host`, with patterns and `!`, and of `Match` with `all`,
//! `host`, `originalhost`, `user`, `localuser` and `final`. `Include` reads other files, relative to `~/.ssh`.
//!
//! ssh starts programs for `ProxyCommand`, `KnownHostsCommand`, `LocalCommand` and `Match exec`, and
//! loads libraries for keys on cards. They would run past the policy, so such a line refuses each host for
//! which it is in force; so does any other `Match` criterion that the host could meet. All other keywords of
//! OpenSSH are ignored, and listed with their lines in the settings. As in OpenSSH, an unknown keyword or
//! an invalid value refuses the file, even in a block of other hosts.
//!
//! Stricter than ssh: variables of the environment and names of services as ports are refused, and so are
//! relative paths. Values of ignored keywords are free.

mod criteria;
mod directive;
mod document;
mod error;
mod evaluation;
mod expand;
mod files;
mod jump;
mod keyword;
mod limits;
mod settings;
mod words;

use std::path::Path;

use self::directive::{Directive, Setting};
pub use self::error::{ConfigError, LineError};
pub use self::evaluation::LocalUser;
pub use self::files::{Disk, Files};
pub(crate) use self::jump::read as jumps;
pub use self::limits::{
    ARGUMENTS_MAX, BYTES_MAX, FILES_MAX, FOLDER_ENTRIES_MAX, IDENTITIES_MAX,
    IGNORE_UNKNOWN_BYTES_MAX, INCLUDE_DEPTH_MAX, JUMPS_MAX, LINE_BYTES_MAX, LINES_MAX,
};
pub use self::settings::{HostKeyChecking, HostSettings, IdentityAgent, Jump, Reason, Refused};

/// The lines of an ssh_config file and of all files that it includes.
#[derive(Debug)]
pub struct Config {
    lines: Vec<Directive>,
    local: LocalUser,
}

impl Config {
    /// Reads the file at `path` through `files`; `local` is the user of the server.
    ///
    /// # Errors
    ///
    /// A file is unreadable, a line is invalid, or a limit is reached.
    pub fn read(path: &Path, local: LocalUser, files: &dyn Files) -> Result<Self, ConfigError> {
        let lines = document::read(path, &local.home, files)?;
        Ok(Self { lines, local })
    }

    /// Returns the settings of `alias`. A given `user` is as that of `ssh user@alias`: it comes before any
    /// line, and `Match user` sees it.
    ///
    /// # Errors
    ///
    /// A line that is in force for the host starts a program or is unsupported, or a name is invalid.
    pub fn host(&self, alias: &str, user: Option<&str>) -> Result<HostSettings, Refused> {
        evaluation::settings(&self.lines, alias, user, &self.local)
    }

    /// Returns the literal names of `Host` lines, each once, in order.
    pub fn aliases(&self) -> Vec<&str> {
        let mut seen = std::collections::BTreeSet::new();
        let mut names = Vec::new();
        names_of(&self.lines, &mut names);
        names.retain(|name| seen.insert(*name));
        names
    }
}

fn names_of<'a>(lines: &'a [Directive], names: &mut Vec<&'a str>) {
    for line in lines {
        match &line.setting {
            Setting::Host(patterns) => {
                let plain = patterns.iter().filter(|pattern| !pattern.is_negated);
                let plain = plain.map(|pattern| pattern.pattern.as_str());
                names.extend(plain.filter(|name| !name.contains(['*', '?'])));
            }
            Setting::Include(files) => files.iter().for_each(|lines| names_of(lines, names)),
            _ => {}
        }
    }
}
