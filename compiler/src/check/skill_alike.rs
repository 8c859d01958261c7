//! Two skills whose order depends on their names alone, or is undefined.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::matching::overlap::Overlap;
use crate::matching::pattern_set::TooMany;
use crate::matching::selectors::Comparisons;
use crate::model::{Model, Skill};
use crate::source::Span;

/// The order of the texts is level, priority, name. With all three equal the order is undefined,
/// and both look alike in a trace.
#[derive(Debug, Error, Diagnostic)]
#[error("two skills `{name}` of one level and priority can match one call")]
#[diagnostic(code(skill::same_name), help("rename one of them"))]
struct SameName {
    name: String,
    /// That one call matches both, or that this is unknown.
    known: &'static str,
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "{known}")]
    at: Span,
}

/// Of the matched skills of one topic the last one wins. With one level and priority the name
/// decides, so renaming a skill would change the text that agents read.
#[derive(Debug, Error, Diagnostic)]
#[error("skills `{first}` and `{name}` of topic `{topic}` have one level and priority")]
#[diagnostic(
    code(skill::ambiguous_topic),
    severity(Warning),
    help("`{name}` wins by its name; give one of them a higher priority")
)]
struct AmbiguousTopic {
    first: String,
    name: String,
    topic: String,
    known: &'static str,
    #[label("{known}")]
    first_at: Span,
    #[label(primary, "wins by its name alone")]
    at: Span,
}

/// The label for two skills that one call can match.
const MEET: &str = "can match together with it";
/// The label for two skills with too many patterns to compare.
const MAY_MEET: &str = "may match together with it: there is too much to compare";

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let skills = &model.skills.list;
    let name = |skill: &Skill| Some(skill.name.value.clone());
    pairs(skills, name, |first, second, known| {
        let (name, at) = (second.name.value.clone(), second.name.at);
        out.report(at, SameName { name, known, first_at: first.name.at, at });
    });
    let topic = |skill: &Skill| skill.settings.topic.as_ref().map(|topic| topic.value.clone());
    pairs(skills, topic, |first, second, known| {
        // Two of one name were reported.
        if let (Some(topic), true) = (topic(first), first.name.value != second.name.value) {
            let (name, at) = (second.name.value.clone(), second.name.at);
            let first_at = first.name.at;
            let first = first.name.value.clone();
            out.report(at, AmbiguousTopic { first, name, topic, known, first_at, at });
        }
    });
}

/// Calls `report` once for each skill that may match together with an earlier one of the same
/// level, priority and key; `known` is whether they can.
fn pairs(
    skills: &[Skill],
    key: impl Fn(&Skill) -> Option<String>,
    mut report: impl FnMut(&Skill, &Skill, &'static str),
) {
    let mut alike: BTreeMap<_, Overlap<'_>> = BTreeMap::new();
    let mut comparisons = Comparisons::new();
    for second in skills {
        let Some(key) = key(second) else { continue };
        let before = alike.entry((second.level, second.settings.priority.value, key)).or_default();
        let found =
            before.with(second).find_map(|first| match comparisons.can_share_tool(first, second) {
                Ok(true) => Some((first, MEET)),
                Ok(false) => None,
                Err(TooMany) => Some((first, MAY_MEET)),
            });
        if let Some((first, known)) = found {
            report(first, second, known);
        }
        before.add(second);
    }
}
