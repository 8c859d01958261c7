//! The marks that stand for text which is not known, among the bytes of a value.
//!
//! A doubt is a byte of the value itself, so it stays with the value through variables, parameters and pipes.

use std::borrow::Cow;

/// Stands for any text. Like the other marks it is a byte that no UTF-8 text holds.
pub(crate) const HOLE: u8 = 0xff;
/// Stands for a text that cannot leave its folder: a number, a name, a time.
pub(crate) const NAME: u8 = 0xfe;
/// Stands for what `*` matches in a file name.
pub(crate) const STAR: u8 = 0xfd;
/// Stands for one character of a file name: `?` or `[…]`.
pub(crate) const QUERY: u8 = 0xfc;
/// Stands for one's own home.
pub(crate) const HOME: u8 = 0xfb;

/// Is between the elements of an array.
pub(crate) const ELEMENT: u8 = 0xfa;
/// Stands for any text, like `HOLE`; but the classified text itself makes it, of letters that it does not
/// show as they are, so it may be an option too.
pub(crate) const MADE: u8 = 0xf9;

/// Stands for any text that another command wrote.
pub(crate) const OUTPUT: u8 = 0xf8;
/// Stands for any text that may hold a secret.
pub(crate) const SECRET: u8 = 0xf7;
/// Stands for the folder that the text begins in, the root of the work tree.
pub(crate) const WORK: u8 = 0xf6;

/// Returns whether a byte stands for other text.
pub(crate) const fn is_mark(byte: u8) -> bool {
    byte >= WORK
}

/// Returns whether a byte stands for any text.
pub(crate) const fn is_hole(byte: u8) -> bool {
    matches!(byte, HOLE | MADE | OUTPUT | SECRET)
}

/// Returns whether a byte stands for a folder that paths begin with.
pub(crate) const fn is_root(byte: u8) -> bool {
    matches!(byte, HOME | WORK)
}

/// Returns whether words that are cut out of a text, at its blanks and punctuation, may be options.
pub(crate) fn may_be_option(bytes: &[u8]) -> bool {
    let mut before = b' ';
    bytes.iter().any(|byte| {
        let begins = !before.is_ascii_alphanumeric();
        before = *byte;
        *byte == MADE || (*byte == b'-' && begins)
    })
}

/// Returns the marks for words that are cut out of a text.
pub(crate) fn cut_of(bytes: &[u8]) -> Vec<u8> {
    marks(may_be_option(bytes), bytes)
}

/// Returns the marks for any part of a text.
pub(crate) fn part_of(bytes: &[u8]) -> Vec<u8> {
    marks(bytes.iter().any(|byte| matches!(*byte, b'-' | MADE)), bytes)
}

fn marks(is_option: bool, bytes: &[u8]) -> Vec<u8> {
    let mut marks = vec![if is_option { MADE } else { HOLE }];
    marks.extend([SECRET, OUTPUT].into_iter().find(|mark| bytes.contains(mark)));
    marks
}

/// Returns whether a pattern of `*`, `?` and plain bytes matches a whole text.
pub(crate) fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    // Where the last `*` was, and how much of the text it has taken.
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

/// Returns whether all of a value is known: the folders that paths begin with are.
pub(crate) fn is_exact(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| is_mark(*byte) && !is_root(*byte))
}

/// Returns bytes for people: what is not known is `…`.
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
