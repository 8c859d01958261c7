//! The roles of bytes in words.

#![expect(clippy::indexing_slicing, reason = "the table has an entry for each byte")]

/// It ends a word.
const META: u8 = 1;
/// It may be in the name of a variable.
const NAME: u8 = 2;
/// It is text wherever in a word it is.
const PLAIN: u8 = 4;

/// The roles of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
};

const fn class(byte: u8) -> u8 {
    match byte {
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => META,
        b'\\' | b'\'' | b'"' | b'`' | b'$' | b'*' | b'?' | b'[' | b'~' => 0,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => NAME | PLAIN,
        _ => PLAIN,
    }
}

/// Returns whether a byte ends a word.
pub(super) const fn is_meta(byte: u8) -> bool {
    CLASSES[byte as usize] & META != 0
}

/// Returns whether a byte may be in the name of a variable.
pub(super) const fn is_name_byte(byte: u8) -> bool {
    CLASSES[byte as usize] & NAME != 0
}

/// Returns whether a byte is text wherever in a word it is.
pub(super) const fn is_plain(byte: u8) -> bool {
    CLASSES[byte as usize] & PLAIN != 0
}
