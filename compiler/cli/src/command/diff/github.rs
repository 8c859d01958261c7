//! The comparison as workflow commands of GitHub Actions, which annotate a pull request.

use crate::answer::size::grouped;
use crate::command::diff::comparison::Spot;
use crate::command::diff::outline::{Outline, Row};
use crate::level::Level;
use crate::text::shortened;
use crate::workflow::{Annotation, Lines};

/// GitHub shows at most this many annotations of a level from one step.
const ANNOTATIONS_MAX: usize = 10;
/// Characters of an annotation's title and of its text.
const TITLE_CHARS_MAX: usize = 100;
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Returns one command per line, the gravest findings first.
pub(crate) fn draw(outline: &Outline<'_>) -> String {
    let all = outline.gravest_first();
    let notes = outline.all_notes();
    let mut text = String::new();
    for level in [Level::Error, Level::Warning, Level::Note] {
        let of_level: Vec<_> = all.iter().filter(|row| row.level == level).collect();
        let has_notes = level == Level::Note && !notes.is_empty();
        let places = ANNOTATIONS_MAX - usize::from(has_notes);
        let more = of_level.len().saturating_sub(places);
        let listed = of_level.len() - more;
        for (index, row) in of_level.into_iter().take(places).enumerate() {
            let is_last = index + 1 == listed;
            text.push_str(&annotation(row, if is_last { more } else { 0 }));
        }
    }
    if !notes.is_empty() {
        let message = shortened(&notes.join("\n"), MESSAGE_CHARS_MAX);
        let note =
            Annotation { level: Level::Note, place: None, title: "relay diff", message: &message };
        text.push_str(&note.command());
    }
    text
}

/// Returns the annotation of a finding, with the number of unlisted ones of its level.
fn annotation(row: &Row<'_>, more: usize) -> String {
    let title = shortened(&format!("{} {}", row.mark.text(), row.title()), TITLE_CHARS_MAX);
    let mut message = shortened(&row.summary(), MESSAGE_CHARS_MAX);
    message.push_str(&format!("\nfingerprint {}", row.fingerprint));
    if more > 0 {
        message.push_str(&format!("\nand {} more that are not listed", grouped(more)));
    }
    let Spot { file, line } = &row.spot;
    Annotation {
        level: row.level,
        place: Some(Lines { file, lines: (*line, *line), columns: None }),
        title: &title,
        message: &message,
    }
    .command()
}
