//! `relay fmt --fix`: applies the corrections of diagnostics, in memory.
//!
//! A correction may bring up the next one, as that of a document that was unreadable before. So the
//! project is checked again after each round, until all corrections are made: another run has
//! nothing to do. After many rounds it says how many are left.

use std::collections::BTreeMap;
use std::path::Path;

use relay_compiler::{Diagnostics, Edit, FileId, Report, Sources};

use crate::answer::size::counted;
use crate::args::FmtArgs;
use crate::failure::Failure;
use crate::files::Patched;
use crate::output::{Output, bold, dim};
use crate::project::{Project, Request};
use crate::report::{self, Origin};
use crate::shell;
use crate::text::printable;

/// The most rounds in which corrections are written. Each needs a correction that an earlier one made possible.
const ROUNDS_MAX: usize = 20;

/// Applies every correction to `files`, which `project` reads; prints each with its place and its reason.
pub(super) fn apply(
    project: &Project,
    files: &Patched,
    arguments: &FmtArgs,
    output: &mut Output,
) -> Result<(), Failure> {
    let verb = if arguments.check { "would fix" } else { "fixed" };
    for round in 0..=ROUNDS_MAX {
        let sources = project.sources();
        let compiled = project.check(&sources, Request::default(), output)?;
        let origin = project.origin(&sources);
        let chosen = chosen(&compiled.diagnostics, &sources);
        if chosen.is_empty() {
            say_what_remains(&compiled.diagnostics, &arguments.project, output);
            return Ok(());
        }
        if round == ROUNDS_MAX {
            let left = counted(chosen.len(), "correction");
            output.message(format_args!("{left} left: run `relay fmt --fix` again\n"));
            return Ok(());
        }
        let mut edits: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
        for report in chosen {
            output.message(format_args!("{} {}\n", bold(verb), line(report, &sources, &origin)));
            for edit in &report.edits {
                edits.entry(edit.at.file).or_default().push(edit);
            }
        }
        for (id, edits) in edits {
            let file = sources.file(id);
            let text: &str = file.text().map_or("", |text| text);
            files.put(&file.path, text, edited(text, edits));
        }
    }
    Ok(())
}

/// Returns the findings whose corrections can be applied together: of two that overlap the first.
/// Findings of one kind that are one report are corrected one by one.
fn chosen<'d>(diagnostics: &'d Diagnostics, sources: &Sources<'_>) -> Vec<&'d Report> {
    let mut taken: Vec<&Edit> = Vec::new();
    let mut chosen = Vec::new();
    for report in diagnostics.sorted().into_iter().flat_map(Report::all) {
        let fits = |edit: &Edit| {
            let is_text = sources.file(edit.at.file).text().is_ok();
            is_text && !taken.iter().any(|other| meet(other, edit))
        };
        if !report.edits.is_empty() && report.edits.iter().all(fits) {
            taken.extend(&report.edits);
            chosen.push(report);
        }
    }
    chosen
}

/// Returns whether two edits overlap or touch: of two that touch, the order would decide.
fn meet(one: &Edit, other: &Edit) -> bool {
    one.at.file == other.at.file && one.at.start <= other.at.end && other.at.start <= one.at.end
}

/// Returns a text after separate edits.
fn edited(text: &str, mut edits: Vec<&Edit>) -> String {
    edits.sort_by_key(|edit| edit.at);
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for Edit { at, text: replacement } in edits {
        new.push_str(text.get(done..at.start as usize).unwrap_or_default());
        new.push_str(replacement);
        done = at.end as usize;
    }
    new.push_str(text.get(done..).unwrap_or_default());
    new
}

/// Returns the place and the reason of a correction.
fn line(report: &Report, sources: &Sources<'_>, origin: &Origin<'_>) -> String {
    let place = sources.place(report.at);
    let file = origin.display_path(&place.file);
    let message = printable(&report.diagnostic.to_string());
    let code = dim(format!("({})", report.code())).to_string();
    format!("{file}:{}:{}: {message} {code}", place.line, place.column)
}

fn say_what_remains(diagnostics: &Diagnostics, path: &Path, output: &mut Output) {
    let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
    if errors + warnings > 0 {
        let counted = report::counted(errors, warnings);
        let path = match path == Path::new(".") {
            true => String::new(),
            false => format!(" {}", shell::word(&path.to_string_lossy())),
        };
        output.message(format_args!("{counted} left for you: `relay check{path}` prints them\n"));
    }
}
