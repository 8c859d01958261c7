//! What commands are judged by: the shipped facts, or the policy of a bundle.

use std::borrow::Cow;
use std::path::Path;

use relay_policy::classify::Rules;
use relay_policy::facts::Facts;

use crate::args::{ProjectArgs, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::shipped;
use crate::subject::{self, Opened};

/// What commands are judged by.
pub(crate) struct Judge {
    table: Cow<'static, [u8]>,
    /// The floors and paths.
    pub(crate) rules: Rules,
}

/// A judge, or the exit code because the project has errors, which were reported.
pub(crate) enum Chosen {
    Judge(Judge),
    Ended(Exit),
}

impl Judge {
    /// Opens the facts.
    pub(crate) fn facts(&self) -> Result<Facts<'_>, Failure> {
        Facts::open(&self.table).map_err(|error| Failure::error(error.to_string()))
    }
}

/// Takes the policy of a bundle or project; without one, what is shipped.
pub(crate) fn choose(policy: Option<&Path>, output: &mut Output) -> Result<Chosen, Failure> {
    let Some(path) = policy else {
        let table = Cow::Borrowed(shipped::facts());
        return Ok(Chosen::Judge(Judge { table, rules: Rules::default() }));
    };
    let project = ProjectArgs { env: None, strict: false };
    // Answers go to standard output, so findings are for people.
    let bundle = match subject::open_path(path, &project, ReportFormat::Human, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(Chosen::Ended(exit)),
    };
    let Some(policy) = bundle.policy() else {
        return Err(Failure::error(format!("`{}` has no policy", path.display()))
            .help("add `policy` to the project, or judge by what is shipped: omit `--policy`"));
    };
    let rules = Rules::of(policy).map_err(|error| Failure::error(error.to_string()))?;
    Ok(Chosen::Judge(Judge { table: Cow::Owned(bundle.facts()?.to_vec()), rules }))
}
