//! Findings that differ only in their place: the first is drawn, the others are listed below it.
//! Forty files that lack front matter are one fault of their author. The further places of one
//! finding are listed in the same way.

use std::collections::BTreeMap;

use relay_compiler::{Report, Severity};

/// The most equal findings to draw one by one.
const DRAWN_MAX: usize = 3;
/// The most listed places of the others.
const PLACES_MAX: usize = 5;

/// A finding to draw, and those like it, only to list.
pub(super) struct Drawn<'r> {
    pub(super) report: &'r Report,
    pub(super) others: Vec<&'r Report>,
}

/// Returns the findings to draw: errors before warnings, each in the order of files and places.
pub(super) fn drawn(reports: Vec<&Report>) -> Vec<Drawn<'_>> {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for report in &reports {
        *counts.entry(key(report)).or_default() += 1;
    }
    let mut drawn: Vec<Drawn<'_>> = Vec::new();
    let mut first: BTreeMap<_, usize> = BTreeMap::new();
    for report in reports {
        let key = key(report);
        let is_folded = counts.get(&key).is_some_and(|count| *count > DRAWN_MAX);
        let known = first.get(&key).and_then(|index| drawn.get_mut(*index));
        match known.filter(|_| is_folded) {
            Some(known) => known.others.extend(report.all()),
            None => {
                first.insert(key, drawn.len());
                drawn.push(Drawn { report, others: report.others.iter().collect() });
            }
        }
    }
    drawn.sort_by_key(|one| one.report.severity());
    drawn
}

/// Returns the line about undrawn findings, with places as `FILE:LINE` or messages. It
/// may be empty.
pub(super) fn line(places: &[String]) -> String {
    let Some((first, rest)) = places.split_at_checked(PLACES_MAX.min(places.len())) else {
        return String::new();
    };
    if first.is_empty() {
        return String::new();
    }
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more (--format short lists each)"),
    };
    format!("  and {} more like it: {}{more}\n", places.len(), first.join(", "))
}

type Key = (String, String, String, Severity);

fn key(report: &Report) -> Key {
    let help = report.diagnostic.help().map(|help| help.to_string()).unwrap_or_default();
    (report.code(), report.diagnostic.to_string(), help, report.severity())
}
