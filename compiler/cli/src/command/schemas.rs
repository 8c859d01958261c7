//! `relay schemas`: the JSON Schemas that stand in `schemas/`.

use std::fs;

use crate::args::SchemasArgs;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::schema;

pub(crate) fn run(arguments: &SchemasArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    for (name, text) in schema::schemas() {
        let path = folder.join(format!("{name}.json"));
        disk::replace(&path, text.as_bytes())?;
        output.result(format_args!("{}\n", path.display()))?;
    }
    Ok(Exit::Yes)
}
