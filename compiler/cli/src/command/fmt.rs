//! `relay fmt`: rewrites a project's documents in the canonical layout.

mod fix;

use relay_compiler::{Diagnostics, Sources};

use crate::args::{FmtArgs, ReportFormat};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::Patched;
use crate::output::{Output, bad, bold, good};
use crate::project::{self, Project};
use crate::text::printable_lines;
use crate::unified;

/// A file that is to change.
struct Change {
    path: String,
    old: String,
    new: String,
}

pub(crate) fn run(arguments: &FmtArgs, output: &mut Output) -> Result<Exit, Failure> {
    let (project, files) = Project::open_patched(&arguments.project)?;
    let folder = disk::folder_of(&project::document_at(&arguments.project));
    if arguments.fix {
        fix::apply(&project, &files, arguments, output)?;
    }
    let sources = project.sources();
    let mut diagnostics = Diagnostics::new(false);
    let formatted = format(&sources, &files, &mut diagnostics);
    let origin = project.origin(&sources);
    let ended = project::report_findings(&diagnostics, &origin, ReportFormat::Human, output)?;
    let done = if arguments.fix { "fixed" } else { "formatted" };
    let mut exit = ended.unwrap_or(Exit::Yes);
    for Change { path, old, new } in changes(&files, &formatted) {
        let displayed = origin.display_path(&path);
        if arguments.check {
            output.result(difference(&displayed, done, &old, &new))?;
            exit = Exit::No;
        } else if !disk::replace_unchanged(&folder.join(&path), old.as_bytes(), new.as_bytes())? {
            output.message(format_args!(
                "{} {displayed}: it changed meanwhile; run `relay fmt` again\n",
                bad("not written")
            ));
            exit = Exit::No;
        } else if formatted.contains(&path) {
            output.message(format_args!("{} {displayed}\n", bold("formatted")));
        }
    }
    Ok(exit)
}

/// Formats the documents in `files`; returns the paths of those that change, in the order of the documents.
fn format(sources: &Sources<'_>, files: &Patched, out: &mut Diagnostics) -> Vec<String> {
    let mut formatted = Vec::new();
    for id in relay_compiler::documents(sources) {
        let Some(new) = relay_compiler::format(sources, id, out) else { continue };
        let document = sources.file(id);
        match document.text() {
            Ok(old) if **old != *new => {
                files.put(&document.path, old, new);
                formatted.push(document.path.clone());
            }
            _ => {}
        }
    }
    formatted
}

/// Returns the files that differ from the disk: the documents first, in their order.
fn changes(files: &Patched, documents: &[String]) -> Vec<Change> {
    let changed = files.changed().into_iter();
    let mut changes: Vec<_> = changed.map(|(path, old, new)| Change { path, old, new }).collect();
    let order = |path: &String| documents.iter().position(|known| known == path);
    changes.sort_by_key(|change| order(&change.path).unwrap_or(usize::MAX));
    changes
}

/// Returns the changed lines of a file, with secrets masked.
fn difference(path: &str, done: &str, old: &str, new: &str) -> String {
    // Masked texts could be equal, so the texts themselves are compared.
    let masked = [old, new].map(relay_compiler::masked_text);
    let hunks = unified::hunks(old, new, [&masked[0], &masked[1]]);
    let text = format!("--- {path}\n+++ {path} ({done})\n{hunks}");
    let mut drawn = String::with_capacity(text.len());
    for line in text.lines() {
        let line = printable_lines(line);
        match line.get(..1) {
            Some("+") => drawn.push_str(&good(line).to_string()),
            Some("-") => drawn.push_str(&bad(line).to_string()),
            _ => drawn.push_str(&line),
        }
        drawn.push('\n');
    }
    drawn
}
