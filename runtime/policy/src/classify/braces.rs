//! Braces: one word -> the words that it stands for.

use super::classifier::Code;
use crate::span::Span;
use crate::syntax::Part;
use crate::text::NAME;

/// The most words that braces may make of one.
const BRACES_MAX: usize = 64;

/// A byte of a word without quotes, or a part of it.
#[derive(Clone, Copy)]
pub(super) enum Atom<'c> {
    Byte(u8, u32),
    Made(u8, Span),
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
    let mut open = vec![word];
    let mut work = 0;
    while let Some(word) = open.pop() {
        work += word.len();
        if done.len() + open.len() > BRACES_MAX || work > BRACES_MAX * 256 {
            return None;
        }
        let Some((start, end, alternatives)) = first_brace(&word) else {
            done.push(word);
            continue;
        };
        let (before, after) = (word.get(..start)?, word.get(end..)?);
        if alternatives.len() > BRACES_MAX {
            return None;
        }
        // The last one is taken next, so that the order is kept.
        for alternative in alternatives.into_iter().rev() {
            let mut made = before.to_vec();
            made.extend(alternative);
            made.extend(after);
            open.push(made);
        }
    }
    Some(done)
}

/// Where a brace expression begins and ends, and what it stands for.
type Braces<'c> = (usize, usize, Vec<Vec<Atom<'c>>>);

/// Returns the first brace expression of a word.
fn first_brace<'c>(word: &[Atom<'c>]) -> Option<Braces<'c>> {
    let byte = |at: usize| match word.get(at) {
        Some(Atom::Byte(byte, _)) => *byte,
        _ => 0,
    };
    // Where the open braces begin, and where their commas are.
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
                    // One inside another is not the first.
                    first.take_if(|(inner, ..)| *inner > start);
                    first.get_or_insert((start, at, commas));
                }
            }
            _ => {}
        }
        // None that is still to end can begin before it.
        if first.is_some() && open.is_empty() {
            break;
        }
    }
    let (start, end, mut commas) = first?;
    if commas.len() == 1 {
        return Some((start, end + 1, range(word.get(start + 1..end)?)?));
    }
    commas.push(end);
    let between = commas.iter().zip(commas.iter().skip(1));
    let alternatives =
        between.filter_map(|(from, to)| Some(word.get(from + 1..*to)?.to_vec())).collect();
    Some((start, end + 1, alternatives))
}

/// Returns what `1..5` or `a..e` between braces stands for. A long range of numbers is one number that
/// is not known.
fn range<'c>(inside: &[Atom<'c>]) -> Option<Vec<Vec<Atom<'c>>>> {
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
            return Some(vec![vec![Atom::Made(NAME, span)]]);
        }
        let (from, to) = (low.min(high), low.max(high));
        return Some((from..=to).map(|number| made(number.to_string())).collect());
    }
    let (&[low], &[high]) = (low.as_bytes(), high.as_bytes()) else { return None };
    if !low.is_ascii_alphabetic() || !high.is_ascii_alphabetic() {
        return None;
    }
    let letters = low.min(high)..=low.max(high);
    Some(letters.map(|letter| made(char::from(letter).to_string())).collect())
}
