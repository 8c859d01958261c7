//! The mark of a finding in the source of B: the changed line itself, if the source has it.
//!
//! A text in a bundle may differ from its file: templates print, KDL escapes. So a line is searched
//! for, and if it is missing the finding is marked where its declaration begins.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use relay_bundle::Place;
use relay_compiler::Sources;
use relay_diff::{Change, Finding, Hunk, PieceKind};

/// Files of a side whose lines are kept.
const FILES_MAX: usize = 64;
/// The most lines after a declaration to try for one that resembles the change.
const LINES_TRIED_MAX: usize = 1_000;

/// The sources of both sides, if they have some, with the lines of each file in use: many findings
/// are about one file.
pub(crate) struct Anchors<'s> {
    a: Option<Indexed<'s>>,
    b: Option<Indexed<'s>>,
}

/// The sources of one side.
struct Indexed<'s> {
    sources: &'s Sources<'s>,
    files: RefCell<BTreeMap<String, Option<Rc<Lines>>>>,
}

/// The lines of a file.
struct Lines {
    /// Each line, trimmed.
    texts: Vec<String>,
    /// The line, from 0, that opens the block around each line.
    parents: Vec<Option<usize>>,
    /// The lines, from 1, with the same text.
    numbers: HashMap<String, Vec<usize>>,
}

impl<'s> Anchors<'s> {
    pub(crate) fn new(a: Option<&'s Sources<'s>>, b: Option<&'s Sources<'s>>) -> Self {
        let indexed = |sources| Indexed { sources, files: RefCell::default() };
        Self { a: a.map(indexed), b: b.map(indexed) }
    }

    /// Returns the line of B for a finding, if it has one. A gone thing is marked at the block that
    /// contained it.
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

    /// Returns the line of a changed passage.
    fn changed(&self, hunk: &Hunk, declared: &Place) -> Option<Place> {
        let lines = self.b.as_ref()?.lines(&declared.file)?;
        let expected = declared.line as usize + hunk.line.saturating_sub(1);
        let as_it_is = wanted(hunk).iter().find_map(|wanted| lines.nearest(wanted, expected));
        let line = as_it_is.or_else(|| self.resembling(hunk, declared, &lines))?;
        Some(place(&declared.file, line))
    }

    /// Returns the line, from 1, that A's file lacks and that has the most of a passage's new
    /// words: that of a template, which prints between them.
    fn resembling(&self, hunk: &Hunk, declared: &Place, lines: &Lines) -> Option<usize> {
        let before = self.a.as_ref()?.lines(&declared.file)?;
        let new = hunk.pieces.iter().filter(|piece| piece.kind == PieceKind::New);
        let words: Vec<&str> = new.flat_map(|piece| piece.text.split_whitespace()).collect();
        let start = (declared.line as usize).saturating_sub(1);
        let near = lines.texts.iter().zip(1usize..).skip(start).take(LINES_TRIED_MAX);
        let scored = near.filter(|(line, _)| !before.numbers.contains_key(*line)).filter_map(
            |(line, number)| {
                let count = words.iter().filter(|word| line.contains(*word)).count();
                (count > 0).then_some((count, Reverse(number)))
            },
        );
        scored.max().map(|(_, Reverse(number))| number)
    }

    /// Returns the line of B that opens the block around a line of A.
    fn block_of(&self, gone: &Place) -> Option<Place> {
        let before = self.a.as_ref()?.lines(&gone.file)?;
        let after = self.b.as_ref()?.lines(&gone.file)?;
        let mut line = (gone.line as usize).checked_sub(1)?;
        while let Some(parent) = before.parents.get(line).copied().flatten() {
            let text = before.texts.get(parent)?;
            if let Some(found) = after.nearest(text, parent + 1) {
                return Some(place(&gone.file, found));
            }
            line = parent;
        }
        None
    }
}

impl Indexed<'_> {
    fn lines(&self, path: &str) -> Option<Rc<Lines>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let file = self.sources.load(path).ok().map(|id| self.sources.file(id));
        let lines = file.and_then(|file| Some(Rc::new(Lines::of(file.text().ok()?))));
        let mut files = self.files.borrow_mut();
        if files.len() >= FILES_MAX {
            files.clear();
        }
        files.insert(path.into(), lines.clone());
        lines
    }
}

impl Lines {
    fn of(text: &str) -> Self {
        let (mut texts, mut parents) = (Vec::new(), Vec::new());
        let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
        // The lines that enclose the next one, each further in than the one before.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let (trimmed, depth) = (line.trim(), indentation(line));
            if !trimmed.is_empty() {
                while open.last().is_some_and(|(other, _)| *other >= depth) {
                    open.pop();
                }
            }
            parents.push(open.last().map(|(_, parent)| *parent));
            if !trimmed.is_empty() {
                open.push((depth, index));
                numbers.entry(trimmed.into()).or_default().push(index + 1);
            }
            texts.push(trimmed.to_owned());
        }
        Self { texts, parents, numbers }
    }

    /// Returns the line, from 1, with this text that is nearest to the expected one.
    fn nearest(&self, wanted: &str, expected: usize) -> Option<usize> {
        let numbers = self.numbers.get(wanted)?;
        let at = numbers.partition_point(|number| *number < expected);
        let around = [at.checked_sub(1), Some(at)].into_iter().flatten();
        let known = around.filter_map(|at| numbers.get(at).copied());
        known.min_by_key(|number| number.abs_diff(expected))
    }
}

fn place(file: &str, line: usize) -> Place {
    Place { file: file.into(), line: u32::try_from(line).unwrap_or(u32::MAX), column: 1 }
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).count()
}

/// Returns the lines that locate a passage in the second text: those with something new, then those
/// around gone text.
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

/// A line of the second text in a passage.
#[derive(Default)]
struct Line {
    text: String,
    is_new: bool,
    is_near_gone: bool,
    is_cut: bool,
}
