//! `relay init`: a small project to begin with.

use std::fs;
use std::path::Path;

use crate::args::InitArgs;
use crate::disk::{self, Access};
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::output::{Output, bold};
use crate::text::shown_path;

/// The files of a new project and what is in them; `NAME` is the project's name.
const FILES: [(&str, &str); 6] = [
    ("project.kdl", include_str!("../init/project.kdl")),
    ("prompts/house-rules.md", include_str!("../init/house-rules.md")),
    ("prompts/runbooks/first-aid.md", include_str!("../init/first-aid.md")),
    (".gitattributes", include_str!("../init/gitattributes")),
    (".gitignore", include_str!("../init/gitignore")),
    (".github/workflows/relay.yml", include_str!("../init/workflow.yml")),
];

/// The name of a project whose folder has none that a project may have.
const NAME: &str = "my-team";

pub(crate) fn run(arguments: &InitArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    // Nothing is written unless everything can be.
    let taken = FILES.iter().map(|(path, _)| folder.join(path)).find(|path| path.exists());
    if let Some(path) = taken {
        return Err(Failure::error(format!("`{}` already exists", shown_path(&path)))
            .help("choose a new or empty folder: `relay init NAME`"));
    }
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => name_of(folder)?,
    };
    for (path, text) in FILES {
        let path = folder.join(path);
        let parent = disk::folder_of(&path);
        fs::create_dir_all(&parent).map_err(|error| Failure::file("create", &parent, &error))?;
        let written =
            disk::create(&path, text.replace("NAME", &name).as_bytes(), Access::AllUsers)?;
        if !written {
            return Err(Failure::error(format!("`{}` already exists", shown_path(&path))));
        }
        output.result(format_args!("{}\n", shown_path(&path)))?;
    }
    let place =
        if folder == Path::new(".") { String::new() } else { format!(" {}", shown_path(folder)) };
    output.message(format_args!(
        "\nNext:\n  {}\n  {}\n",
        bold(format_args!("relay check{place}")),
        bold(format_args!("relay build{place}")),
    ));
    Ok(Exit::Yes)
}

/// Returns a project name after the folder's own.
fn name_of(folder: &Path) -> Result<String, Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
    let path = fs::canonicalize(folder).map_err(|error| {
        Failure::error(format!("cannot use `{}`: {}", shown_path(folder), reason(&error)))
    })?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name: String = name
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(64)
        .collect();
    let name = name.trim_matches('-');
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    Ok(if begins { name.to_owned() } else { NAME.to_owned() })
}
