//! `relay show`: the effective project, every default in force, and where each came from.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::ShowArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{self, Project, Request};
use crate::schema::FORMAT_VERSION;

/// What `relay show --json` prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Shown {
    /// The version of this form.
    format_version: u32,
    /// The effective project, its nodes by name.
    project: Value,
}

pub(crate) fn run(arguments: &ShowArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::open(&arguments.project)?;
    let sources = project.sources();
    let compiled = project.compile(&sources, Request::of(&arguments.compiling), output)?;
    let origin = project.origin(&sources);
    let format = arguments.compiling.format;
    let ended = project::tell_findings(&compiled.diagnostics, &origin, format, output)?;
    if let Some(exit) = ended {
        return Ok(exit);
    }
    let Some(effective) = compiled.effective else {
        return Err(Failure::unknown(
            "there is nothing to show: the project could not be understood",
        ));
    };
    if arguments.json {
        let project = effective.json();
        output.json(&Shown { format_version: FORMAT_VERSION, project })?;
    } else {
        output.result(effective.kdl(true))?;
    }
    Ok(Exit::Yes)
}
