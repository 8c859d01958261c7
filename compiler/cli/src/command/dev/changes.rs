//! The changes of a rebuild in one line: the findings of `relay diff`, counted by area.

use std::collections::BTreeSet;

use relay_diff::{Area, Direction, Finding};

use crate::command::diff;
use crate::text::{printable, shortened};

/// The most things that are named.
const SUBJECTS_MAX: usize = 3;
/// Characters of a thing's name.
const SUBJECT_CHARS_MAX: usize = 60;

/// Returns the counts of findings by area, and the first things that changed.
pub(super) fn summary(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return diff::NO_DIFFERENCE.into();
    }
    let areas = [Area::Authority, Area::Contexts, Area::Surface];
    let counted: Vec<String> = areas.into_iter().filter_map(|area| count(findings, area)).collect();
    // The gravest are first. Several findings may be about one thing.
    let mut known = BTreeSet::new();
    let subjects = findings.iter().map(|finding| &finding.subject);
    let subjects: Vec<String> = subjects
        .filter(|subject| known.insert(*subject))
        .map(|subject| shortened(&printable(&diff::title(subject, "")), SUBJECT_CHARS_MAX))
        .collect();
    let named = subjects.iter().take(SUBJECTS_MAX).cloned().collect::<Vec<_>>().join(", ");
    let more = match subjects.len().saturating_sub(SUBJECTS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} ({named}{more})", counted.join(", "))
}

/// Returns `authority 2 (1 loosens)`, if any finding is of the area.
fn count(findings: &[Finding], area: Area) -> Option<String> {
    let found: Vec<_> = findings.iter().filter(|finding| finding.area == area).collect();
    let loosening =
        found.iter().filter(|finding| finding.direction == Some(Direction::NotProved)).count();
    let loosening = match loosening {
        0 => String::new(),
        some => format!(" ({some} {})", Direction::NotProved.word()),
    };
    let area = diff::area(area).to_lowercase();
    (!found.is_empty()).then(|| format!("{area} {}{loosening}", found.len()))
}
