//! The effective project as KDL, without the texts that a form of the bundle shows already: one
//! word changed in a prompt shall be one changed line of a diff.
//!
//! A text goes only if it was shown word for word, so that nothing is hidden from a review.

use std::collections::BTreeSet;

const INDENT: &str = "    ";
const NODE: &str = "text ";
const QUOTES: &str = "\"\"\"";

/// The project as KDL while texts are struck from it.
pub(super) struct Source<'k> {
    pieces: Vec<Piece<'k>>,
    /// Depth and value of every text.
    texts: BTreeSet<(usize, String)>,
    /// How deep texts stand; few, since the language nests little.
    depths: BTreeSet<usize>,
    /// What was shown, as it stands in the project.
    shown: BTreeSet<(usize, String)>,
}

enum Piece<'k> {
    Line(&'k str),
    /// A node `text`: how deep it stands, and its value as it is written.
    Text((usize, String)),
}

impl<'k> Source<'k> {
    /// Takes the effective project as the compiler writes it.
    pub(super) fn of(kdl: &'k str) -> Self {
        let mut pieces = Vec::new();
        let mut lines = kdl.lines();
        while let Some(line) = lines.next() {
            let node = line.trim_start_matches(' ');
            let Some(value) = node.strip_prefix(NODE) else {
                pieces.push(Piece::Line(line));
                continue;
            };
            let mut value = value.to_owned();
            if value == QUOTES {
                // Quotes inside the text are escaped, so the next ones end it.
                for line in lines.by_ref() {
                    value.push('\n');
                    value.push_str(line);
                    if line.trim_start() == QUOTES {
                        break;
                    }
                }
            }
            pieces.push(Piece::Text(((line.len() - node.len()) / INDENT.len(), value)));
        }
        let texts: BTreeSet<_> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Line(_) => None,
            })
            .collect();
        let depths = texts.iter().map(|(depth, _)| *depth).collect();
        Self { pieces, texts, depths, shown: BTreeSet::new() }
    }

    /// Says that a text was shown.
    pub(super) fn strike(&mut self, text: &str) {
        for depth in &self.depths {
            let text = (*depth, relay_compiler::kdl_text(text, *depth));
            if self.texts.contains(&text) {
                self.shown.insert(text);
            }
        }
    }

    /// Returns what is left.
    pub(super) fn rest(&self) -> String {
        let mut rest = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => rest.push_str(line),
                Piece::Text(text) => {
                    let (depth, value) = text;
                    rest.push_str(&INDENT.repeat(*depth));
                    rest.push_str(NODE);
                    let is_shown = self.shown.contains(text);
                    rest.push_str(if is_shown { "// as above" } else { value });
                }
            }
            rest.push('\n');
        }
        rest
    }
}
