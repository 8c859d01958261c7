//! Notes on commands: marks that other programs expand and relay does not, unknown keys, and hints
//! of unused arguments. Each is a warning, once per folder, at its first place.
//!
//! The files are shared with other programs, so notes are not faults.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use miette::Diagnostic;
use regex::bytes::Regex;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Sources, Span, Spanned};

/// A mark that other programs expand: its form, and the remedy.
const MARKS: [(&str, &str); 4] = [
    (
        r"(?-u)(?:^|[^\\$`A-Za-z0-9_])(\$[1-9])(?:[^0-9A-Za-z_]|$)",
        "relay fills in `$ARGUMENTS` alone; write that, or a `prompt` with an `arg` for each; in code it is not looked for",
    ),
    (
        r"(?-u)(?:^|[\s(])(!`[^`\n]+`)",
        "relay runs no command of a prompt: tell the agent to run it",
    ),
    (
        r"(?-u)(?:^|[\s(])(@[A-Za-z0-9_~][A-Za-z0-9_~-]*[./][A-Za-z0-9_./~-]*[A-Za-z0-9_])",
        "relay reads no file for a prompt: tell the agent to read it",
    ),
    (
        r"(?-u)(?:^|[^${`])(\{\{[ \t]*[A-Za-z_][A-Za-z0-9_-]*[ \t]*\}\})",
        "relay fills in `$ARGUMENTS` alone; for a template, write a `prompt` with `template=#true`",
    ),
];

#[expect(clippy::expect_used, reason = "they are constants, and every test runs them")]
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = MARKS.iter().map(|(form, _)| Regex::new(form));
    forms.map(|form| form.expect("a form")).collect()
});

/// The notes on the commands of one folder.
#[derive(Default)]
pub(super) struct Notes {
    /// The first place of each note, and the number of files that have it.
    notes: BTreeMap<Note, (Spanned<String>, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Note {
    /// The number of a mark.
    Mark(usize),
    UnknownKey,
    IdleHint,
}

impl Notes {
    /// Searches the body of a file, which begins at `start`.
    pub(super) fn body(&mut self, sources: &Sources<'_>, file: FileId, start: usize) {
        let source = sources.file(file);
        let bytes = &without_code(source.bytes.get(start..).unwrap_or_default());
        for (index, form) in FORMS.iter().enumerate() {
            let Some(found) = form.captures(bytes).and_then(|found| found.get(1)) else { continue };
            let at = file.span(start + found.start(), start + found.end());
            let value = String::from_utf8_lossy(found.as_bytes()).into_owned();
            self.add(Note::Mark(index), Spanned { value, at });
        }
    }

    /// Takes the keys of a file that have no meaning in relay.
    pub(super) fn unknown_keys(&mut self, keys: Vec<Spanned<String>>) {
        if let Some(first) = keys.into_iter().next() {
            self.add(Note::UnknownKey, first);
        }
    }

    /// Takes the hint of a command whose text takes no argument.
    pub(super) fn idle_hint(&mut self, hint: Spanned<String>) {
        self.add(Note::IdleHint, hint);
    }

    fn add(&mut self, note: Note, first: Spanned<String>) {
        self.notes.entry(note).or_insert((first, 0)).1 += 1;
    }

    /// Reports each note once.
    pub(super) fn report(self, out: &mut Diagnostics) {
        for (note, (Spanned { value, at }, files)) in self.notes {
            let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            match note {
                Note::Mark(index) => {
                    let help = MARKS.get(index).map_or("", |(_, help)| help);
                    out.report(at, NotExpanded { mark: value, files, help, at });
                }
                Note::UnknownKey => out.report(at, UnknownKey { key: value, files, at }),
                Note::IdleHint => out.report(at, IdleHint { files, at }),
            }
        }
    }
}

/// Returns a text with its code made blank: marks in code are meant as text.
fn without_code(text: &[u8]) -> Vec<u8> {
    let mut open = false;
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let fence = line.trim_ascii_start().starts_with(b"```");
        if open || fence {
            kept.extend(line.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
        } else {
            without_spans(line, &mut kept);
        }
        open ^= fence;
    }
    kept
}

/// Adds a line with its spans of code made blank, except for those that another program runs.
fn without_spans(line: &[u8], kept: &mut Vec<u8>) {
    let ticks = |rest: &[u8]| rest.iter().take_while(|byte| **byte == b'`').count();
    let mut at = 0;
    while let Some(byte) = line.get(at).copied() {
        let rest = line.get(at..).unwrap_or_default();
        let opening = ticks(rest);
        let runs = at.checked_sub(1).and_then(|before| line.get(before)) == Some(&b'!');
        // A span ends with as many backticks as it begins with.
        let mut end = opening;
        while opening > 0 && end < rest.len() {
            match ticks(rest.get(end..).unwrap_or_default()) {
                0 => end += 1,
                closing if closing == opening => break,
                other => end += other,
            }
        }
        if opening == 0 || end == rest.len() || runs {
            kept.push(byte);
            at += 1;
        } else {
            kept.resize(kept.len() + end + opening, b' ');
            at += end + opening;
        }
    }
}

/// Other programs replace `$1`, `` !`cmd` `` and `@file` in a command. relay sends them as they
/// are, since a bundle holds only what was reviewed, so an agent reads the mark itself.
#[derive(Debug, Error, Diagnostic)]
#[error("`{mark}` is sent as it is (the like is in {files} of this folder)")]
#[diagnostic(code(commands::not_expanded), severity(Warning), help("{help}"))]
struct NotExpanded {
    mark: String,
    files: String,
    help: &'static str,
    #[label(primary, "the first place")]
    at: Span,
}

/// Commands often carry keys of other programs, which relay keeps and does not understand. A
/// mistyped key looks the same, so each folder gets one warning.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown key `{key}` (keys that relay does not know are in {files} of this folder)")]
#[diagnostic(
    code(commands::unknown_key),
    severity(Warning),
    help(
        "clients get it in `_meta` and nothing else comes of it; check its spelling, or remove it"
    )
)]
struct UnknownKey {
    key: String,
    files: String,
    #[label(primary, "the first place")]
    at: Span,
}

/// The hint asks people for an argument. The text has no place for it, so their input is lost.
#[derive(Debug, Error, Diagnostic)]
#[error("an argument is asked for and never used ({files} of this folder)")]
#[diagnostic(
    code(commands::idle_hint),
    severity(Warning),
    help("write `$ARGUMENTS` where the argument belongs, or remove `argument-hint`")
)]
struct IdleHint {
    files: String,
    #[label(primary, "the first place; the text has no `$ARGUMENTS`")]
    at: Span,
}
