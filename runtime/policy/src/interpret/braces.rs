//! Braces: one word -> the words that it expands to.

use super::machine::Code;
use crate::span::Span;
use crate::syntax::Part;
use crate::value::Mark;

/// The most words from the braces of one word.
const BRACES_MAX: usize = 512;
/// The most bytes that are read for them.
const WORK_MAX: usize = 16 * 1024;
/// The most words that a shell may make of one word; each number of a range counts.
const WORDS_MAX: u64 = 1_000_000;

/// A byte of a word without quotes, or a part of it.
#[derive(Clone, Copy)]
pub(super) enum Atom<'c> {
    Byte(u8, u32),
    Made(u8, Span),
    Mark(Mark, Span),
    Part(&'c Part),
}

/// Returns the bytes and parts of a word.
pub(super) fn atoms<'c>(code: &Code<'c>, parts: &'c [Part]) -> Vec<Atom<'c>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Bare(span) => {
                let bytes = code.slice(*span).bytes();
                atoms.extend((span.start..).zip(bytes).map(|(at, byte)| Atom::Byte(byte, at)));
            }
            other => atoms.push(Atom::Part(other)),
        }
    }
    atoms
}

/// Expands the braces of a word; `None` if there are too many.
pub(super) fn braces(word: Vec<Atom<'_>>) -> Option<Vec<Vec<Atom<'_>>>> {
    let mut done = Vec::new();
    // Each with the number of words that it represents, since a long range of numbers is one entry.
    let mut open = vec![(word, 1u64)];
    let mut work = 0;
    let mut words = 0u64;
    while let Some((word, count)) = open.pop() {
        work += word.len();
        if done.len() + open.len() > BRACES_MAX || work > WORK_MAX || words > WORDS_MAX {
            return None;
        }
        let Some(Braces { start, end, alternatives, numbers }) = first_brace(&word) else {
            words = words.saturating_add(count);
            done.push(word);
            continue;
        };
        let count = count.saturating_mul(numbers);
        let (before, after) = (word.get(..start)?, word.get(end..)?);
        if alternatives.len() > BRACES_MAX {
            return None;
        }
        // The last one is taken next; the reverse order keeps the words in order.
        for alternative in alternatives.into_iter().rev() {
            let mut made = before.to_vec();
            made.extend(alternative);
            made.extend(after);
            open.push((made, count));
        }
    }
    (words <= WORDS_MAX).then_some(done)
}

/// A brace expression.
struct Braces<'c> {
    start: usize,
    end: usize,
    /// The texts that it expands to.
    alternatives: Vec<Vec<Atom<'c>>>,
    /// The number of values that the only alternative represents.
    numbers: u64,
}

/// Returns the first brace expression of a word.
fn first_brace<'c>(word: &[Atom<'c>]) -> Option<Braces<'c>> {
    let byte = |at: usize| match word.get(at) {
        Some(Atom::Byte(byte, _)) => *byte,
        _ => 0,
    };
    // The positions of the open braces, and of their commas.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<(usize, usize, Vec<usize>)> = None;
    for at in 0..word.len() {
        match byte(at) {
            b'{' => open.push((at, vec![at])),
            b',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            b'}' => {
                let Some((start, commas)) = open.pop() else { continue };
                let inside = word.get(start + 1..at).unwrap_or(&[]);
                if commas.len() > 1 || range(inside).is_some() {
                    // The outer of two nested expressions is the first.
                    first.take_if(|(inner, ..)| *inner > start);
                    first.get_or_insert((start, at, commas));
                }
            }
            _ => {}
        }
        // A later expression begins after the first one.
        if first.is_some() && open.is_empty() {
            break;
        }
    }
    let (start, end, mut commas) = first?;
    if commas.len() == 1 {
        let Range { alternatives, numbers } = range(word.get(start + 1..end)?)?;
        return Some(Braces { start, end: end + 1, alternatives, numbers });
    }
    commas.push(end);
    let between = commas.iter().zip(commas.iter().skip(1));
    let alternatives =
        between.filter_map(|(from, to)| Some(word.get(from + 1..*to)?.to_vec())).collect();
    Some(Braces { start, end: end + 1, alternatives, numbers: 1 })
}

/// The texts that `1..5` between braces expands to.
struct Range<'c> {
    alternatives: Vec<Vec<Atom<'c>>>,
    numbers: u64,
}

/// Returns the expansion of `1..5` or `a..e` between braces. A long range of numbers becomes one
/// unknown number.
fn range<'c>(inside: &[Atom<'c>]) -> Option<Range<'c>> {
    let mut text = Vec::new();
    let mut span = None;
    for atom in inside {
        let Atom::Byte(byte, at) = atom else { return None };
        if matches!(byte, b'{' | b'}') {
            return None;
        }
        text.push(*byte);
        let here = Span { start: *at, end: at + 1 };
        span = Some(span.map_or(here, |span: Span| span.to(here)));
    }
    let text = str::from_utf8(&text).ok()?;
    let mut ends = text.split("..");
    let (low, high) = (ends.next()?, ends.next()?);
    let step = ends.next().map(str::parse::<i64>);
    if ends.next().is_some() || step.is_some_and(|step| step.is_err()) {
        return None;
    }
    let span = span?;
    let made = |text: String| text.bytes().map(|byte| Atom::Made(byte, span)).collect::<Vec<_>>();
    if let (Ok(low), Ok(high)) = (low.parse::<i64>(), high.parse::<i64>()) {
        let count = high.abs_diff(low);
        if count >= 8 {
            let alternatives = vec![vec![Atom::Mark(Mark::Name, span)]];
            return Some(Range { alternatives, numbers: count.saturating_add(1) });
        }
        let (from, to) = (low.min(high), low.max(high));
        let alternatives = (from..=to).map(|number| made(number.to_string())).collect();
        return Some(Range { alternatives, numbers: 1 });
    }
    let (&[low], &[high]) = (low.as_bytes(), high.as_bytes()) else { return None };
    if !low.is_ascii_alphabetic() || !high.is_ascii_alphabetic() {
        return None;
    }
    let letters = low.min(high)..=low.max(high);
    let alternatives = letters.map(|letter| made(char::from(letter).to_string())).collect();
    Some(Range { alternatives, numbers: 1 })
}
