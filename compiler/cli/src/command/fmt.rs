//! `relay fmt`: rewrites a project's documents in the canonical layout.

use relay_compiler::{Diagnostics, Sources};
use similar::TextDiff;

use crate::args::{FmtArgs, ReportFormat};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, good};
use crate::project::{self, Project};
use crate::text::printable_lines;

/// A document whose layout is to change.
struct Change {
    path: String,
    old: String,
    new: String,
}

pub(crate) fn run(arguments: &FmtArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::open(&arguments.project)?;
    let folder = disk::folder_of(&project::document_at(&arguments.project));
    let sources = project.sources();
    let mut diagnostics = Diagnostics::new(false);
    let changes = changes(&sources, &mut diagnostics);
    let origin = project.origin(&sources);
    let ended = project::report_findings(&diagnostics, &origin, ReportFormat::Human, output)?;
    let mut exit = ended.unwrap_or(Exit::Yes);
    for Change { path, old, new } in &changes {
        let displayed = origin.display_path(path);
        if arguments.check {
            output.result(difference(&displayed, old, new))?;
            exit = Exit::No;
        } else {
            disk::replace(&folder.join(path), new.as_bytes())?;
            output.message(format_args!("{} {displayed}\n", bold("formatted")));
        }
    }
    Ok(exit)
}

/// Returns the documents that change, sorted by path.
fn changes(sources: &Sources<'_>, out: &mut Diagnostics) -> Vec<Change> {
    relay_compiler::documents(sources)
        .into_iter()
        .filter_map(|id| {
            let new = relay_compiler::format(sources, id, out)?;
            let document = sources.file(id);
            let old = document.text().ok()?.to_owned();
            (new != old).then(|| Change { path: document.path.clone(), old, new })
        })
        .collect()
}

fn difference(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut unified = diff.unified_diff();
    let text = unified.context_radius(3).header(path, &format!("{path} (formatted)")).to_string();
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
