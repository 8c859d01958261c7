//! `relay init`: a small project to begin with.

mod pipeline;

use std::fs;
use std::path::Path;

use crate::args::InitArgs;
use crate::disk::{self, Access};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold};
use crate::project;
use crate::shell;
use crate::text::shown_path;

use pipeline::{Pipeline, Written};

/// The files of a new project with their contents; `NAME` is the project's name.
const FILES: [(&str, &str); 5] = [
    ("project.kdl", include_str!("../init/project.kdl")),
    ("prompts/house-rules.md", include_str!("../init/house-rules.md")),
    ("prompts/runbooks/first-aid.md", include_str!("../init/first-aid.md")),
    (".gitattributes", include_str!("../init/gitattributes")),
    (".gitignore", include_str!("../init/gitignore")),
];

/// The files of a new project that only guards.
const GUARD_FILES: [(&str, &str); 4] = [
    ("project.kdl", include_str!("../init/guard.kdl")),
    ("README.md", include_str!("../init/guard.md")),
    (".gitattributes", include_str!("../init/gitattributes")),
    (".gitignore", include_str!("../init/gitignore")),
];

pub(crate) fn run(arguments: &InitArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let files = if arguments.guard { &GUARD_FILES[..] } else { &FILES[..] };
    // Everything is checked before anything is written.
    let taken = files.iter().map(|(path, _)| folder.join(path)).find(|path| path.exists());
    if let Some(path) = taken {
        return Err(Failure::error(format!("`{}` already exists", shown_path(&path)))
            .help("choose a new or empty folder: `relay init NAME`"));
    }
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => {
            fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
            project::name_of(folder)?
        }
    };
    for (path, text) in files {
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
    let pipeline = Pipeline::of(folder);
    let notes = match pipeline.write()? {
        Written::Files(files) => {
            for path in files {
                output.result(format_args!("{}\n", shown_path(&path)))?;
            }
            notes_on(&pipeline)
        }
        Written::Kept(path) => vec![format!(
            "`{}` stays as it is: it checks this project if RELAY_PROJECT is `{}`",
            shown_path(&path),
            pipeline.project()
        )],
    };
    output.message(next(folder, &name, arguments.guard));
    for note in notes {
        output.note(note);
    }
    Ok(Exit::Yes)
}

/// Returns notes on the written pipeline.
fn notes_on(pipeline: &Pipeline) -> Vec<String> {
    let mut notes = Vec::new();
    if pipeline.is_below_root() {
        notes.push(format!(
            "the workflow is at the root of the repository, since GitHub reads it nowhere else; its RELAY_PROJECT is `{}`",
            pipeline.project()
        ));
    }
    if option_env!("RELAY_COMMIT").is_none() {
        notes.push(
            "replace COMMIT in .github/workflows/relay.yml by the commit of relay to install"
                .to_owned(),
        );
    }
    notes
}

/// Returns the next steps with a new project, up to the first answer.
fn next(folder: &Path, name: &str, is_guard: bool) -> String {
    let is_here = folder == Path::new(".");
    let place = if is_here {
        String::new()
    } else {
        format!(" {}", shell::word(&folder.to_string_lossy()))
    };
    let bundle = folder.join(format!("{name}.relay"));
    let bundle = bundle.strip_prefix(".").unwrap_or(&bundle).to_string_lossy().into_owned();
    let bundle = shell::word(&bundle);
    if is_guard {
        let lines = [
            format!("relay check{place}"),
            format!("relay explain {} --matrix", if is_here { "." } else { place.trim_start() }),
        ];
        let lines: String = lines.iter().map(|line| format!("  {}\n", bold(line))).collect();
        let readme = shell::word(&shown_path(folder.join("README.md")));
        return format!(
            "\nNext:\n{lines}{readme} has the commands that build it and install it in a client.\n"
        );
    }
    let lines = [
        format!("relay check{place}"),
        format!("relay describe {}", if is_here { "." } else { place.trim_start() }),
        format!("relay build{place}"),
        format!("claude mcp add {name} -- relay-serve \"$PWD\"/{bundle} --stdio"),
    ];
    let lines: String = lines.iter().map(|line| format!("  {}\n", bold(line))).collect();
    format!(
        "\nNext:\n{lines}docs/clients.md has the lines of other clients, and of servers over HTTP.\n"
    )
}
