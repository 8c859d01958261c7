//! The arguments that say where a command runs.

use clap::{Args, ValueHint};
use relay_policy::location::Location;

use crate::failure::Failure;

/// Where a command runs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LocationArgs {
    /// The folder that commands run in: an absolute path below it is one of the work tree
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<String>,
    /// The home of the user that runs them: an absolute path below it is one of the home
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<String>,
}

impl LocationArgs {
    /// Returns where the command runs; an error names the option whose folder is a relative path.
    pub(crate) fn location(&self) -> Result<Location, Failure> {
        let (cwd, home) = (self.cwd.as_deref(), self.home.as_deref());
        for (option, folder) in [("--cwd", cwd), ("--home", home)] {
            if let Err(error) = Location::new(folder, None) {
                let help = "give the whole path of the folder, from `/` on";
                return Err(Failure::error(format!("{option}: {error}")).help(help));
            }
        }
        Location::new(cwd, home).map_err(|error| Failure::error(error.to_string()))
    }
}
