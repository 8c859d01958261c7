//! The marks for unknown text among the bytes of a value.
//!
//! A doubt is a byte of the value itself, so it stays with the value through variables, parameters
//! and pipes.

use std::borrow::Cow;

/// A byte of a value that represents other text. It is never part of UTF-8, and only this module
/// knows its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The value of an outside variable whose name indicates a secret. Headers and the user of a
    /// URL may carry it.
    Credential,
    /// The folder in which the text begins, the root of the work tree.
    Work,
    /// Any text that may hold a secret.
    Secret,
    /// Any text written by another command.
    Output,
    /// Any text, made by the classified text itself from letters that it computes; so unlike `Hole`
    /// it may be an option.
    Made,
    /// The separator of the elements of an array.
    Element,
    /// The user's own home.
    Home,
    /// One character of a file name: `?` or `[…]`.
    Query,
    /// The part of a file name matched by `*`.
    Star,
    /// A text that stays in its folder: a number, a name, a time.
    Name,
    /// Any text.
    Hole,
}

/// The byte of the first mark; the others follow, up to the last possible byte.
const FIRST: u8 = 0xf5;
const CREDENTIAL: u8 = Mark::Credential.byte();
const WORK: u8 = Mark::Work.byte();
const SECRET: u8 = Mark::Secret.byte();
const OUTPUT: u8 = Mark::Output.byte();
const MADE: u8 = Mark::Made.byte();
const ELEMENT: u8 = Mark::Element.byte();
const HOME: u8 = Mark::Home.byte();
const QUERY: u8 = Mark::Query.byte();
const STAR: u8 = Mark::Star.byte();
const NAME: u8 = Mark::Name.byte();
const HOLE: u8 = Mark::Hole.byte();

impl Mark {
    /// Returns the mark with this byte.
    #[inline]
    pub(crate) const fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            CREDENTIAL => Self::Credential,
            WORK => Self::Work,
            SECRET => Self::Secret,
            OUTPUT => Self::Output,
            MADE => Self::Made,
            ELEMENT => Self::Element,
            HOME => Self::Home,
            QUERY => Self::Query,
            STAR => Self::Star,
            NAME => Self::Name,
            HOLE => Self::Hole,
            _ => return None,
        })
    }

    /// Returns the text of this mark alone.
    #[inline]
    pub(crate) const fn text(self) -> &'static [u8] {
        match self {
            Self::Credential => &[CREDENTIAL],
            Self::Work => &[WORK],
            Self::Secret => &[SECRET],
            Self::Output => &[OUTPUT],
            Self::Made => &[MADE],
            Self::Element => &[ELEMENT],
            Self::Home => &[HOME],
            Self::Query => &[QUERY],
            Self::Star => &[STAR],
            Self::Name => &[NAME],
            Self::Hole => &[HOLE],
        }
    }

    /// Returns whether a byte is this mark.
    #[inline]
    pub(crate) const fn is(self, byte: u8) -> bool {
        byte == self.byte()
    }

    /// Returns whether a text holds this mark.
    #[inline]
    pub(crate) fn is_in(self, bytes: &[u8]) -> bool {
        bytes.contains(&self.byte())
    }

    /// Returns whether a text begins with this mark.
    #[inline]
    pub(crate) fn begins(self, bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|first| self.is(*first))
    }

    /// Returns the byte for builders of values.
    #[inline]
    pub(super) const fn byte(self) -> u8 {
        FIRST + self as u8
    }
}

/// Returns the root mark of a path, and the rest of the path.
#[inline]
pub(crate) fn root_of(path: &[u8]) -> Option<(Mark, &[u8])> {
    let (first, rest) = path.split_first()?;
    match Mark::of(*first)? {
        root @ (Mark::Home | Mark::Work) => Some((root, rest)),
        _ => None,
    }
}

/// Returns whether a byte stands for text matched by a pattern of file names.
#[inline]
pub(crate) const fn is_wildcard(byte: u8) -> bool {
    matches!(byte, STAR | QUERY)
}

/// Returns the elements of an array.
#[inline]
pub(crate) fn split_elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == ELEMENT)
}

/// Joins elements to an array.
pub(crate) fn join_elements<E: AsRef<[u8]>>(elements: &[E]) -> Vec<u8> {
    let length = elements.iter().map(|element| element.as_ref().len() + 1).sum();
    let mut joined = Vec::with_capacity(length);
    for (number, element) in elements.iter().enumerate() {
        if number > 0 {
            joined.push(ELEMENT);
        }
        joined.extend_from_slice(element.as_ref());
    }
    joined
}

/// Returns whether a byte is a mark.
pub(crate) const fn is_mark(byte: u8) -> bool {
    byte >= FIRST
}

/// Returns whether a byte stands for any text.
pub(crate) const fn is_hole(byte: u8) -> bool {
    matches!(byte, HOLE | MADE | OUTPUT | SECRET | CREDENTIAL)
}

/// Returns whether a byte stands for text that commands of the classified text make.
pub(crate) const fn is_computed(byte: u8) -> bool {
    matches!(byte, MADE | OUTPUT | SECRET)
}

/// Returns whether a byte stands for a root folder of paths.
pub(crate) const fn is_root(byte: u8) -> bool {
    matches!(byte, HOME | WORK)
}

/// Returns whether words split from a text, at its blanks and punctuation, may be options.
pub(crate) fn may_be_option(bytes: &[u8]) -> bool {
    let mut before = b' ';
    bytes.iter().any(|byte| {
        let begins = !before.is_ascii_alphanumeric();
        before = *byte;
        *byte == MADE || (*byte == b'-' && begins)
    })
}

/// Returns the marks for words split from a text.
pub(crate) fn cut_of(bytes: &[u8]) -> Vec<u8> {
    marks(may_be_option(bytes), bytes)
}

/// Returns the marks for any part of a text.
pub(crate) fn part_of(bytes: &[u8]) -> Vec<u8> {
    marks(bytes.iter().any(|byte| matches!(*byte, b'-' | MADE)), bytes)
}

fn marks(is_option: bool, bytes: &[u8]) -> Vec<u8> {
    let mut marks = vec![if is_option { MADE } else { HOLE }];
    marks.extend([SECRET, CREDENTIAL, OUTPUT].into_iter().find(|mark| bytes.contains(mark)));
    marks
}

/// Returns whether a pattern of `*`, `?` and plain bytes matches a whole text.
pub(crate) fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    // The position of the last `*`, and the text matched by it so far.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut read) = (0, 0);
    while read < text.len() {
        match pattern.get(at) {
            Some(&STAR) => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == QUERY || Some(byte) == text.get(read) => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((from, taken)) = star else { return false };
                star = Some((from, taken + 1));
                at = from + 1;
                read = taken + 1;
            }
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == STAR))
}

/// Returns whether a value is known completely. Root marks count as known.
pub(crate) fn is_exact(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| is_mark(*byte) && !is_root(*byte))
}

/// Returns bytes for people, with `…` for each unknown part.
pub(crate) fn display(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(shown) = str::from_utf8(bytes) {
        return shown.into();
    }
    let mut shown = String::with_capacity(bytes.len() + 2);
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            match *byte {
                STAR => shown.push('*'),
                QUERY => shown.push('?'),
                HOME => shown.push('~'),
                WORK => shown.push('.'),
                OUTPUT | SECRET if shown.ends_with('…') => {}
                _ => shown.push('…'),
            }
        }
    }
    shown.into()
}
