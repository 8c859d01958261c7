//! Notes on commands: marks that only other programs expand, and unknown keys. Each kind is one
//! warning of a folder.
//!
//! The files are shared with other programs, so notes are not faults.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use super::marks;
use crate::alike::Alike;
use crate::parse::UnknownCommandKey;
use crate::source::{FileId, Sources, Span, Spanned};

/// The most marks, or keys, that a message lists.
const LISTED_MAX: usize = 6;

/// The notes on the commands of one folder.
#[derive(Default)]
pub(super) struct Notes {
    /// The first place of each mark.
    marks: BTreeMap<String, Span>,
    /// The first place of each unknown key that lacks a similar known one.
    unknown: BTreeMap<String, Span>,
    /// The places of each key that is similar to a known one, with that one.
    mistyped: BTreeMap<String, (&'static str, Vec<Span>)>,
}

impl Notes {
    /// Searches the body of a file, which begins at `start`.
    pub(super) fn body(&mut self, sources: &Sources<'_>, file: FileId, start: usize) {
        let source = sources.file(file);
        for found in marks::search(source.bytes.get(start..).unwrap_or_default()) {
            let at = file.span(start + found.at.start, start + found.at.end);
            self.marks.entry(found.mark).or_insert(at);
        }
    }

    /// Takes the keys of a file that are unknown to relay and to clients.
    pub(super) fn unknown_keys(&mut self, keys: Vec<UnknownCommandKey>) {
        for UnknownCommandKey { key: Spanned { value, at }, near } in keys {
            match near {
                Some(near) => {
                    self.mistyped.entry(value).or_insert((near, Vec::new())).1.push(at);
                }
                None => _ = self.unknown.entry(value).or_insert(at),
            }
        }
    }

    /// Reports each note once; a mistyped key is a note of its own.
    pub(super) fn report(self, out: &mut Alike) {
        let Self { marks, unknown, mistyped } = self;
        let (listed, places) = (listed(&marks), in_order(marks));
        for (place, (mark, at)) in places.into_iter().enumerate() {
            let what = if place == 0 { listed.clone() } else { format!("`{mark}`") };
            out.add(at, NotExpanded { what, at }, None);
        }
        let (listed, places) = (self::listed(&unknown), in_order(unknown));
        for (place, (key, at)) in places.into_iter().enumerate() {
            let what = if place == 0 { listed.clone() } else { format!("`{key}`") };
            out.add(at, UnknownKey { what, at }, None);
        }
        for (key, (near, places)) in mistyped {
            for at in places {
                out.add_apart(at, MistypedKey { key: key.clone(), near, at }, &key);
            }
        }
    }
}

/// Returns marks or keys in the order of their places.
fn in_order(found: BTreeMap<String, Span>) -> Vec<(String, Span)> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, at)| *at);
    found
}

/// Returns the list of marks or keys for a message, in the order of their places.
fn listed(found: &BTreeMap<String, Span>) -> String {
    let found = in_order(found.clone());
    let names: Vec<_> =
        found.iter().take(LISTED_MAX).map(|(name, _)| format!("`{name}`")).collect();
    match found.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Other programs replace `$1`, `` !`cmd` `` and `@file` in a command. relay sends them as they
/// are, since a bundle holds only reviewed texts, so an agent reads the mark itself.
#[derive(Debug, Error, Diagnostic)]
#[error("marks of other programs are sent as they are: {what}")]
#[diagnostic(
    code(commands::not_expanded),
    severity(Warning),
    help(
        "relay fills in `$ARGUMENTS` alone: write that, or a `prompt` with an `arg` for each; name the files that the agent shall read and the commands that it shall run"
    )
)]
struct NotExpanded {
    what: String,
    #[label(primary, "the first place")]
    at: Span,
}

/// A command may carry keys of other programs, which relay keeps as they are. These are unknown to
/// relay and to clients.
#[derive(Debug, Error, Diagnostic)]
#[error("no client is known to read {what}")]
#[diagnostic(
    code(commands::unknown_key),
    severity(Warning),
    help("clients get these keys in `_meta`; check their spelling, or remove them")
)]
struct UnknownKey {
    what: String,
    #[label(primary, "the first place")]
    at: Span,
}

/// A mistyped key has no effect in any program.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown key `{key}`")]
#[diagnostic(code(commands::mistyped_key), severity(Warning), help("did you mean `{near}`?"))]
struct MistypedKey {
    key: String,
    near: &'static str,
    #[label(primary, "not a key of any client")]
    at: Span,
}
