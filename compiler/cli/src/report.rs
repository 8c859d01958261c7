//! Diagnostics -> a report. Only this module and those below it know themes, colours, JSON.
//!
//! The compiler says where a fault is as a span; the text of that place is attached here, when the
//! report is drawn.

mod github;
mod human;
mod json;
mod sarif;

use std::path::Path;

use relay_compiler::{Diagnostics, Sources, Texts};

use crate::args::Format;
use crate::failure::Failure;
use crate::output::{Look, PIPE_WIDTH};

pub(crate) use json::Findings;

/// The files that a report shows, and where its reader finds them.
pub(crate) struct Origin<'s> {
    sources: &'s Sources<'s>,
    shelf: Shelf,
}

/// The texts of the files, under the names that a report gives them.
struct Shelf {
    texts: Texts,
    /// What stands before a file's path from the project's folder: empty, or ends with `/`.
    prefix: String,
}

impl<'s> Origin<'s> {
    /// Takes the sources of a project whose folder was typed as `folder`.
    pub(crate) fn new(sources: &'s Sources<'s>, folder: &Path) -> Self {
        let folder = folder.to_string_lossy().replace('\\', "/");
        let folder = folder.trim_start_matches("./").trim_end_matches('/');
        let prefix = match folder {
            "" | "." => String::new(),
            folder => format!("{folder}/"),
        };
        Self { sources, shelf: Shelf { texts: sources.texts(), prefix } }
    }

    /// Returns the path that a report gives for a path from the project's folder.
    pub(crate) fn shown_path(&self, path: &str) -> String {
        format!("{}{path}", self.shelf.prefix)
    }
}

/// Returns the report in `format`.
pub(crate) fn draw(
    diagnostics: &Diagnostics,
    origin: &Origin<'_>,
    format: Format,
    look: Look,
) -> Result<String, Failure> {
    let findings = || Findings::of(diagnostics, origin);
    Ok(match format {
        Format::Human => human::draw(diagnostics, origin, look),
        Format::Json => json::draw(&findings())?,
        Format::Sarif => sarif::draw(&findings())?,
        Format::Github => github::draw(&findings()),
    })
}

/// Returns the findings for people as a pipe gets them, without the line that counts: 100 columns
/// wide, no colours, paths from the project's folder.
#[must_use]
pub fn findings(sources: &Sources<'_>, diagnostics: &Diagnostics) -> String {
    let look = Look { colour: false, width: PIPE_WIDTH };
    human::findings(diagnostics, &Origin::new(sources, Path::new("")), look)
}

/// Returns `2 errors, 1 warning`; empty if there is neither.
pub(crate) fn counted(errors: usize, warnings: usize) -> String {
    let one = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    };
    let both: Vec<_> =
        [one(errors, "error"), one(warnings, "warning")].into_iter().flatten().collect();
    both.join(", ")
}
