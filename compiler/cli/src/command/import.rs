//! `relay import`: a project of the files that a folder has for other programs, and a report on each.

mod permissions;

use std::fs;
use std::path::{Path, PathBuf};

use relay_compiler::is_shown;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, ImportArgs};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::ProjectFiles;
use crate::import::{self, Below, COPIES, Outcome, Plan, Row, Source};
use crate::output::{Output, bold};
use crate::permissions as rules;
use crate::project::{self, DOCUMENT};
use crate::shell;
use crate::text::{printable, shown_path, wrapped};

/// The output of `relay import --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// The version of this JSON format.
    format_version: u32,
    /// The project's document; `null` if nothing is left to import.
    project: Option<String>,
    /// Whether the files were written.
    is_written: bool,
    /// The files of the import, the project's document first.
    files: Vec<ImportedFile>,
    /// How a session begins, if that is not as by default.
    note: Option<String>,
    /// The outcome for each file: first the exact ones, then the changed ones, then those left out.
    report: Vec<Row>,
}

/// A file that an import writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ImportedFile {
    /// Its path.
    path: String,
    /// Its text.
    text: String,
}

/// The place of an import.
struct Place {
    /// The project's folder.
    folder: PathBuf,
    /// The name of its document.
    document: String,
    /// The path of the folder to import, from the project's folder: empty, or it ends with `/`.
    below: String,
    /// The file to import, if it is not a folder.
    file: Option<String>,
    /// The names of the files in the folder to import, sorted.
    names: Vec<String>,
    /// The files of other programs in the folders below it.
    inside: Below,
}

pub(crate) use permissions::ImportedPermissions;

pub(crate) fn run(arguments: &ImportArgs, output: &mut Output) -> Result<Exit, Failure> {
    if let Some(client) = arguments.permissions {
        return permissions::run(arguments, client, output);
    }
    let place = Place::of(arguments)?;
    let files = ProjectFiles::open(&place.folder)
        .map_err(|error| Failure::file("read", &place.folder, &error))?;
    let names = place.names.clone();
    let inside = place.inside.clone();
    let source = Source { files: &files, below: place.below.clone(), names, inside };
    if place.file.is_none() {
        for client in rules::present(&arguments.from) {
            let (title, word) = (client.title(), client.word());
            output.note(format_args!(
                "the rules of {title} are not imported with prompts: `relay import --permissions {word}` makes a policy of them"
            ));
        }
    }
    let found = match &place.file {
        Some(name) => import::find_in_file(&source, name),
        None => import::find(&source),
    };
    if found.parts.is_empty() && found.rows.is_empty() {
        let from = shown_path(&arguments.from);
        return Err(Failure::no(format!("`{from}` has nothing to import"))
            .help("`relay import --help` lists the files that are read; `relay init` writes a project to begin with"));
    }
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => project::name_of(&place.folder)?,
    };
    let plan = import::plan(name, found, &files, &place.document).map_err(|unsettled| {
        Failure::no(format!("no project without a finding can be made: {}", unsettled.finding))
            .help("give the project another name with --name, or import a part of the folder")
    })?;
    let to_write = place.files(&plan)?;
    if !arguments.dry_run {
        write(&place, &to_write)?;
    }
    let is_written = !arguments.dry_run && !to_write.is_empty();
    report(arguments, &place, &plan, &to_write, is_written, output)?;
    Ok(if plan.parts.is_empty() { Exit::No } else { Exit::Yes })
}

impl Place {
    fn of(arguments: &ImportArgs) -> Result<Self, Failure> {
        let ImportArgs { from, output, .. } = arguments;
        let is_file = from.is_file();
        let imported = if is_file { disk::folder_of(from) } else { from.clone() };
        let document = output.clone().unwrap_or_else(|| imported.join(DOCUMENT));
        let folder = disk::folder_of(&document);
        let real = |path: &Path| {
            fs::canonicalize(path).map_err(|error| Failure::file("read", path, &error))
        };
        let (real_imported, real_folder) = (real(&imported)?, real(&folder)?);
        let Ok(below) = real_imported.strip_prefix(&real_folder) else {
            return Err(Failure::error(format!(
                "`{}` is not in the project's folder `{}`",
                shown_path(&imported),
                shown_path(&folder)
            ))
            .help("a project refers to files in its own folder and below: give an output in a folder above"));
        };
        let below = below.to_string_lossy().replace('\\', "/");
        let below = if below.is_empty() { below } else { format!("{below}/") };
        let name_of =
            |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let document = name_of(&document).unwrap_or_else(|| DOCUMENT.to_owned());
        let file = if is_file { name_of(from) } else { None };
        let inside = if is_file { Below::default() } else { Below::of(&imported) };
        Ok(Self { folder, document, below, file, names: names(&imported)?, inside })
    }

    /// Returns the files to write, by path from the project's folder, the document first; none if nothing
    /// is left.
    fn files(&self, plan: &Plan) -> Result<Vec<(String, String)>, Failure> {
        if plan.parts.is_empty() {
            return Ok(Vec::new());
        }
        let copies = plan.copies().map_err(Failure::error)?;
        let document = (self.document.clone(), plan.written().text);
        Ok([document].into_iter().chain(copies).collect())
    }
}

/// Returns the names of the files right in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let fail = |error| Failure::file("read", folder, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name().into_string().ok().filter(|name| is_file && is_shown(name));
        names.extend(name);
    }
    names.sort();
    Ok(names)
}

/// Writes the files; none of them may be there, and neither may the folder of those beside the document,
/// which could be a link to anywhere.
fn write(place: &Place, files: &[(String, String)]) -> Result<(), Failure> {
    let document = files.iter().take(1).map(|(path, _)| path.as_str());
    let copies = files.iter().skip(1).take(1).map(|_| COPIES);
    let taken = |path: &Path| {
        let path = path.strip_prefix(".").unwrap_or(path);
        Failure::error(format!("`{}` already exists", shown_path(path)))
            .help("an import replaces nothing: move it away, or give another project with -o")
    };
    let mut paths = document.chain(copies).map(|path| place.folder.join(path));
    if let Some(path) = paths.find(|path| fs::symlink_metadata(path).is_ok()) {
        return Err(taken(&path));
    }
    // The document is written last: it refers to the others.
    let ordered: Vec<_> =
        files.iter().rev().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    disk::create_all(&place.folder, &ordered, taken)
}

fn report(
    arguments: &ImportArgs,
    place: &Place,
    plan: &Plan,
    files: &[(String, String)],
    is_written: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let rows = import::rows(plan);
    if arguments.format.chosen() == AnswerFormat::Json {
        let file = |(path, text): &(String, String)| ImportedFile {
            path: path.clone(),
            text: text.clone(),
        };
        return output.json(&Imported {
            format_version: FORMAT_VERSION,
            project: files.first().map(|(path, _)| path.clone()),
            is_written,
            files: files.iter().map(file).collect(),
            note: import::note(plan),
            report: rows,
        });
    }
    if let Some(note) = import::note(plan) {
        output.note(note);
    }
    let width = output.result_look().width;
    let drawn = draw(&rows, width);
    if arguments.dry_run {
        if let Some((_, text)) = files.first() {
            output.verbatim(text)?;
        }
        output.message(drawn);
        return Ok(());
    }
    let written: String = files
        .iter()
        .map(|(path, text)| format!("{} ({} lines)\n", shown_path(path), text.lines().count()))
        .collect();
    let blank = if written.is_empty() { "" } else { "\n" };
    output.result(format_args!("{written}{blank}{drawn}"))?;
    if is_written {
        let document = place.folder.join(&place.document);
        let document = document.strip_prefix(".").unwrap_or(&document).to_string_lossy();
        let document = shell::word(&document);
        output.message(format_args!(
            "\nNext:\n  relay describe {document}\n  relay build {document}\n"
        ));
    } else {
        output.note("no file is left to import, so no project was written");
    }
    Ok(())
}

/// Draws the report: a group for each outcome.
fn draw(rows: &[Row], width: usize) -> String {
    let groups =
        [(Outcome::Exact, "exact"), (Outcome::Changes, "changes"), (Outcome::LeftOut, "left out")];
    let mut page = String::new();
    for (outcome, title) in groups {
        let rows: Vec<_> = rows.iter().filter(|row| row.outcome == outcome).collect();
        if rows.is_empty() {
            continue;
        }
        page.push_str(&format!("{} ({})\n", bold(title), rows.len()));
        for Row { outcome: _, file, line, origin: _, becomes, reason } in rows {
            let becomes = becomes.as_ref().map(|part| format!(": {}", printable(part)));
            let place = if *line > 1 { format!(":{line}") } else { String::new() };
            page.push_str(&format!(
                "  {}{place}{}\n",
                shown_path(file),
                becomes.unwrap_or_default()
            ));
            if let Some(reason) = reason {
                page.push_str(&wrapped(reason, "      ", width));
            }
        }
    }
    page
}
