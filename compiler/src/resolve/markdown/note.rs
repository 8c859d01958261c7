//! Notes on commands: marks that other programs expand and relay does not, and unknown keys. Each
//! kind is one warning of a folder. An `allow-mark` says that marks of a kind are meant as text.
//!
//! The files are shared with other programs, so notes are not faults.

use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use thiserror::Error;

use super::marks::{self, MarkKind};
use crate::alike::Alike;
use crate::ast::Allowed;
use crate::diagnostic::Diagnostics;
use crate::parse::UnknownCommandKey;
use crate::source::{FileId, Sources, Span, Spanned};

/// The most marks, or keys, that a message lists.
const LISTED_MAX: usize = 6;

/// The notes on the commands of one folder.
#[derive(Default)]
pub(super) struct Notes {
    /// The suppressions for marks of some kinds.
    allowed: Vec<Allowed>,
    /// The kinds of the marks that were found.
    kinds: BTreeSet<MarkKind>,
    /// The first place of each mark that is not allowed.
    marks: BTreeMap<MarkKind, BTreeMap<String, Span>>,
    /// The first place of each unknown key without a similar known one.
    unknown: BTreeMap<String, Span>,
    /// The places of each key that is similar to a known one, with that one.
    mistyped: BTreeMap<String, (&'static str, Vec<Span>)>,
    /// The names of tools that are similar to a known one, with that one.
    pub(super) tools: Vec<(Spanned<String>, &'static str)>,
}

impl Notes {
    /// Begins with the suppressions of the folder.
    pub(super) fn new(allowed: Vec<Allowed>) -> Self {
        Self { allowed, ..Self::default() }
    }

    /// Searches the body of a file, which begins at `start`. Returns the suppressions that it needs.
    pub(super) fn body(
        &mut self,
        sources: &Sources<'_>,
        file: FileId,
        start: usize,
    ) -> Vec<Allowed> {
        let source = sources.file(file);
        let mut found = BTreeSet::new();
        for mark in marks::search(source.bytes().get(start..).unwrap_or_default()) {
            found.insert(mark.kind);
            if !self.allowed.iter().any(|allowed| allowed.rule.value == mark.kind.name()) {
                let at = file.span(start + mark.at.start, start + mark.at.end);
                self.marks.entry(mark.kind).or_default().entry(mark.mark).or_insert(at);
            }
        }
        let is_needed = |it: &&Allowed| found.iter().any(|kind| kind.name() == it.rule.value);
        let needed = self.allowed.iter().filter(is_needed).cloned().collect();
        self.kinds.extend(found);
        needed
    }

    /// Takes the keys of a file that neither relay nor a client is known to read.
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

    /// Reports each note once; a mistyped key is a note of its own. A suppression is idle only if all
    /// files could be read.
    pub(super) fn report(self, is_whole: bool, alike: &mut Alike, out: &mut Diagnostics) {
        let Self { allowed, kinds, marks, unknown, mistyped, tools } = self;
        for Allowed { of: _, rule: Spanned { value, at }, because: _ } in allowed {
            if MarkKind::ALL.iter().all(|kind| kind.name() != value) {
                let known = MarkKind::ALL.map(MarkKind::name);
                let help = match nearest(&value, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the kinds are: {}", known.join(", ")),
                };
                out.report(at, UnknownMarkKind { kind: value, help, at });
            } else if kinds.iter().any(|kind| kind.name() == value) || !is_whole {
                out.mark_used(at);
            } else {
                out.report_idle(at, IdleMark { kind: value, at });
            }
        }
        for (kind, marks) in marks {
            let kind = kind.name();
            let (listed, places) = (listed(&marks), in_order(marks));
            for (place, (mark, at)) in places.into_iter().enumerate() {
                let what = if place == 0 { listed.clone() } else { format!("`{mark}`") };
                alike.add_apart(at, NotExpanded { what, kind, at }, kind);
            }
        }
        let (listed, places) = (self::listed(&unknown), in_order(unknown));
        for (place, (key, at)) in places.into_iter().enumerate() {
            let what = if place == 0 { listed.clone() } else { format!("`{key}`") };
            alike.add(at, UnknownKey { what, at }, None);
        }
        for (key, (near, places)) in mistyped {
            for at in places {
                alike.add_apart(at, MistypedKey { key: key.clone(), near, at }, &key);
            }
        }
        for (Spanned { value, at }, near) in tools {
            alike.add_apart(at, MistypedTool { tool: value.clone(), near, at }, &value);
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
#[error("marks of other programs are sent as they are ({kind}): {what}")]
#[diagnostic(
    code(commands::not_expanded),
    severity(Warning),
    help(
        "relay fills in `$ARGUMENTS` alone: write that, or a `prompt` with an `arg` for each; name the files that the agent shall read and the commands that it shall run; if agents shall read the marks, write `allow-mark {kind} because=\"…\"`"
    )
)]
struct NotExpanded {
    what: String,
    kind: &'static str,
    #[label(primary, "the first place")]
    at: Span,
}

/// A suppression is for one kind of marks. With a mistyped name it would suppress nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown kind `{kind}` of marks")]
#[diagnostic(code(commands::unknown_mark_kind))]
struct UnknownMarkKind {
    kind: String,
    #[help]
    help: String,
    #[label(primary, "not known")]
    at: Span,
}

/// An idle suppression would hide the next mark of its kind.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-mark {kind}` suppresses nothing")]
#[diagnostic(code(commands::idle_suppression), severity(Warning), help("remove it"))]
struct IdleMark {
    kind: String,
    #[label(primary, "no command has such marks")]
    at: Span,
}

/// A command may carry keys of other programs and of its authors, which relay keeps and does not understand. No
/// client is known to read these, and the command works without.
#[derive(Debug, Error, Diagnostic)]
#[error("no client is known to read {what}")]
#[diagnostic(
    code(commands::unknown_key),
    severity(Advice),
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

/// A mistyped tool is not allowed, or is allowed in spite of the list. A client has tools of its servers and
/// extensions too, so a name that is close to no known one is taken as it is.
#[derive(Debug, Error, Diagnostic)]
#[error("no client is known to have a tool `{tool}`")]
#[diagnostic(code(commands::mistyped_tool), severity(Warning), help("did you mean `{near}`?"))]
struct MistypedTool {
    tool: String,
    near: &'static str,
    #[label(primary, "in this list of tools")]
    at: Span,
}
