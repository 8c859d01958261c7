//! A client whose tools the policy may decide, and its installation.

use relay_hook::Client;

use super::command_line::CommandLine;
use super::part::Part;
use super::place::{Place, Scope};
use super::sample::{Answered, Reading, Sample};
use super::switch::Switch;
use super::version::Version;

/// The seconds that a client waits for `relay-hook`: more than its own deadline can be.
pub(super) const TIMEOUT_S: u64 = 10;

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
    pub(super) parts: fn(&Setup<'_>) -> Vec<Part>,
    /// The event in its files that comes before a tool.
    pub(crate) before: &'static str,
    /// The calls that can still run undecided once relay is installed.
    pub(crate) stays_open: &'static [&'static str],
    /// The steps of a person after the installation.
    pub(crate) afterwards: fn(Scope) -> &'static str,
    /// The settings that switch hooks off.
    pub(super) switches: fn(&Place) -> Vec<Switch>,
    /// Returns whether a person has trusted the entry of an event in a file, where the client asks for
    /// that.
    pub(crate) is_trusted: Option<fn(&Place, &Part, &str) -> bool>,
    /// Its event for a trial, and the name of the event in its files; `None` if it has no such tool.
    pub(crate) event: fn(&Sample<'_>) -> Option<(&'static str, serde_json::Value)>,
    /// How it understands an answer.
    pub(crate) reading: fn(&Answered) -> Reading,
}

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
    pub(super) fn line(&self, client: &'static str) -> CommandLine {
        CommandLine { program: self.program.clone(), client, config: self.config.clone() }
    }

    /// Returns a folder of the home, the project or the system, by the scope.
    pub(super) fn path(&self, user: &str, project: &str, managed: &str) -> std::path::PathBuf {
        match self.scope {
            Scope::User => self.place.home(user),
            Scope::Project => self.place.project(project),
            Scope::Managed => self.place.system(managed),
        }
    }
}

impl Target {
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
