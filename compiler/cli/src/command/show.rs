//! `relay show`: the effective project, with every default and the origin of every value.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::FORMAT_VERSION;
use crate::args::{ReportFormat, ShowArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{self, Project, Request};

/// The output of `relay show --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct EffectiveProject {
    /// The version of this JSON format.
    format_version: u32,
    /// The nodes of the effective project.
    nodes: Vec<Node>,
}

/// A node of the effective project.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Node {
    /// Its name: `prompt`, `arg`.
    node: String,
    /// Its arguments.
    arguments: Vec<Value>,
    /// Its properties.
    properties: BTreeMap<String, Value>,
    /// The nodes in it.
    children: Vec<Node>,
    /// Where it was declared, `file:line`, if the author wrote it.
    at: Option<String>,
    /// The properties that have their default.
    defaults: Vec<String>,
    /// Whether the compiler generated it because the author left it out.
    generated: bool,
}

pub(crate) fn run(arguments: &ShowArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::open(&arguments.project)?;
    let sources = project.sources();
    let compiled = project.compile(&sources, Request::of(&arguments.compiling), output)?;
    let origin = project.origin(&sources);
    let format = arguments.format.chosen();
    let ended = project::report_findings(&compiled.diagnostics, &origin, format, output)?;
    if let Some(exit) = ended {
        return Ok(exit);
    }
    let Some(effective) = compiled.effective else {
        return Err(Failure::error("cannot show the project: it could not be parsed"));
    };
    if format == ReportFormat::Json {
        let mut json = effective.json();
        let nodes = json.get_mut("nodes").map(Value::take).unwrap_or_default();
        let nodes = serde_json::from_value(nodes)?;
        output.json(&EffectiveProject { format_version: FORMAT_VERSION, nodes })?;
    } else {
        output.verbatim(&effective.kdl(true))?;
    }
    Ok(Exit::Yes)
}
