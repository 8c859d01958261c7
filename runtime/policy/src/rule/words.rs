//! The words of a call as they are written.
//!
//! Other programs decide by the text of a command. So that a rule can mean exactly the
//! same text, this is certain only in a plain list of commands, joined by `;`, `&`, `|` or newlines.

use super::fit::Fit;
use super::glob::{glob_fit, value_fit};
use crate::effect::{Call, Effects};

/// The most calls of a text that is read; a longer list is uncertain.
const CALLS_MAX: usize = 128;
/// The most bytes of a text that is read; a longer one is uncertain.
const TEXT_BYTES_MAX: usize = 10_000;
/// Characters by which a shell expands, redirects, groups or escapes.
const NOT_PLAIN: &[char] =
    &['$', '`', '\\', '<', '>', '(', ')', '{', '}', '#', '!', '\n', '\r', '\t'];

/// Returns whether the written words of a call match a pattern.
pub(super) fn words_fit(pattern: &str, effects: &Effects, call: &Call, text: &str) -> Fit {
    if let Some(written) = written(effects, call, text) {
        let fit = glob_fit(pattern, written);
        return fit.max(glob_fit(pattern, &plain_spelling(written)).doubted());
    }
    // Any spelling may be meant, of a program that may be the pattern's.
    let program = effects.bytes_of(call.program);
    match pattern.split(' ').next() {
        Some(first) if !first.contains(['*', '?']) => value_fit(first, program).doubted(),
        _ => Fit::Maybe,
    }
}

/// Returns the written words of a call of a plain list of commands.
fn written<'t>(effects: &Effects, call: &Call, text: &'t str) -> Option<&'t str> {
    if !is_plain_list(effects, text) {
        return None;
    }
    let (start, end) = range(effects, call);
    text.get(start..end).filter(|written| !written.contains(NOT_PLAIN))
}

/// Returns the same words without quotes, further blanks and the folder of the program: a rule that
/// restricts holds for these too.
fn plain_spelling(written: &str) -> String {
    let unquoted = written.replace(['\'', '"'], "");
    let words: Vec<&str> = unquoted.split_ascii_whitespace().collect();
    let joined = words.join(" ");
    match words.first().and_then(|program| program.rfind('/')) {
        Some(end) => joined.get(end + 1..).unwrap_or_default().to_owned(),
        None => joined,
    }
}

/// Returns whether a text is its calls and separators between them, and nothing else.
fn is_plain_list(effects: &Effects, text: &str) -> bool {
    let calls = effects.calls();
    if calls.len() > CALLS_MAX || text.len() > TEXT_BYTES_MAX {
        return false;
    }
    let is_separator = |byte: u8| matches!(byte, b' ' | b';' | b'&' | b'|' | b'\n');
    let mut read = 0;
    // Calls are in the order in which they begin.
    for call in calls.iter().filter(|call| call.wrapper.is_none()) {
        let (start, end) = range(effects, call);
        // A call with several readings is in the list several times.
        if start < read && end <= read {
            continue;
        }
        match text.as_bytes().get(read..start) {
            Some(between) if between.iter().all(|byte| is_separator(*byte)) => read = end,
            _ => return false,
        }
    }
    read > 0
        && text.as_bytes().get(read..).is_some_and(|rest| rest.iter().all(|it| is_separator(*it)))
}

/// Returns the bytes of the text from the program of a call to its last word.
fn range(effects: &Effects, call: &Call) -> (usize, usize) {
    let ends = effects.arguments(call).iter().map(|argument| argument.span.end);
    let end = ends.fold(call.span.end, u32::max);
    (call.span.start as usize, end as usize)
}
