//! A skill that another of its topic overrides for everyone.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::matching::overlap::Overlap;
use crate::matching::selectors::Comparisons;
use crate::model::Model;
use crate::source::Span;

/// Wherever it matches, a later skill of its topic matches too and wins, so its text is always left
/// out.
#[derive(Debug, Error, Diagnostic)]
#[error("skill `{name}` is overridden by `{winner}` in every call")]
#[diagnostic(
    code(skill::shadowed),
    severity(Warning),
    help("remove it, give it another topic, or narrow `{winner}`")
)]
struct SkillShadowed {
    name: String,
    winner: String,
    #[label("matches wherever the other does, and comes later")]
    winner_at: Span,
    #[label(primary, "no call is given this text")]
    at: Span,
}

/// One topic has so many skills with patterns that comparing all of them would take the build too
/// long.
#[derive(Debug, Error, Diagnostic)]
#[error("whether `{name}` and skills before it are overridden in every call is not known")]
#[diagnostic(
    code(skill::not_compared),
    severity(Warning),
    help("too many skills of one topic ask for tools by patterns: give them more topics")
)]
struct NotCompared {
    name: String,
    #[label(primary, "the last one that was looked at")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut topics: BTreeMap<&str, Overlap<'_>> = BTreeMap::new();
    let mut comparisons = Comparisons::new();
    // In the order of the cascade the later one wins.
    for skill in model.skills.list.iter().rev() {
        let Some(topic) = &skill.settings.topic else { continue };
        let later = topics.entry(&topic.value).or_default();
        let winner = later.wider(skill).find(|other| comparisons.covers(other, skill) == Ok(true));
        let (name, at) = (skill.name.value.clone(), skill.name.at);
        if let Some(winner) = winner {
            let winner_at = winner.name.at;
            let winner = winner.name.value.clone();
            out.report(at, SkillShadowed { name, winner, winner_at, at });
        } else if comparisons.are_used_up() {
            out.report(at, NotCompared { name, at });
            return;
        }
        later.add(skill);
    }
}
