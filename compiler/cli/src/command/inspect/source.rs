//! The effective project as KDL, without the texts that the canonical form already contains: one
//! changed word in a prompt must be one changed line of a diff.
//!
//! A text is struck only if it is printed elsewhere verbatim, so that nothing is hidden from a review.

use std::collections::BTreeSet;

const INDENT: &str = "    ";
const NODE: &str = "text ";
const QUOTES: &str = "\"\"\"";

/// The project as KDL while texts are struck from it.
pub(super) struct Source<'k> {
    pieces: Vec<Piece<'k>>,
    /// Depth and value of every text.
    texts: BTreeSet<(usize, String)>,
    /// The distinct depths of texts; few, since the language nests little.
    depths: BTreeSet<usize>,
    /// The struck texts, with their depth, as written in the project.
    struck: BTreeSet<(usize, String)>,
}

enum Piece<'k> {
    Line(&'k str),
    /// A node `text`: its depth, and its value as written.
    Text((usize, String)),
}

impl<'k> Source<'k> {
    /// Splits the effective project, as the compiler writes it, into pieces.
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
        Self { pieces, texts, depths, struck: BTreeSet::new() }
    }

    /// Strikes a text that is printed elsewhere.
    pub(super) fn strike(&mut self, text: &str) {
        for depth in &self.depths {
            let text = (*depth, relay_compiler::kdl_text(text, *depth));
            if self.texts.contains(&text) {
                self.struck.insert(text);
            }
        }
    }

    /// Returns the KDL without the struck texts.
    pub(super) fn rest(&self) -> String {
        let mut rest = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Line(line) => rest.push_str(line),
                Piece::Text(text) => {
                    let (depth, value) = text;
                    rest.push_str(&INDENT.repeat(*depth));
                    rest.push_str(NODE);
                    let is_struck = self.struck.contains(text);
                    rest.push_str(if is_struck { "// as above" } else { value });
                }
            }
            rest.push('\n');
        }
        rest
    }
}
