//! Where a finding is marked in the source of B: the changed line itself, where the source has it.
//!
//! A text in a bundle is not always what its file says: templates print, KDL escapes. So a line is
//! looked for, and what is not found is marked where its declaration begins.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use relay_bundle::Place;
use relay_compiler::{SourceFile, Sources};
use relay_diff::{Change, Finding, Hunk, PieceKind};

/// The sources of both sides, as far as they have some.
#[derive(Clone, Copy)]
pub(crate) struct Anchors<'s> {
    pub(crate) a: Option<&'s Sources<'s>>,
    pub(crate) b: Option<&'s Sources<'s>>,
}

impl Anchors<'_> {
    /// Returns the line of B that a finding is about; `None` if it is about none. What is gone is
    /// marked at the block that it stood in.
    pub(crate) fn of(&self, finding: &Finding) -> Option<Place> {
        let Some(declared) = &finding.places.b else {
            return finding.places.a.as_ref().and_then(|gone| self.block_of(gone));
        };
        let changed = match &finding.change {
            Change::Text { hunks } => hunks.iter().find_map(|hunk| self.changed(hunk, declared)),
            _ => None,
        };
        Some(changed.unwrap_or_else(|| declared.clone()))
    }

    /// Returns the line of a passage that changed.
    fn changed(&self, hunk: &Hunk, declared: &Place) -> Option<Place> {
        let file = file(self.b?, &declared.file)?;
        let text = file.text().ok()?;
        let expected = declared.line as usize + hunk.line.saturating_sub(1);
        let as_it_is = wanted(hunk).iter().find_map(|wanted| nearest(text, wanted, expected));
        let line = as_it_is.or_else(|| self.resembling(hunk, declared, text))?;
        Some(Place { file: declared.file.clone(), line: number(line), column: 1 })
    }

    /// Returns the line, from 1, that A's file does not have and that has the most of a passage's
    /// new words: that of a template, which prints between them.
    fn resembling(&self, hunk: &Hunk, declared: &Place, text: &str) -> Option<usize> {
        let before = file(self.a?, &declared.file)?;
        let known: BTreeSet<&str> = before.text().ok()?.lines().collect();
        let new = hunk.pieces.iter().filter(|piece| piece.kind == PieceKind::New);
        let words: Vec<&str> = new.flat_map(|piece| piece.text.split_whitespace()).collect();
        let lines = text.lines().zip(1usize..).filter(|(line, _)| !known.contains(line));
        let scored = lines.filter_map(|(line, number)| {
            let count = words.iter().filter(|word| line.contains(*word)).count();
            (number >= declared.line as usize && count > 0).then_some((count, Reverse(number)))
        });
        scored.max().map(|(_, Reverse(number))| number)
    }

    /// Returns the line of B that opens the block in which A has something.
    fn block_of(&self, gone: &Place) -> Option<Place> {
        let (before, after) = (file(self.a?, &gone.file)?, file(self.b?, &gone.file)?);
        let (before, after) = (before.text().ok()?, after.text().ok()?);
        let above: Vec<&str> = before.lines().take(gone.line as usize).collect();
        let (line, above) = above.split_last()?;
        let mut depth = indentation(line);
        for (number, line) in above.iter().enumerate().rev() {
            if line.trim().is_empty() || indentation(line) >= depth {
                continue;
            }
            depth = indentation(line);
            if let Some(found) = nearest(after, line.trim(), number + 1) {
                return Some(Place {
                    file: gone.file.clone(),
                    line: self::number(found),
                    column: 1,
                });
            }
        }
        None
    }
}

fn file(sources: &Sources<'_>, path: &str) -> Option<Arc<SourceFile>> {
    Some(sources.file(sources.load(path).ok()?))
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).count()
}

/// Returns the line, from 1, that says this and is nearest to the one that is expected.
fn nearest(text: &str, wanted: &str, expected: usize) -> Option<usize> {
    let lines = text.lines().zip(1usize..).filter(|(line, _)| line.trim() == wanted);
    lines.map(|(_, number)| number).min_by_key(|number| number.abs_diff(expected))
}

/// Returns the lines by which a passage is found in the second text: those with something new, then
/// those around what is gone.
fn wanted(hunk: &Hunk) -> Vec<String> {
    let mut lines = vec![Line::default()];
    for piece in &hunk.pieces {
        let is_whole = piece.omitted == 0;
        if piece.kind == PieceKind::Gone {
            if let Some(line) = lines.last_mut() {
                line.is_near_gone = true;
            }
            continue;
        }
        for (index, part) in piece.text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Line::default());
            }
            if let Some(line) = lines.last_mut() {
                line.text.push_str(part);
                line.is_cut |= !is_whole;
                line.is_new |= piece.kind == PieceKind::New && !part.trim().is_empty();
            }
        }
    }
    let named = |is: fn(&Line) -> bool| {
        let lines = lines.iter().filter(move |line| is(line) && !line.is_cut);
        lines.map(|line| line.text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    named(|line| line.is_new).chain(named(|line| line.is_near_gone)).collect()
}

/// A line of the second text, as a passage shows it.
#[derive(Default)]
struct Line {
    text: String,
    is_new: bool,
    is_near_gone: bool,
    is_cut: bool,
}
