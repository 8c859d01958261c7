//! Two texts -> their differences, line by line and word by word.
//!
//! The work is bounded: a passage too long for words is gone and new as a whole.

use relay_bundle::lower_case;
use serde::Serialize;
use similar::DiffOp;

use crate::edits::{edit_groups, edits, lines, words};

/// The most lines to compare one by one, of both texts between equal beginning and end.
const LINES_MAX: usize = 4_000;
/// The most bytes of both passages to compare word by word.
const PASSAGE_BYTES_MAX: usize = 16 << 10;
/// Equal lines around a shown difference.
const CONTEXT_LINES: usize = 1;
/// The most characters of a piece: of an equal one, and of a differing one.
const SAME_CHARS_MAX: usize = 160;
const OTHER_CHARS_MAX: usize = 2_000;

/// A passage where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hunk {
    /// Its first line in the second text, from 1.
    pub line: usize,
    /// The passage, piece by piece.
    pub pieces: Vec<Piece>,
    /// The renderings that have it; empty for all.
    pub variants: Vec<String>,
    /// The renderings in which the same words differ, in a passage that is another around them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<String>,
}

/// A piece of a passage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Which of the texts has it.
    pub kind: PieceKind,
    /// Its text, or its beginning and end.
    pub text: String,
    /// How many characters are left out of the middle of it.
    #[serde(skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

/// Which of the texts has a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// Both.
    Same,
    /// The first.
    Gone,
    /// The second.
    New,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Returns the differences of two texts, in the order of the text; empty if they are equal.
pub(crate) fn hunks(a: &str, b: &str) -> Vec<Hunk> {
    if a == b {
        return Vec::new();
    }
    let (a, b) = (lines(a), lines(b));
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - start;
    let equal_from_end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let end = equal_from_end.min(rest);
    if a.len() + b.len() - 2 * (start + end) > LINES_MAX {
        let whole = Passage::of(&a, &b, start..a.len() - end, start..b.len() - end);
        return vec![whole.hunk()];
    }
    let passage = |group: Vec<DiffOp>| {
        let mut passage = Passage::default();
        for op in &group {
            passage.take(&a, &b, op);
        }
        passage.hunk()
    };
    edit_groups(&a, &b, CONTEXT_LINES).into_iter().map(passage).collect()
}

/// Words that forbid something or ask for a person first, in lower case.
const FORBIDDING: [&str; 32] = [
    "never",
    "no",
    "not",
    "don't",
    "don’t",
    "cannot",
    "can't",
    "can’t",
    "won't",
    "won’t",
    "shouldn't",
    "shouldn’t",
    "mustn't",
    "mustn’t",
    "only",
    "stop",
    "ask",
    "must",
    "avoid",
    "refuse",
    "without",
    "before",
    "unless",
    "forbidden",
    "prohibited",
    "denied",
    "require",
    "requires",
    "required",
    "approval",
    "confirm",
    "read-only",
];

/// Returns whether passages take back a rule: they lose a word that forbids, or lose more words
/// than are shown.
pub(crate) fn take_back_a_rule(hunks: &[Hunk]) -> bool {
    let pieces = || hunks.iter().flat_map(|hunk| &hunk.pieces);
    if pieces().any(|piece| piece.kind == PieceKind::Gone && piece.omitted > 0) {
        return true;
    }
    let count = |kind: PieceKind, forbidding: &str| {
        let words = pieces()
            .filter(|piece| piece.kind == kind)
            .flat_map(|piece| piece.text.split_whitespace());
        let words = words.map(|word| word.trim_matches(|it: char| !it.is_alphanumeric()));
        words.filter(|word| lower_case(word) == forbidding).count()
    };
    FORBIDDING.iter().any(|word| count(PieceKind::Gone, word) > count(PieceKind::New, word))
}

/// A passage while it is gathered.
#[derive(Default)]
struct Passage {
    line: usize,
    pieces: Vec<(PieceKind, String)>,
}

impl Passage {
    fn of(
        a: &[&str],
        b: &[&str],
        of_a: std::ops::Range<usize>,
        of_b: std::ops::Range<usize>,
    ) -> Self {
        let mut passage = Self { line: of_b.start + 1, pieces: Vec::new() };
        passage.replaced(&text(a, of_a), &text(b, of_b));
        passage
    }

    fn take(&mut self, a: &[&str], b: &[&str], op: &DiffOp) {
        let (of_a, of_b) = (op.old_range(), op.new_range());
        if self.pieces.is_empty() {
            self.line = of_b.start + 1;
        }
        match op {
            DiffOp::Replace { .. } => self.replaced(&text(a, of_a), &text(b, of_b)),
            _ => self.take_whole(a, b, op),
        }
    }

    /// Adds an operation; a replacement is gone and new as a whole.
    fn take_whole(&mut self, a: &[&str], b: &[&str], op: &DiffOp) {
        if let DiffOp::Equal { .. } = op {
            return self.push(PieceKind::Same, text(b, op.new_range()));
        }
        self.push(PieceKind::Gone, text(a, op.old_range()));
        self.push(PieceKind::New, text(b, op.new_range()));
    }

    /// Adds a replacement, word by word.
    fn replaced(&mut self, a: &str, b: &str) {
        let start = common_start(a, b);
        let (a, b) = (
            a.get(start..).unwrap_or_default(),
            split(b, start, &mut |same| {
                self.push(PieceKind::Same, same.to_owned());
            }),
        );
        let end = common_end(a, b);
        let (a, same) = a.split_at_checked(a.len() - end).unwrap_or((a, ""));
        let b = b.get(..b.len() - end).unwrap_or(b);
        if a.len() + b.len() > PASSAGE_BYTES_MAX {
            self.push(PieceKind::Gone, a.to_owned());
            self.push(PieceKind::New, b.to_owned());
        } else {
            let (a, b) = (words(a), words(b));
            for op in edits(&a, &b) {
                self.take_whole(&a, &b, &op);
            }
        }
        self.push(PieceKind::Same, same.to_owned());
    }

    fn push(&mut self, kind: PieceKind, text: String) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some((last, known)) if *last == kind => known.push_str(&text),
            _ => self.pieces.push((kind, text)),
        }
    }

    fn hunk(self) -> Hunk {
        let Self { line, pieces } = self;
        let pieces = pieces.into_iter().map(|(kind, text)| Piece::of(kind, text)).collect();
        Hunk { line, pieces, variants: Vec::new(), alike: Vec::new() }
    }
}

impl Piece {
    fn of(kind: PieceKind, text: String) -> Self {
        let most = if kind == PieceKind::Same { SAME_CHARS_MAX } else { OTHER_CHARS_MAX };
        let chars = text.chars().count();
        if chars <= most {
            return Self { kind, text, omitted: 0 };
        }
        let half = most / 2;
        let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
        let start = text.get(..at(half)).unwrap_or_default();
        let end = text.get(at(chars - half)..).unwrap_or_default();
        Self { kind, text: format!("{start}…{end}"), omitted: chars - 2 * half }
    }
}

fn text(parts: &[&str], range: std::ops::Range<usize>) -> String {
    parts.get(range).unwrap_or_default().concat()
}

fn split<'t>(text: &'t str, at: usize, before: &mut impl FnMut(&str)) -> &'t str {
    let (start, rest) = text.split_at_checked(at).unwrap_or(("", text));
    before(start);
    rest
}

/// Returns the length in bytes of the words that both texts begin with.
fn common_start(a: &str, b: &str) -> usize {
    let equal = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let is_word_end = |at: &usize| {
        let ends = |text: &str| text.get(..*at).is_some_and(|t| t.ends_with(char::is_whitespace));
        ends(a) && ends(b)
    };
    (1..=equal).rev().find(is_word_end).unwrap_or(0)
}

/// Returns the length in bytes of the words that both texts end with.
fn common_end(a: &str, b: &str) -> usize {
    let equal = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let is_word_start = |end: &usize| {
        let starts = |text: &str| {
            text.get(text.len() - end..).is_some_and(|t| t.starts_with(char::is_whitespace))
        };
        starts(a) && starts(b)
    };
    (1..=equal).rev().find(is_word_start).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(a: &str, b: &str) -> Vec<String> {
        let piece = |piece: &Piece| match piece.kind {
            PieceKind::Same => piece.text.clone(),
            PieceKind::Gone => format!("[-{}-]", piece.text),
            PieceKind::New => format!("{{+{}+}}", piece.text),
        };
        let hunk = |hunk: &Hunk| {
            let text: String = hunk.pieces.iter().map(piece).collect();
            format!("{}: {text}", hunk.line)
        };
        hunks(a, b).iter().map(hunk).collect()
    }

    #[test]
    fn words_are_compared_in_a_line_and_lines_in_a_text() {
        assert_eq!(drawn("a b c\n", "a b c\n"), Vec::<String>::new());
        assert_eq!(
            drawn("Restart it now.", "Restart it later."),
            ["1: Restart it [-now.-]{+later.+}"]
        );
        let text = |word: &str| format!("one\ntwo\nthree {word}\nfour\nfive\n");
        assert_eq!(drawn(&text("x y"), &text("x z")), ["2: two\nthree x [-y-]{+z+}\nfour\n"]);
        assert_eq!(drawn("a\nb\n", "a\nnew\nb\n"), ["1: a\n{+new\n+}b\n"]);
        assert_eq!(drawn("a\nb\nc\nd\ne\n", "a\nb\nd\ne\n"), ["2: b\n[-c\n-]d\n"]);
        assert_eq!(drawn("", "new"), ["1: {+new+}"]);
    }

    #[test]
    fn a_line_of_ten_megabytes_is_one_hunk_that_says_what_it_leaves_out() {
        let long = "word ".repeat(2_000_000);
        let hunks = hunks(&format!("{long}old {long}"), &format!("{long}new {long}"));
        let [hunk] = hunks.as_slice() else { panic!("{} hunks", hunks.len()) };
        let kinds: Vec<_> = hunk.pieces.iter().map(|piece| (piece.kind, piece.omitted)).collect();
        let same = (PieceKind::Same, 9_999_840);
        assert!(kinds.first().is_some_and(|first| *first == same), "{kinds:?}");
        assert!(kinds.contains(&(PieceKind::Gone, 0)) && kinds.contains(&(PieceKind::New, 0)));
        assert!(hunk.pieces.iter().map(|piece| piece.text.len()).sum::<usize>() < 1_000);
    }

    #[test]
    fn letters_of_several_bytes_are_never_split() {
        assert_eq!(drawn("é ü x", "é ö x"), ["1: é [-ü-]{+ö+} x"]);
        assert_eq!(drawn("ü", "ö"), ["1: [-ü-]{+ö+}"]);
    }
}
