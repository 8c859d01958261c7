//! The skills of one call, before and after.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Skill};
use relay_engine::cascade::{self, Question};

use crate::finding::{Called, TOKEN_BYTES};

/// The most calls that two bundles are asked for.
pub(super) const CALLS_MAX: usize = 16_384;

/// The skills of one side.
pub(super) struct Side<'b> {
    bundle: &'b Bundle,
    /// In the order of the cascade.
    skills: Vec<Given>,
}

/// A skill of a call.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Given {
    label: String,
    text: String,
}

/// The difference in the skills of a call.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference<'s> {
    lost: Vec<&'s str>,
    gained: Vec<&'s str>,
    changed: Vec<&'s str>,
    reordered: bool,
    /// Bytes more or fewer.
    bytes: i64,
}

pub(super) fn serves_nothing(bundle: &Bundle) -> bool {
    bundle.skill_count() + bundle.prompt_count() + bundle.tools().len() == 0
}

pub(super) fn skills(bundle: &Bundle) -> Result<Vec<Skill>, Corrupt> {
    bundle.skills().map(|skill| skill?.to_owned()).collect()
}

impl<'b> Side<'b> {
    pub(super) fn of(bundle: &'b Bundle, skills: Vec<Skill>) -> Self {
        let given = |skill: Skill| Given {
            label: skill.label(),
            text: skill.text.value.trim_end().to_owned(),
        };
        Self { bundle, skills: skills.into_iter().map(given).collect() }
    }

    /// Returns the skills of a call, in their order.
    pub(super) fn given(&self, question: Question<'_>) -> Result<Vec<&Given>, Corrupt> {
        let matched = cascade::resolve(self.bundle, question)?.matched;
        let winners = matched.into_iter().filter(|matched| matched.overridden_by.is_none());
        let given = winners.filter_map(|matched| self.skills.get(matched.skill as usize));
        Ok(given.filter(|given| !given.text.is_empty()).collect())
    }
}

impl<'s> Difference<'s> {
    /// Returns the difference of two lists of skills; `None` if they give the same text.
    pub(super) fn of(before: &[&'s Given], after: &[&'s Given]) -> Option<Self> {
        if before.iter().map(|given| &given.text).eq(after.iter().map(|given| &given.text)) {
            return None;
        }
        // The skills of one side that the other lacks, or has with another text.
        let only = |side: &[&'s Given], other: &[&'s Given]| -> BTreeSet<&'s str> {
            let other: BTreeSet<&Given> = other.iter().copied().collect();
            let differing = side.iter().filter(|given| !other.contains(*given));
            differing.map(|given| given.label.as_str()).collect()
        };
        let (old, new) = (only(before, after), only(after, before));
        let kept = |side: &[&'s Given], gone: &BTreeSet<&str>| -> Vec<&'s str> {
            let labels = side.iter().map(|given| given.label.as_str());
            labels.filter(|label| !gone.contains(label)).collect()
        };
        let lost: BTreeSet<&str> = old.difference(&new).copied().collect();
        let gained: BTreeSet<&str> = new.difference(&old).copied().collect();
        let changed: Vec<&str> = old.intersection(&new).copied().collect();
        // Two skills with one label can change places.
        let are_same = lost.is_empty() && gained.is_empty() && changed.is_empty();
        Some(Self {
            reordered: are_same || kept(before, &lost) != kept(after, &gained),
            bytes: size(after) - size(before),
            changed,
            lost: lost.into_iter().collect(),
            gained: gained.into_iter().collect(),
        })
    }

    /// Returns the same, with the calls that differ so.
    pub(super) fn of_calls(&self, calls: Vec<String>) -> Called {
        let Self { lost, gained, changed, reordered, bytes } = self;
        let owned = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
        Called {
            calls,
            bytes: *bytes,
            tokens_estimated: bytes / TOKEN_BYTES,
            lost: owned(lost),
            gained: owned(gained),
            changed: owned(changed),
            reordered: *reordered,
        }
    }
}

/// Returns the bytes of the skills, each with a line feed. So the difference is independent of the
/// other skills of a call.
fn size(given: &[&Given]) -> i64 {
    let bytes: usize = given.iter().map(|given| given.text.len() + 1).sum();
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
