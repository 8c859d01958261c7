//! Characters that only a model sees: to a human reader of a text they are invisible.
//!
//! [`search`] finds them in a text for agents, [`visible`] writes them as `\u{…}` in a text for
//! people; both use the same table. Characters required by their neighbours are exempt: a joiner of
//! Persian or Hindi, the joiner and the selectors of an emoji, the tags of three flags.

mod context;
mod table;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub use table::Kind;

/// The flags made of tags: the only texts that need tags.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Adjacent invisible characters of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The kind of all these characters.
    pub kind: Kind,
    /// The range of their bytes.
    pub range: Range<usize>,
}

/// Returns the invisible characters of a text, in order.
#[must_use]
pub fn search(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    each(text, &mut |at, letter, kind| {
        let end = at + letter.len_utf8();
        match found.last_mut().filter(|last| last.range.end == at && last.kind == kind) {
            Some(last) => last.range.end = end,
            None => found.push(Found { kind, range: at..end }),
        }
    });
    found
}

/// Returns a text with each invisible character as `\u{…}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, &|letter, out| out.extend(letter.escape_unicode()))
}

/// Returns equivalent JSON text with each invisible character as `\uXXXX`: some readers end a line
/// at U+2028 and U+0085.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escaped(json, &|letter, out| {
        // White space between the tokens of JSON may hold the line end `\r\n`.
        if letter == '\r' {
            return out.push(letter);
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Returns the ASCII text spelled by tag characters; `None` if the text has other characters.
#[must_use]
pub fn spelled(text: &str) -> Option<String> {
    let ascii = |letter: char| match u32::from(letter) {
        code @ 0xe0020..=0xe007e => char::from_u32(code - 0xe0000),
        _ => None,
    };
    text.chars().map(ascii).collect()
}

/// Displays a character by its code point, with its name if well known.
#[must_use]
pub fn named(letter: char) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        write!(f, "U+{:04X}", u32::from(letter))?;
        match (table::name(letter), u32::from(letter)) {
            (Some(name), _) => write!(f, " {name}"),
            (None, code @ 0xe0021..=0xe007e) => {
                let ascii = char::from_u32(code - 0xe0000).unwrap_or_default();
                let size = match ascii {
                    'a'..='z' => "LATIN SMALL LETTER ",
                    'A'..='Z' => "LATIN CAPITAL LETTER ",
                    _ => "",
                };
                write!(f, " TAG {size}{}", ascii.to_ascii_uppercase())
            }
            (None, _) => Ok(()),
        }
    })
}

fn escaped<'t>(text: &'t str, write: &dyn Fn(char, &mut String)) -> Cow<'t, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    each(text, &mut |at, letter, _| {
        escaped.push_str(text.get(copied..at).unwrap_or_default());
        write(letter, &mut escaped);
        copied = at + letter.len_utf8();
    });
    if copied == 0 {
        return text.into();
    }
    escaped.push_str(text.get(copied..).unwrap_or_default());
    escaped.into()
}

/// Calls `take` with the place of each invisible character, the character and its kind.
fn each(text: &str, take: &mut dyn FnMut(usize, char, Kind)) {
    if is_plain(text.as_bytes()) {
        return;
    }
    // The end of the current flag, whose tags are exempt.
    let mut flag_end = 0;
    let mut before = context::Before::default();
    let mut next = 0;
    while let Some(rest) = text.get(next..) {
        // Most of a text in another language than English is ASCII as well.
        if let Some(eight) = rest.as_bytes().first_chunk()
            && is_graphic(*eight)
        {
            before = context::Before::of(char::from(eight[7]));
            next += eight.len();
            continue;
        }
        let Some(letter) = rest.chars().next() else { return };
        let at = next;
        next += letter.len_utf8();
        if letter.is_ascii() && !letter.is_ascii_control() {
            before = context::Before::of(letter);
            continue;
        }
        if let Some(flag) = FLAGS.iter().find(|flag| rest.starts_with(**flag)) {
            flag_end = at + flag.len();
        }
        let Some(kind) = table::kind(letter).filter(|_| at >= flag_end) else {
            before = context::Before::of(letter);
            continue;
        };
        let after = rest.chars().nth(1);
        let is_needed = context::is_needed(letter, &before, after);
        before = before.then(letter, is_needed);
        if !is_needed {
            take(at, letter, kind);
        }
    }
}

/// Returns whether a text is printable ASCII with tabs and line feeds alone, as most are.
fn is_plain(bytes: &[u8]) -> bool {
    let is_plain_byte = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let is_plain = |eight: &[u8; 8]| is_graphic(*eight) || eight.iter().all(is_plain_byte);
    match bytes.last_chunk() {
        Some(last) => bytes.as_chunks().0.iter().all(is_plain) && is_plain(last),
        None => bytes.iter().all(is_plain_byte),
    }
}

/// Returns whether eight bytes are printable ASCII.
fn is_graphic(eight: [u8; 8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = EACH << 7;
    let word = u64::from_le_bytes(eight);
    // A byte below a blank borrows, a delete character carries, and a non-ASCII byte has the high
    // bit.
    let (below, above) = (word.wrapping_sub(EACH * 0x20), word.wrapping_add(EACH));
    (word | below | above) & HIGH == 0
}
