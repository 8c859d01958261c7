//! `relay import --permissions CLIENT`: the rules of a client as a policy.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, Client, ImportArgs};
use crate::disk::{self, Access};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::permissions::{self, Folders, RuleRow, Settled};
use crate::project::{self, DOCUMENT};
use crate::shell;
use crate::text::shown_path;

/// The output of `relay import --permissions CLIENT --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ImportedPermissions {
    /// The version of this JSON format.
    format_version: u32,
    /// The client.
    client: &'static str,
    /// The project's document.
    project: String,
    /// Whether it was written.
    is_written: bool,
    /// Its text.
    text: String,
    /// The fate of each rule and setting.
    report: Vec<RuleRow>,
}

pub(super) fn run(
    arguments: &ImportArgs,
    client: Client,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let ImportArgs { from, output: document, name, dry_run, home, system, .. } = arguments;
    let is_file = from.is_file();
    let folder = if is_file { disk::folder_of(from) } else { from.clone() };
    let file = is_file.then(|| from.file_name().map(|name| name.to_string_lossy().into_owned()));
    let folders = Folders {
        project: folder.clone(),
        file: file.flatten(),
        home: home.clone(),
        system: system.clone(),
    };
    let Some(rules) = permissions::read(client, &folders)? else {
        let from = shown_path(from);
        return Err(Failure::no(format!("`{from}` has no rules of {}", client.title()))
            .help("`relay import --help` lists the files that are read; --home and --system add those outside of the project"));
    };
    let path: PathBuf = document.clone().unwrap_or_else(|| folder.join(DOCUMENT));
    let shown = path
        .file_name()
        .map_or_else(|| DOCUMENT.to_owned(), |it| it.to_string_lossy().into_owned());
    let name = match name {
        Some(name) => name.clone(),
        None => project::name_of(&disk::folder_of(&path))?,
    };
    let Settled { text, rows } = permissions::settle(&name, &shown, &rules)?;
    if !dry_run && !disk::create(&path, text.as_bytes(), Access::AllUsers)? {
        return Err(Failure::error(format!("`{}` already exists", shown_path(&path)))
            .help("an import replaces nothing: move it away, or give another file with -o"));
    }
    if arguments.format.chosen() == AnswerFormat::Json {
        output.json(&ImportedPermissions {
            format_version: FORMAT_VERSION,
            client: rules.client,
            project: shown,
            is_written: !dry_run,
            text,
            report: rows,
        })?;
        return Ok(Exit::Yes);
    }
    let drawn = permissions::draw(&rows, output.result_look().width);
    if *dry_run {
        output.verbatim(&text)?;
        output.message(drawn);
        return Ok(Exit::Yes);
    }
    output.result(format_args!(
        "{} ({} lines)\n\n{drawn}",
        shown_path(&path),
        text.lines().count()
    ))?;
    let document = path.strip_prefix(".").unwrap_or(&path).to_string_lossy();
    let document = shell::word(&document);
    output.message(format_args!("\nNext:\n  relay check {document}\n  relay test {document}\n"));
    Ok(Exit::Yes)
}
