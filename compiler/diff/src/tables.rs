//! Parts of a bundle that contradict its contents.
//!
//! Servers answer from pages, indexes and tables that are derived from the contents. A comparison
//! of contents misses one that was altered before the bundle was signed, so each bundle is compared
//! with the result of its contents, and every difference is a finding, in addition to all others.

use relay_engine::derived::Mismatch;

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Kind};

/// The most parts that a finding names.
const NAMED_MAX: usize = 12;

/// Returns a finding for each side with parts that contradict its contents.
pub fn compare_derived(before: &[Mismatch], after: &[Mismatch]) -> Vec<Finding> {
    let of_before = named(before).map(|names| finding("before", Some(names), None));
    let of_after = named(after).map(|names| finding("after", None, Some(names)));
    of_before.into_iter().chain(of_after).collect()
}

/// Returns the parts in words; `None` for an empty list.
pub fn named(parts: &[Mismatch]) -> Option<String> {
    let (first, rest) = parts.split_at(parts.len().min(NAMED_MAX));
    let mut names = first.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if !rest.is_empty() {
        names.push_str(&format!(", and {} more", rest.len()));
    }
    (!names.is_empty()).then_some(names)
}

fn finding(side: &str, before: Option<String>, after: Option<String>) -> Finding {
    let content = [before.clone(), after.clone()].map(Option::unwrap_or_default);
    let [old, new] = content.each_ref().map(|names| names.as_bytes());
    let meaning = "servers answer from this, and no comparison shows it: the bundle was altered \
                   before it was signed, or another version of relay built it";
    Finding::new(Area::Authority, Kind::Project, "", Change::Value { before, after })
        .direction(Direction::NotProved)
        .part(format!("what the bundle {side} says beside its contents"))
        .meaning(meaning)
        .content(old, new)
}
