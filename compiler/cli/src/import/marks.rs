//! The marks of other programs in commands and agent skills: the texts are taken as they are, and the project
//! and the report say that the marks stay text.

use std::collections::BTreeMap;

use relay_compiler::{Mark, MarkKind, front_matter, marks};

use super::row::Origin;
use super::source::{Found, MARKDOWN_BYTES_MAX, Source};

/// The most marks of a kind that a row of the report names.
const NAMED_MAX: usize = 4;

/// Returns the marks in the text of a markdown file, by their lines in the file. A file that cannot be read has
/// none: the compiler has a finding on it.
pub(super) fn of_file(source: &Source<'_>, path: &str, origin: Origin) -> Vec<Mark> {
    let text = source.text(path, MARKDOWN_BYTES_MAX, origin, &mut Found::default());
    text.map(|text| of_text(&text)).unwrap_or_default()
}

/// Returns the marks in a text after its front matter, by their lines in the text.
pub(super) fn of_text(text: &str) -> Vec<Mark> {
    let body = front_matter(text).map_or(text, |(_, body)| body);
    let above = text.strip_suffix(body).unwrap_or_default().matches('\n').count();
    let mut marks = marks(body);
    marks.iter_mut().for_each(|mark| mark.line += above);
    marks
}

/// Returns a change for each kind of marks of a file, with the line of the first one.
pub(super) fn changes(marks: &[Mark]) -> Vec<(usize, String)> {
    let mut kinds: BTreeMap<MarkKind, Vec<&Mark>> = BTreeMap::new();
    for mark in marks {
        kinds.entry(mark.kind).or_default().push(mark);
    }
    let row = |(kind, marks): (MarkKind, Vec<&Mark>)| {
        let line = marks.first().map_or(1, |mark| mark.line);
        let named = marks.iter().take(NAMED_MAX).map(|mark| mark.text.as_str());
        let named = named.collect::<Vec<_>>().join(", ");
        let more = match marks.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (line, format!("agents read {named}{more} as text: {}", effect(kind)))
    };
    kinds.into_iter().map(row).collect()
}

/// Returns the reason that the project gives for marks of a kind.
pub(super) fn reason(kind: MarkKind) -> String {
    format!("imported: agents read them as text; {}", effect(kind))
}

/// Says what relay does not do with marks of a kind.
fn effect(kind: MarkKind) -> &'static str {
    match kind {
        MarkKind::Argument => "relay fills in `$ARGUMENTS` alone",
        MarkKind::Command => "relay runs no command",
        MarkKind::File => "relay includes no file",
        MarkKind::Tool => "relay offers no tool by its name",
        MarkKind::Variable => "relay fills in no value",
    }
}
