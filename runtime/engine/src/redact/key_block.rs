//! Private keys in armour: PEM, OpenSSH, PGP, PuTTY.
//!
//! The key reaches from its first line to its last. Where the last is missing, it reaches as far as
//! lines look like those of a key, so that commands after a text about keys stay.

use std::ops::Range;

use memchr::memmem;

use super::found::Found;
use super::text::{Text, is_blank};

const BEGIN: &[u8] = b"BEGIN ";
const PUTTY_LINES: &[u8] = b"Private-Lines:";
/// The most bytes between `BEGIN` and the dashes after it.
const LABEL_BYTES_MAX: usize = 64;
/// The most bytes of a key with its last line.
const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The fewest characters of a run of base64 in a key without its last line.
const RUN_CHARS_MIN: usize = 16;

/// Adds the private keys of a text.
pub(super) fn scan(text: &Text<'_>, found: &mut Found) {
    let mut from = 0;
    while let Some(at) = text.find_text(from..text.len(), BEGIN) {
        from = at + BEGIN.len();
        if let Some(range) = block(text, at) {
            from = range.end.max(from);
            found.add(range);
        }
    }
    let putty = text.find_text(0..text.len(), b"PuTTY-User-Key-File-");
    if let Some(at) = putty.and_then(|at| text.find_text(at..text.len(), PUTTY_LINES)) {
        found.add(at + PUTTY_LINES.len()..text.len());
    }
}

fn block(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let before = text.get(at.saturating_sub(6)..at);
    let blank = usize::from(before.ends_with(b" "));
    let dashes = before.iter().rev().skip(blank).take_while(|byte| **byte == b'-').count();
    let label_start = at + BEGIN.len();
    let label = text.get(label_start..label_start + LABEL_BYTES_MAX);
    let label_end = label_start + label.iter().take_while(|byte| is_label(**byte)).count();
    let label = label.get(..label_end - label_start).unwrap_or(label);
    let is_private = memmem::find(label, b"PRIVATE KEY").is_some();
    let is_cut = text.is_cut_at(label_end) && dashes >= 4;
    if dashes < 4 || !(is_private || is_cut) {
        return None;
    }
    let body = text.run(label_end, |byte| matches!(byte, b'-' | b' '));
    let start = at - dashes - blank;
    let end = last_line(text, body).or_else(|| {
        // The first line alone is a pattern or a word of a text about keys.
        let end = lines_end(text, body);
        (end > body).then_some(end)
    })?;
    Some(start..end)
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// Returns the end of the last line of a key; `None` if another key begins before it.
fn last_line(text: &Text<'_>, body: usize) -> Option<usize> {
    let far = body.saturating_add(BLOCK_BYTES_MAX);
    let near = body..text.find_text(body..far, BEGIN).unwrap_or(far);
    let end = text
        .find_text(near.clone(), b"--END ")
        .map(|end| end + b"--END ".len())
        .or_else(|| text.find_text(near, b"-- END ").map(|end| end + b"-- END ".len()))?;
    let dashes = text.run(end, is_label);
    Some(text.run(dashes, |byte| byte == b'-'))
}

/// Returns the end of the lines that look like those of a key.
fn lines_end(text: &Text<'_>, body: usize) -> usize {
    let mut end = body;
    loop {
        let (start, has_line) = separator(text, end);
        let run = text
            .run(start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        let length = run - start;
        if has_line && is_header(text, start) {
            end = line_end(text, run);
            continue;
        }
        // The last line of a key may be short.
        let is_last = has_line && !is_blank_or_name(text.at(run)) && length > 0;
        let is_key = length >= RUN_CHARS_MIN
            || (length > 0 && (text.before(run) == b'=' || is_last || run >= text.len()));
        if !is_key {
            return end;
        }
        end = run;
    }
}

/// Returns the end of a line, which may be escaped.
fn line_end(text: &Text<'_>, from: usize) -> usize {
    let mut at = from;
    while at < text.len() {
        at = text.run(at, |byte| byte != b'\n' && byte != b'\\');
        if text.at(at) == b'\n' || matches!(text.at(at + 1), b'n' | b'r') {
            break;
        }
        at += 1;
    }
    at.min(text.len())
}

fn is_header(text: &Text<'_>, start: usize) -> bool {
    let headers: [&[u8]; 4] = [b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:"];
    headers.iter().any(|header| text.has(start, header))
}

fn is_blank_or_name(byte: u8) -> bool {
    (is_blank(byte) && byte != b'\n') || super::text::is_name(byte)
}

/// Returns the place after blanks, line ends and escaped line ends, and whether a line ended.
fn separator(text: &Text<'_>, from: usize) -> (usize, bool) {
    let mut at = from;
    let mut has_line = false;
    loop {
        let byte = text.at(at);
        if at >= text.len() {
            return (at, has_line);
        } else if byte == b'\\' {
            let after = text.run(at, |byte| byte == b'\\');
            if !matches!(text.at(after), b'n' | b'r') {
                return (at, has_line);
            }
            has_line = true;
            at = after + 1;
        } else if is_blank(byte) {
            has_line |= byte == b'\n';
            at += 1;
        } else {
            return (at, has_line);
        }
    }
}
