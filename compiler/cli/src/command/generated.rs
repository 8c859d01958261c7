//! `relay schemas` and `relay reference`: the files in `schemas/` and `docs/` that are made from
//! tables and types.

use std::fs;

use crate::args::GeneratedArgs;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::schema;

/// Writes the JSON Schemas.
pub(crate) fn schemas(arguments: &GeneratedArgs, output: &mut Output) -> Result<Exit, Failure> {
    let named = schema::schemas().into_iter().map(|(name, text)| (format!("{name}.json"), text));
    write(arguments, named, output)
}

/// Writes files of these names and texts.
pub(crate) fn write(
    arguments: &GeneratedArgs,
    files: impl IntoIterator<Item = (impl AsRef<str>, String)>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        disk::replace(&path, text.as_bytes())?;
        output.result(format_args!("{}\n", path.display()))?;
    }
    Ok(Exit::Yes)
}
