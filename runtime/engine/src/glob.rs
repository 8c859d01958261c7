//! Patterns of names: `*` any run of characters, `?` one character, `[..]` one of a set, `[!..]`
//! one of all others.
//!
//! A pattern matches a whole name, and case counts. A set lists characters and ranges (`a-z`); it
//! ends at the first `]`, and a `-` at its end is literal. Matching reads the pattern as written,
//! so loading a bundle is free of it; the time is at most the product of both lengths.

use std::ops::RangeInclusive;

use thiserror::Error;

/// The reason why a pattern is invalid, with the byte of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GlobError {
    /// It is empty, and would match only an empty name.
    #[error("the pattern is empty")]
    Empty,
    /// The end of a set is missing.
    #[error("`[` begins a set that no `]` ends")]
    Unclosed(usize),
    /// A set is empty.
    #[error("the set has no members")]
    EmptySet(usize),
    /// A range ends before it begins.
    #[error("the range ends before it begins")]
    Reversed(usize),
}

/// One part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part<'p> {
    /// `*`: any run of characters, even an empty one.
    Run,
    /// `?`: any character.
    Any,
    /// A literal character.
    Literal(char),
    /// `[..]`: a character of a set.
    Set(Set<'p>),
}

impl Part<'_> {
    /// Returns whether the part matches a character.
    #[must_use]
    pub fn has(&self, letter: char) -> bool {
        match self {
            Self::Run | Self::Any => true,
            Self::Literal(literal) => *literal == letter,
            Self::Set(set) => set.ranges().any(|range| range.contains(&letter)) != set.negated,
        }
    }
}

/// A set of characters, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Set<'p> {
    /// Whether it matches the characters outside its list.
    pub negated: bool,
    /// The listed characters.
    members: &'p str,
}

impl Set<'_> {
    /// Returns the listed ranges; a single character is a range of one.
    pub fn ranges(&self) -> impl Iterator<Item = RangeInclusive<char>> {
        let mut rest = self.members;
        std::iter::from_fn(move || {
            let (range, after) = first_range(rest)?;
            rest = after;
            Some(range)
        })
    }
}

/// Checks a pattern.
///
/// # Errors
///
/// The pattern is invalid; see [`GlobError`].
pub fn check(pattern: &str) -> Result<(), GlobError> {
    if pattern.is_empty() {
        return Err(GlobError::Empty);
    }
    let mut rest = pattern;
    while !rest.is_empty() {
        let at = pattern.len() - rest.len();
        let (part, after) = first_part(rest).ok_or(GlobError::Unclosed(at))?;
        if let Part::Set(set) = part {
            // The members end one byte, the `]`, before the rest of the pattern.
            check_set(set.members, at, pattern.len() - after.len() - 1)?;
        }
        rest = after;
    }
    Ok(())
}

fn check_set(members: &str, start: usize, end: usize) -> Result<(), GlobError> {
    if members.is_empty() {
        return Err(GlobError::EmptySet(start));
    }
    let mut rest = members;
    while let Some((range, after)) = first_range(rest) {
        if range.is_empty() {
            return Err(GlobError::Reversed(end - rest.len()));
        }
        rest = after;
    }
    Ok(())
}

/// Returns the parts of a pattern that [`check`] accepts.
pub fn parts(pattern: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        let (part, after) = first_part(rest)?;
        rest = after;
        Some(part)
    })
}

/// Returns whether a pattern matches exactly one name: itself.
#[must_use]
pub fn is_name(pattern: &str) -> bool {
    parts(pattern).all(|part| matches!(part, Part::Literal(_)))
}

/// Returns whether a pattern that [`check`] accepts matches the whole of a name.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    // Most patterns already differ in their first or last character.
    let differs = |of_pattern: Option<&u8>, of_name: Option<&u8>| {
        of_pattern
            .is_some_and(|byte| byte.is_ascii() && !b"*?[]".contains(byte) && of_name != Some(byte))
    };
    let (all, of_name) = (pattern.as_bytes(), name.as_bytes());
    if differs(all.first(), of_name.first()) || differs(all.last(), of_name.last()) {
        return false;
    }
    let (mut pattern, mut name) = (pattern, name);
    // The point to retry if the rest after the last run fails: the run then takes one more
    // character.
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if let Some(after) = pattern.strip_prefix('*') {
            retry = Some((after, name));
            pattern = after;
            continue;
        }
        let mut rest = name.chars();
        let fits = match rest.next() {
            None if pattern.is_empty() => return true,
            None => None,
            Some(letter) => first_part(pattern).filter(|(part, _)| part.has(letter)),
        };
        if let Some((_, after)) = fits {
            (pattern, name) = (after, rest.as_str());
            continue;
        }
        let Some((after, from)) = retry else { return false };
        let mut skipped = from.chars();
        if skipped.next().is_none() {
            return false;
        }
        (pattern, name) = (after, skipped.as_str());
        retry = Some((after, name));
    }
}

/// Returns the first part of a pattern and the rest; `None` at the end, and for an unclosed set.
fn first_part(pattern: &str) -> Option<(Part<'_>, &str)> {
    let mut rest = pattern.chars();
    let part = match rest.next()? {
        '*' => Part::Run,
        '?' => Part::Any,
        '[' => {
            let (set, after) = rest.as_str().split_once(']')?;
            let (negated, members) = match set.strip_prefix('!') {
                Some(members) => (true, members),
                None => (false, set),
            };
            return Some((Part::Set(Set { negated, members }), after));
        }
        literal => Part::Literal(literal),
    };
    Some((part, rest.as_str()))
}

/// Returns the first range of a set's members and the rest.
fn first_range(members: &str) -> Option<(RangeInclusive<char>, &str)> {
    let mut rest = members.chars();
    let first = rest.next()?;
    let mut ahead = rest.clone();
    match (ahead.next(), ahead.next()) {
        (Some('-'), Some(last)) => Some((first..=last, ahead.as_str())),
        _ => Some((first..=first, rest.as_str())),
    }
}
