//! Clients' own files: how each client is made to run `relay-hook` before its tools.
//!
//! A client is a file here: its files, its entries, what it leaves open, and its events for a trial.
//! How its events are read and answered is the library `relay_hook`, which is asked for all that it
//! knows of clients already.

mod backup;
mod claude_code;
mod cline;
mod codex;
mod command_line;
mod copilot;
mod cursor;
mod file;
mod gemini;
mod json_text;
mod machine;
mod merge;
mod opencode;
mod own_file;
mod part;
mod place;
mod program;
mod requirements;
mod sample;
mod switch;
mod version;
mod vscode;
mod windsurf;

use relay_hook::Client;

pub(crate) use backup::restored;
pub(crate) use command_line::{CommandLine, Found, PROGRAM};
pub(crate) use file::{Change, read};
pub(crate) use machine::{
    MachineChange, Wanted, is_own as is_own_machine_file, path as machine_path,
};
pub(crate) use part::{Part, Start};
pub(crate) use place::{Place, Scope};
pub(crate) use program::hook_program;
pub(crate) use sample::{Answered, Kind, Reading, SESSION, Sample};
pub(crate) use switch::switched_off;
pub(crate) use version::Version;

use switch::Switch;

/// The seconds that a client waits for `relay-hook`: more than its own deadline can be.
const TIMEOUT_S: u64 = 10;

/// A client whose tools the policy may decide.
pub(crate) struct Target {
    /// Its name in `relay_hook`.
    pub(crate) name: &'static str,
    /// The program that says its version.
    pub(crate) program: Option<&'static str>,
    /// The oldest version without a fault that matters here, and the fault.
    pub(crate) oldest: Option<(Version, &'static str)>,
    /// The first version that does not run what relay writes, and the reason.
    pub(crate) too_new: Option<(Version, &'static str)>,
    /// Whether relay's tests run the client itself.
    pub(crate) is_tried: bool,
    /// Its files with relay's entries; none if it has none in this scope.
    parts: fn(&Setup<'_>) -> Vec<Part>,
    /// The event in its files that comes before a tool.
    pub(crate) before: &'static str,
    /// What can still run undecided once relay is installed.
    pub(crate) stays_open: &'static [&'static str],
    /// What a person does after the installation.
    pub(crate) afterwards: fn(Scope) -> &'static str,
    /// The settings that switch hooks off.
    switches: fn(&Place) -> Vec<Switch>,
    /// Returns whether a person has trusted the entry of an event in a file, where the client asks for
    /// that.
    pub(crate) is_trusted: Option<fn(&Place, &Part, &str) -> bool>,
    /// Its event for a trial, and the name of the event in its files; `None` if it has no such tool.
    pub(crate) event: fn(&Sample<'_>) -> Option<(&'static str, serde_json::Value)>,
    /// How it understands an answer.
    pub(crate) reading: fn(&Answered) -> Reading,
}

/// All clients, in the order of `relay_hook`.
pub(crate) const TARGETS: [&Target; 9] = [
    &claude_code::TARGET,
    &codex::TARGET,
    &cursor::TARGET,
    &gemini::TARGET,
    &copilot::TARGET,
    &vscode::TARGET,
    &opencode::TARGET,
    &cline::TARGET,
    &windsurf::TARGET,
];

/// An installation of one client.
#[derive(Debug, Clone)]
pub(crate) struct Setup<'s> {
    /// Where its files are.
    pub(crate) place: &'s Place,
    /// Whose files.
    pub(crate) scope: Scope,
    /// The path of `relay-hook`.
    pub(crate) program: std::path::PathBuf,
    /// The path of the machine file.
    pub(crate) config: std::path::PathBuf,
    /// Whether the machine file grants calls.
    pub(crate) grants: bool,
    /// The version of the client, if it is known.
    pub(crate) version: Option<Version>,
}

impl Setup<'_> {
    /// Returns the command line for a client.
    fn line(&self, client: &'static str) -> CommandLine {
        CommandLine { program: self.program.clone(), client, config: self.config.clone() }
    }

    /// Returns a folder of the home, the project or the system, by the scope.
    fn path(&self, user: &str, project: &str, managed: &str) -> std::path::PathBuf {
        match self.scope {
            Scope::User => self.place.home(user),
            Scope::Project => self.place.project(project),
            Scope::Managed => self.place.system(managed),
        }
    }
}

impl Target {
    /// Returns the target of a client.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Returns all that `relay_hook` knows of it.
    pub(crate) fn client(&self) -> Option<&'static Client> {
        relay_hook::find(self.name)
    }

    /// Returns its name for people.
    pub(crate) fn title(&self) -> &'static str {
        self.client().map_or(self.name, |client| client.title)
    }

    /// Returns its files with relay's entries; none if it has none in this scope.
    pub(crate) fn parts(&self, setup: &Setup<'_>) -> Vec<Part> {
        (self.parts)(setup)
    }

    /// Returns whether a file is as an installation leaves it. Of a client whose version is unknown now,
    /// the entries of any version may be right.
    pub(crate) fn is_current(&self, setup: &Setup<'_>, part: &Part, text: &str) -> bool {
        let versions = match setup.version {
            Some(version) => vec![Some(version)],
            None => vec![None, Some(Version::NEWEST)],
        };
        versions.into_iter().any(|version| {
            let parts = self.parts(&Setup { version, ..setup.clone() });
            let mut same = parts.into_iter().filter(|other| other.path == part.path);
            same.any(|part| part.installed(Some(text)).as_deref() == Ok(text))
        })
    }

    /// Returns the settings that switch hooks off, in the files of the person and of a project.
    pub(crate) fn switches(&self, place: &Place) -> Vec<Switch> {
        (self.switches)(place)
    }
}

#[cfg(test)]
mod tests {
    use super::TARGETS;

    #[test]
    fn every_client_can_be_installed() {
        let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let clients: Vec<&str> = relay_hook::CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(targets, clients);
    }
}
