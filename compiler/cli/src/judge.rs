//! The door to the rules for commands: the facts, floors and paths of a bundle, of a project, or
//! the shipped ones. A verb that judges a command, or prints facts, opens a [`Judge`].

use std::borrow::Cow;
use std::path::Path;

use relay_bundle::Bundle;
use relay_engine::authority::Authority;
use relay_policy::classify::Rules;
use relay_policy::facts::Facts;

use crate::args::{ProjectArgs, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::shipped;
use crate::subject::{self, Opened};
use crate::text::shown_path;

/// The table of facts that commands are judged by, with floors and paths.
pub(crate) struct Judge {
    table: Cow<'static, [u8]>,
    /// The floors and paths.
    pub(crate) rules: Rules,
}

/// A judge, or the exit code for a project with errors, which were reported.
pub(crate) enum Chosen {
    Judge(Judge),
    Ended(Exit),
}

impl Judge {
    /// Takes the shipped facts, floors and paths.
    fn shipped() -> Self {
        Self { table: Cow::Borrowed(shipped::facts()), rules: Rules::default() }
    }

    /// Takes the policy of a bundle, if it has one.
    pub(crate) fn of(bundle: &Bundle) -> Result<Option<Self>, Failure> {
        let rules = Rules::of(bundle).map_err(|error| Failure::error(error.to_string()))?;
        let Some(rules) = rules else { return Ok(None) };
        let (table, shipped) = (bundle.facts()?, shipped::facts());
        let table =
            if table == shipped { Cow::Borrowed(shipped) } else { Cow::Owned(table.to_vec()) };
        Ok(Some(Self { table, rules }))
    }

    /// Opens the facts.
    pub(crate) fn facts(&self) -> Result<Facts<'_>, Failure> {
        let facts = match &self.table {
            // A test reads every row of the shipped table, which would take longer than most questions.
            Cow::Borrowed(shipped) => Facts::reopen(shipped),
            Cow::Owned(table) => Facts::open(table),
        };
        facts.map_err(|error| Failure::error(error.to_string()))
    }

    /// Returns the size of the facts.
    pub(crate) fn facts_bytes(&self) -> usize {
        self.table.len()
    }
}

/// Takes the policy of a bundle or project, by default the shipped one.
pub(crate) fn choose(policy: Option<&Path>, output: &mut Output) -> Result<Chosen, Failure> {
    let Some(path) = policy else { return Ok(Chosen::Judge(Judge::shipped())) };
    let project = ProjectArgs { env: None, strict: false };
    // Answers go to standard output, so findings are for people.
    let bundle = match subject::open_path(path, &project, ReportFormat::Human, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(Chosen::Ended(exit)),
    };
    Judge::of(&bundle)?.map(Chosen::Judge).ok_or_else(|| {
        no_policy(path)
            .help("add `policy` to the project, or judge by what is shipped: omit `--policy`")
    })
}

/// Returns the failure of a question about the policy of a bundle or project that lacks one.
pub(crate) fn no_policy(path: &Path) -> Failure {
    Failure::error(format!("`{}` has no policy", shown_path(path)))
}

/// Reads the policy of a bundle, for decisions.
///
/// # Errors
///
/// The policy cannot be used.
pub(crate) fn authority(bundle: &Bundle) -> Result<Authority, Failure> {
    Authority::of(bundle).map_err(|error| Failure::error(error.to_string()))
}
