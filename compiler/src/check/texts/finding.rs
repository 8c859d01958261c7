//! The searches of one text.

use std::ops::Range;

use relay_bundle::Suppressed;
use relay_engine::invisible::{self, Kind};

use crate::secret::{self, Found};
use crate::source::SourceFile;

/// The most runs of invisible characters that are reported of one text.
const INVISIBLE_MAX: usize = 20;

/// The contents that a text may not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Forbidden {
    Secret,
    Invisible,
}

impl Forbidden {
    /// Returns the contents that a suppression admits; `None` for one of marks, which are searched
    /// where commands are read.
    pub(super) fn of(suppressed: Suppressed) -> Option<Self> {
        match suppressed {
            Suppressed::Secret => Some(Self::Secret),
            Suppressed::Invisible => Some(Self::Invisible),
            Suppressed::Mark => None,
        }
    }
}

/// A forbidden part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// The search that found it.
    pub(super) of: Forbidden,
    /// The form of a secret, or the kind of characters.
    pub(super) rule: &'static str,
    pub(super) range: Range<usize>,
}

/// Returns the findings in a text.
pub(super) fn search(text: &str) -> Vec<Finding> {
    // Authors who write for agents may include a password that agents need, so sentences that give
    // one are searched too.
    let mut found: Vec<_> = secret::search_all(text.as_bytes()).into_iter().map(finding).collect();
    found.extend(hidden(text));
    found
}

/// Returns the findings in a text that repeats others. Sentences are left out: they were searched
/// in the others, and pages of lists and the canonical source have the marks of an assignment
/// everywhere.
pub(super) fn search_again(text: &str) -> Vec<Finding> {
    let mut found: Vec<_> = secret::search(text.as_bytes()).into_iter().map(finding).collect();
    found.extend(hidden(text));
    found
}

/// Returns the findings in a file, of a text if `is_text`.
///
/// A byte order mark at its beginning and the form of its line ends are dropped when it is read.
pub(super) fn search_file(file: &SourceFile, is_text: bool) -> Vec<Finding> {
    let mut found: Vec<_> = file.secrets().iter().cloned().map(finding).collect();
    if let (true, Ok(text)) = (is_text, file.text()) {
        let is_dropped = |found: &Finding| {
            let letters = text.get(found.range.clone()).unwrap_or_default();
            let is_mark = letters == "\u{feff}" && found.range.start == 0;
            is_mark || letters.chars().all(|letter| letter == '\r')
        };
        found.extend(hidden(text).filter(|found| !is_dropped(found)));
    }
    found
}

/// Returns the names of a search's findings, sorted.
pub(super) fn rule_names(of: Forbidden) -> Vec<&'static str> {
    match of {
        Forbidden::Secret => secret::rule_names(),
        Forbidden::Invisible => Kind::ALL.into_iter().map(Kind::name).collect(),
    }
}

fn finding(Found { rule, range, value: _ }: Found) -> Finding {
    Finding { of: Forbidden::Secret, rule, range }
}

fn hidden(text: &str) -> impl Iterator<Item = Finding> {
    invisible::search(text).into_iter().take(INVISIBLE_MAX).map(|found| Finding {
        of: Forbidden::Invisible,
        rule: found.kind.name(),
        range: found.range,
    })
}
