//! Words of languages, by which one-line code is read.

use std::collections::BTreeMap;

use relay_policy::facts::{Knowledge, LanguageWords, Role, WordKind};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::reversal;
use crate::shown::Shown;

/// Words that the finding names.
const NAMES_MAX: usize = 8;

/// Compares the words of languages.
pub(super) fn compare(
    a: Option<&Knowledge>,
    b: Option<&Knowledge>,
    shown: &Shown<'_>,
    out: &mut Findings,
) {
    if rows(a) == rows(b) {
        return;
    }
    let (before, after) = (words(a), words(b));
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    let mut changed = Vec::new();
    let mut direction = Direction::Same;
    for key in keys {
        let (old, new) = (before.get(key), after.get(key));
        if old != new {
            let (language, word) = key;
            changed.push(format!("{} `{word}`", language.word()));
            // A harmless word that was removed counts as any other.
            let is_narrower = old == Some(&WordKind::Harmless) && new.is_none();
            direction = direction.and(Direction::narrower_if(is_narrower));
        }
    }
    if changed.is_empty() {
        return;
    }
    let names = changed.get(..NAMES_MAX.min(changed.len())).unwrap_or_default().join(", ");
    let change = Change::Value {
        before: Some(format!("{} words", changed.len())),
        after: Some("read differently".into()),
    };
    let finding = Finding::new(Area::Authority, Kind::Policy, "", change)
        .direction(direction)
        .part("words of languages")
        .content(format!("{before:?}").as_bytes(), format!("{after:?}").as_bytes());
    let more = match changed.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let finding = finding.meaning(format!("{names}{more}"));
    out.push(shown.raised(finding, reversal::of_tiers(shown), []));
}

fn rows(known: Option<&Knowledge>) -> &[LanguageWords] {
    known.map_or(&[], |known| &known.words)
}

fn words(known: Option<&Knowledge>) -> BTreeMap<(Role, &str), WordKind> {
    let rows = rows(known).iter();
    rows.flat_map(|row| row.words.iter().map(move |word| ((row.language, word.as_str()), row.kind)))
        .collect()
}
