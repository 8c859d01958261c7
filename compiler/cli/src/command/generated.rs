//! `relay schemas` and `relay reference`: the files in `schemas/` and `docs/` that are generated
//! from types and tables.

use std::fs;

use crate::args::GeneratedArgs;
use crate::command::build::Built;
use crate::command::classify::Classified;
use crate::command::describe::Described;
use crate::command::diff::Comparison;
use crate::command::explain::{
    CascadeExplained, CommandExplained, IndexExplained, PromptExplained, SelectionExplained,
    UriExplained,
};
use crate::command::facts::Known;
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
use crate::schema;

/// Returns the name and text of each schema, as in `schemas/NAME.json`, sorted by name.
#[must_use]
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("build", schema::text::<Built>()),
        ("check", schema::text::<Findings>()),
        ("classify", schema::text::<Classified>()),
        ("describe", schema::text::<Described>()),
        ("diff", schema::text::<Comparison>()),
        ("explain-cascade", schema::text::<CascadeExplained>()),
        ("explain-command", schema::text::<CommandExplained>()),
        ("explain-index", schema::text::<IndexExplained>()),
        ("explain-prompt", schema::text::<PromptExplained>()),
        ("explain-selection", schema::text::<SelectionExplained>()),
        ("explain-uri", schema::text::<UriExplained>()),
        ("facts", schema::text::<Known>()),
        ("inspect", schema::text::<Inspected>()),
        ("rules", schema::text::<Rules>()),
        ("show", schema::text::<EffectiveProject>()),
        ("test", schema::text::<Tested>()),
        ("trust-list", schema::text::<TrustListed>()),
        ("verify", schema::text::<Verified>()),
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
        output.result(format_args!("{}\n", path.display()))?;
    }
    Ok(Exit::Yes)
}
