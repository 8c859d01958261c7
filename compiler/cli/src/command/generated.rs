//! `relay schemas`, `relay reference` and `relay policy-automata`: the files in `schemas/`, `docs/` and
//! `compiler/policies/` generated from types, tables and shipped policies.

use std::fs;

use relay_engine::audit_chain::ChainedRecord;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};

use crate::args::{GeneratedArgs, PolicyAutomataArgs};
use crate::command::audit::AuditVerified;
use crate::command::build::Built;
use crate::command::classify::Classified;
use crate::command::describe::Described;
use crate::command::diff::Comparison;
use crate::command::explain::{
    CascadeExplained, CommandExplained, IndexExplained, MatrixExplained, PromptExplained,
    SelectionExplained, UriExplained,
};
use crate::command::export::{Exported, ExportedPermissions};
use crate::command::facts::Known;
use crate::command::hook::{HookStats, HookStatus};
use crate::command::import::{Imported, ImportedPermissions};
use crate::command::inspect::Inspected;
use crate::command::rules::Rules;
use crate::command::show::EffectiveProject;
use crate::command::test::Tested;
use crate::command::trust::TrustListed;
use crate::command::verify::Verified;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::Findings;
use crate::text::shown_path;

/// Returns the name and text of each schema, as in `schemas/NAME.json`, sorted by name.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("audit-record", schema::<ChainedRecord<'_>>()),
        ("audit-verify", schema::<AuditVerified>()),
        ("build", schema::<Built>()),
        ("check", schema::<Findings>()),
        ("classify", schema::<Classified>()),
        ("describe", schema::<Described>()),
        ("diff", schema::<Comparison>()),
        ("explain-cascade", schema::<CascadeExplained>()),
        ("explain-command", schema::<CommandExplained>()),
        ("explain-matrix", schema::<MatrixExplained>()),
        ("explain-index", schema::<IndexExplained>()),
        ("explain-prompt", schema::<PromptExplained>()),
        ("explain-selection", schema::<SelectionExplained>()),
        ("explain-uri", schema::<UriExplained>()),
        ("export", schema::<Exported>()),
        ("export-permissions", schema::<ExportedPermissions>()),
        ("facts", schema::<Known>()),
        ("hook-stats", schema::<HookStats>()),
        ("hook-status", schema::<HookStatus>()),
        ("import", schema::<Imported>()),
        ("import-permissions", schema::<ImportedPermissions>()),
        ("inspect", schema::<Inspected>()),
        ("rules", schema::<Rules>()),
        ("show", schema::<EffectiveProject>()),
        ("test", schema::<Tested>()),
        ("trust-list", schema::<TrustListed>()),
        ("verify", schema::<Verified>()),
    ]
}

/// Writes the JSON Schemas.
pub(crate) fn write_schemas(
    arguments: &GeneratedArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let named = schemas().into_iter().map(|(name, text)| (format!("{name}.json"), text));
    write(arguments, named, output)
}

/// Writes files with these names and texts.
pub(crate) fn write(
    arguments: &GeneratedArgs,
    files: impl IntoIterator<Item = (impl AsRef<str>, String)>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        disk::replace(&path, text.as_bytes())?;
        output.result(format_args!("{}\n", shown_path(&path)))?;
    }
    Ok(Exit::Yes)
}

/// Writes the automata of the regexes in shipped policies.
pub(crate) fn write_automata(
    arguments: &PolicyAutomataArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let automata = relay_compiler::policies::automata();
    let automata = automata.map_err(|error| Failure::error(error.fault.to_string()))?;
    disk::replace(&arguments.out, &automata)?;
    output.note(format_args!("{} bytes", automata.len()));
    Ok(Exit::Yes)
}

/// Returns the schema of a type as text.
fn schema<T: JsonSchema>() -> String {
    // The schema of serialized values: every field that is always written is required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
