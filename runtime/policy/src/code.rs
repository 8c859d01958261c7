//! Code of other languages, as far as it can be judged honestly.
//!
//! SQL, sed and awk are read by their grammar. Of general languages only a list of harmless words is
//! known; all else is opaque.

pub(crate) mod awk;
pub(crate) mod language;
pub(crate) mod sed;
pub(crate) mod sql;

use crate::tier::Tier;

/// Something that code does, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: What,
}

/// What code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It is this hard to undo.
    Tier(Tier, &'static str),
    /// It is not understood.
    Opaque(&'static str),
    /// It runs what is not literal.
    Unknown(&'static str),
    /// It writes the file that is named here.
    Writes,
    /// It runs this text in a shell.
    Shell,
}

impl Finding {
    const fn new(start: usize, end: usize, what: What) -> Self {
        Self { start, end, what }
    }
}

/// Returns where a quoted text that begins at `start` ends, its closing quote included; the end of the
/// text if it is not closed.
fn quoted_end(text: &[u8], start: usize, quote: u8, escapes: bool) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        if escapes && *byte == b'\\' {
            at += 2;
            continue;
        }
        at += 1;
        if *byte == quote {
            return at;
        }
    }
    text.len()
}

/// Returns whether a byte may be in a word.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
