//! `relay reference`: the references in `docs/` that are made of the code.

use std::fs;

use crate::args::ReferenceArgs;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::reference;

pub(crate) fn run(arguments: &ReferenceArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    for (name, text) in reference::references() {
        let path = folder.join(name);
        disk::replace(&path, text.as_bytes())?;
        output.result(format_args!("{}\n", path.display()))?;
    }
    Ok(Exit::Yes)
}
