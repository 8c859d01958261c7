//! The actions of code, and helpers to read it.

use crate::effect::{Act, Touch};
use crate::value::is_computed;

/// An action of code, and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: What,
}

/// The kind of an action of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// It does a named action.
    Does(Act),
    /// It is not understood.
    Opaque(&'static str),
    /// It runs code that is not literal.
    Unknown(&'static str),
    /// It reads the file named here.
    Reads,
    /// It may read any file.
    ReadsAny,
    /// It does this to the file named here.
    Touches(Touch),
    /// It may do this to any file.
    TouchesAny(Touch),
    /// It runs this text in a shell.
    Shell,
    /// It runs this text in a shell and writes the input of that shell.
    Fed,
    /// It runs a program whose words are the quoted texts here.
    Words,
}

impl Finding {
    pub(super) const fn new(start: usize, end: usize, what: What) -> Self {
        Self { start, end, what }
    }
}

/// Returns the end of a quoted text that begins at `start`, its closing quote included; the end of
/// the text if the quote is not closed.
pub(super) fn quoted_end(text: &[u8], start: usize, quote: u8, escapes: bool) -> usize {
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

/// Returns the findings of a program of sed or awk with a part that commands of the text make: it may end
/// the expression that it stands in, and go on with any code. A variable from outside counts as a value.
pub(super) fn computed(text: &[u8]) -> Vec<Finding> {
    let Some(start) = text.iter().position(|byte| is_computed(*byte)) else { return Vec::new() };
    let what = What::Unknown("a part of this program is the output of a command");
    [what, What::ReadsAny, What::TouchesAny(Touch::Write)]
        .map(|what| Finding::new(start, start + 1, what))
        .to_vec()
}

/// Returns whether a byte may be in a word.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
