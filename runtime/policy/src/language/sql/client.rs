//! Commands of `psql`, `mysql` and `sqlite3` outside of SQL.

use super::super::finding::{Finding, What, quoted_end};
use super::tokens::line_end;
use crate::effect::{Act, Touch};

/// Commands of psql that take the rest of their line.
const WHOLE: &[&str] = &["\\!", "\\copy", "\\h", "\\help", "\\ef", "\\ev", "\\sf", "\\sv"];

/// Letters of mysql after which reading goes on within the line; those of `SHORT_VALUED` take the
/// rest of it as a value.
const SHORT: &[u8] = b"ceGgqpnts#WwxC";
const SHORT_VALUED: &[u8] = b"hrduPRT!.?";

/// A command of a client, and its value.
struct Command {
    start: usize,
    value: usize,
    end: usize,
}

impl Command {
    fn add(&self, from: usize, what: What, findings: &mut Vec<Finding>) {
        findings.push(Finding::new(from, self.end, what));
    }

    /// Notes a command for a shell.
    fn runs(&self, from: usize, findings: &mut Vec<Finding>) {
        self.add(self.start, What::Does(Act::RunsCommand), findings);
        self.add(from, What::Shell, findings);
    }

    /// Notes the value as a file to write, or as a command if it begins with `|`.
    fn output(&self, text: &[u8], findings: &mut Vec<Finding>) {
        let open = usize::from(matches!(text.get(self.value), Some(b'\'' | b'"')));
        if text.get(self.value + open) == Some(&b'|') {
            let shell = self.value + open + 1;
            self.add(self.start, What::Does(Act::RunsCommand), findings);
            let end = if open > 0 { last_word(text, self.value, self.end).1 } else { self.end };
            findings.push(Finding::new(shell, end.max(shell), What::Shell));
        } else if self.value < self.end {
            let (from, to) = last_word(text, self.value, self.end);
            if text.get(from) == Some(&b'-') {
                self.add(self.start, What::Opaque("it opens another program"), findings);
            }
            findings.push(Finding::new(from, to, What::Touches(Touch::Write)));
        }
    }
}

/// Returns the last word of a line, without its quotes.
fn last_word(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let span = text.get(start..end).unwrap_or(&[]).trim_ascii_end();
    let end = start + span.len();
    match span.split_last() {
        Some((quote @ (b'\'' | b'"'), rest)) => {
            let open = rest.iter().rposition(|byte| byte == quote);
            (start + open.map_or(0, |at| at + 1), end - 1)
        }
        _ => {
            let blank = span.iter().rposition(u8::is_ascii_whitespace);
            (start + blank.map_or(0, |at| at + 1), end)
        }
    }
}

/// Returns the name of a command, its length, and the start of its value.
fn name(text: &[u8], start: usize, end: usize) -> (String, usize) {
    let line = text.get(start..end).unwrap_or(&[]);
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'?' | b'+' | b'_');
    let length = 1 + line.iter().skip(1).take_while(|byte| is_name(byte)).count();
    // For `\!cmd`, the blank is optional.
    let length = if line.starts_with(b"\\!") { 2 } else { length };
    let name = String::from_utf8_lossy(line.get(..length).unwrap_or(line)).into_owned();
    (name, start + length.min(line.len()))
}

fn value(text: &[u8], at: usize, end: usize) -> usize {
    let rest = text.get(at..end).unwrap_or(&[]);
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Judges a command of psql; returns where reading goes on: at the end of the line, or at the next
/// unquoted backslash.
pub(super) fn psql(text: &[u8], start: usize, findings: &mut Vec<Finding>) -> usize {
    if text.get(start + 1) == Some(&b'\\') {
        return start + 2;
    }
    let line = line_end(text, start);
    let (name, after) = name(text, start, line);
    let name = name.as_str();
    let value = value(text, after, line);
    let is_piped = text.get(value) == Some(&b'|');
    let is_whole = is_piped || WHOLE.contains(&name);
    let end = if is_whole { line } else { arguments(text, start, after, line, findings) };
    let command = Command { start, value: value.min(end), end };
    let rest = text.get(after..end).unwrap_or(&[]);
    match name {
        "\\!" => command.runs(value, findings),
        "\\i" | "\\ir" | "\\include" | "\\include_relative" => {
            command.add(start, What::Opaque("it runs code from a file"), findings);
        }
        "\\gexec" => command.add(start, What::Unknown("it runs what a query makes"), findings),
        "\\o" | "\\out" | "\\w" | "\\write" | "\\g" | "\\gx" | "\\s" => {
            command.output(text, findings);
        }
        "\\copy" => copy(text, &command, after, findings),
        "\\q" | "\\x" | "\\h" | "\\help" | "\\?" | "\\timing" | "\\pset" | "\\conninfo"
        | "\\echo" | "\\qecho" | "\\warn" | "\\encoding" | "\\a" | "\\t" | "\\l" | "\\l+"
        | "\\z" | "\\sv" | "\\sf" | "\\c" | "\\connect" | "\\watch" | "\\G" | "\\u" | "\\f"
        | "\\H" | "\\errverbose" | "\\set" | "\\unset" | "\\p" | "\\r" | "\\gdesc" | "\\C"
        | "\\T" => {
            if rest.contains(&b'|') && name.starts_with("\\g") {
                command.add(start, What::Unknown("it runs a program"), findings);
            }
        }
        _ if name.starts_with("\\d") => {}
        _ => command.add(start, What::Opaque("this command of the client is not known"), findings),
    }
    end
}

/// Returns the end of the arguments of a command of psql; text between backticks runs in a shell.
fn arguments(
    text: &[u8],
    start: usize,
    after: usize,
    line: usize,
    findings: &mut Vec<Finding>,
) -> usize {
    let mut at = after;
    while at < line {
        let from = at;
        match text.get(at) {
            Some(b'\\') => return at,
            Some(quote @ (b'\'' | b'"')) => {
                at = quoted_end(text, at, *quote, *quote == b'\'').min(line);
            }
            Some(b'`') => {
                at = quoted_end(text, at, b'`', false).min(line);
                findings.push(Finding::new(start, at, What::Does(Act::RunsCommand)));
                let end = if text.get(at - 1) == Some(&b'`') { at - 1 } else { at };
                findings.push(Finding::new(from + 1, end.max(from + 1), What::Shell));
            }
            _ => at += 1,
        }
    }
    line
}

fn copy(text: &[u8], command: &Command, after: usize, findings: &mut Vec<Finding>) {
    let rest = text.get(after..command.end).unwrap_or(&[]);
    let lower = rest.to_ascii_lowercase();
    let is_from = lower.windows(6).any(|part| part == b" from ") && !lower.contains(&b'(');
    if lower.windows(7).any(|part| part == b"program") {
        command.add(command.start, What::Unknown("it runs a program"), findings);
    } else if is_from {
        command.add(command.start, What::Does(Act::AddsRows), findings);
    } else {
        match copied_to(rest) {
            // The target is standard output.
            Some(None) => {}
            Some(Some((from, to))) => {
                findings.push(Finding::new(after + from, after + to, What::Touches(Touch::Write)));
            }
            None if lower.windows(6).any(|part| part == b" from ") => {
                command.add(command.start, What::Does(Act::AddsRows), findings);
            }
            None => {
                let reason = "it is not clear where it writes";
                command.add(command.start, What::Unknown(reason), findings);
            }
        }
    }
}

/// Returns the range of the path that `\copy … to` writes: `Some(None)` for standard output, `None`
/// if there is no path.
fn copied_to(rest: &[u8]) -> Option<Option<(usize, usize)>> {
    let lower = rest.to_ascii_lowercase();
    let to = lower.windows(4).rposition(|part| part == b" to ")? + 4;
    let path = lower.get(to..)?;
    let blanks = path.iter().take_while(|byte| **byte == b' ').count();
    let path = path.get(blanks..)?;
    let start = to + blanks;
    if path.starts_with(b"stdout") || path.starts_with(b"pstdout") {
        return Some(None);
    }
    let (open, length) = match path.split_first()? {
        (b'\'', quoted) => (1, quoted.iter().position(|byte| *byte == b'\'')?),
        _ => (0, path.iter().position(|byte| matches!(byte, b' ' | b';')).unwrap_or(path.len())),
    };
    (length > 0).then_some(Some((start + open, start + open + length)))
}

/// Judges a command of mysql, a backslash and a letter; returns where reading goes on.
pub(super) fn mysql(text: &[u8], start: usize, findings: &mut Vec<Finding>) -> usize {
    let letter = text.get(start + 1).copied().unwrap_or(0);
    let line = line_end(text, start);
    if SHORT.contains(&letter) {
        return start + 2;
    }
    if !SHORT_VALUED.contains(&letter) {
        return start + 1;
    }
    let command = Command { start, value: value(text, start + 2, line), end: line };
    // A letter that is another command in psql is uncertain.
    if matches!(letter, b'P') && matches!(text.get(start + 2), Some(b' ')) {
        command.runs(command.value, findings);
    }
    if letter == b'!' {
        return line;
    }
    let rest = text.get(start..line).unwrap_or(&[]);
    start + rest.iter().position(|byte| *byte == b';').unwrap_or(rest.len())
}

/// Judges a line of sqlite3 that begins with `.`.
pub(super) fn sqlite(text: &[u8], start: usize, findings: &mut Vec<Finding>) -> usize {
    let end = line_end(text, start);
    let (name, after) = name(text, start, end);
    let command = Command { start, value: value(text, after, end), end };
    let rest = text.get(after..end).unwrap_or(&[]);
    let open = usize::from(matches!(text.get(command.value), Some(b'\'' | b'"')));
    let is_piped = text.get(command.value + open) == Some(&b'|');
    match name.as_str() {
        ".shell" | ".system" => command.runs(command.value, findings),
        ".read" | ".import" if is_piped => {
            let shell = command.value + open + 1;
            let quote = text.get(command.value).copied().unwrap_or(0);
            let to = match open {
                0 => end,
                _ => quoted_end(text, command.value, quote, false).saturating_sub(1).min(end),
            };
            command.add(start, What::Does(Act::RunsCommand), findings);
            findings.push(Finding::new(shell, to.max(shell), What::Shell));
        }
        ".read" | ".load" => {
            command.add(start, What::Opaque("it runs code from a file"), findings);
        }
        ".output" | ".once" | ".backup" | ".save" | ".clone" | ".log" => {
            command.output(text, findings);
        }
        ".open" if rest.windows(4).any(|part| part == b"-new") => {
            let (from, to) = last_word(text, command.value, end);
            findings.push(Finding::new(from, to, What::Touches(Touch::Write)));
            command.add(start, What::Does(Act::EmptiesDatabase), findings);
        }
        ".import" => command.add(start, What::Does(Act::AddsRows), findings),
        ".restore" => {
            command.add(start, What::Does(Act::ReplacesDatabase), findings);
        }
        ".tables" | ".schema" | ".mode" | ".headers" | ".header" | ".databases" | ".indexes"
        | ".indices" | ".quit" | ".exit" | ".help" | ".width" | ".separator" | ".nullvalue"
        | ".timer" | ".dump" | ".explain" | ".stats" | ".show" | ".open" | ".bail" | ".echo"
        | ".eqp" | ".fullschema" | ".print" | ".changes" | ".dbinfo" | ".timeout" | ".lint"
        | ".version" | ".sha3sum" | ".dbtotxt" | ".limit" | ".vfsname" | ".vfslist"
        | ".connection" => {}
        _ => command.add(start, What::Opaque("this command of the client is not known"), findings),
    }
    end
}
