//! A skill that another of its topic overrides for everyone.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, Skill};
use crate::selectors::{can_share_caller, covers};
use crate::source::Span;

/// The patterns of so many pairs are compared.
const COMPARED_MAX: usize = 100_000;

/// Wherever it matches, a later skill of its topic matches too and wins, so no call is ever given
/// its text.
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

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut topics: BTreeMap<&str, Vec<&Skill>> = BTreeMap::new();
    for skill in &model.skills.list {
        if let Some(topic) = &skill.topic {
            topics.entry(&topic.value).or_default().push(skill);
        }
    }
    let mut compared = 0;
    for skills in topics.into_values() {
        for (place, skill) in skills.iter().enumerate() {
            // In the order of the cascade: later ones win.
            for winner in skills.iter().skip(place + 1) {
                if !can_share_caller(winner, skill) {
                    continue;
                }
                compared += 1;
                // Beyond, nothing is said: a hint that is missing misleads no one.
                if compared > COMPARED_MAX {
                    return;
                }
                if covers(winner, skill) == Ok(true) {
                    let (name, at) = (skill.name.value.clone(), skill.name.at);
                    let winner_at = winner.name.at;
                    let winner = winner.name.value.clone();
                    out.report(at, SkillShadowed { name, winner, winner_at, at });
                    break;
                }
            }
        }
    }
}
