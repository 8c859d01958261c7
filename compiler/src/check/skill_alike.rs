//! Two skills between which only their names decide, or not even these.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, Skill};
use crate::selectors::{can_share_caller, can_share_tool};
use crate::source::Span;

/// The patterns of so many pairs are compared; beyond, all are taken to match one tool.
const COMPARED_MAX: usize = 20_000;

/// The order of the texts is level, priority, name. With all three equal no rule says which comes
/// first, and the trace cannot tell them apart.
#[derive(Debug, Error, Diagnostic)]
#[error("two skills `{name}` of one level and priority can match one call")]
#[diagnostic(code(skill::same_name), help("rename one of them"))]
struct SameName {
    name: String,
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "can match together with it")]
    at: Span,
}

/// Of the matched skills of one topic the last one wins. With one level and priority that is
/// decided by the name, so renaming a skill would change what agents read.
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
    #[label("can match together with the other")]
    first_at: Span,
    #[label(primary, "wins by its name alone")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let skills = &model.skills.list;
    let name = |skill: &Skill| Some(skill.name.value.clone());
    pairs(skills, name, out, |first, second, out| {
        let (name, at) = (second.name.value.clone(), second.name.at);
        out.report(at, SameName { name, first_at: first.name.at, at });
    });
    let topic = |skill: &Skill| skill.topic.as_ref().map(|topic| topic.value.clone());
    pairs(skills, topic, out, |first, second, out| {
        // Two of one name were reported.
        if let (Some(topic), true) = (topic(first), first.name.value != second.name.value) {
            let (name, at) = (second.name.value.clone(), second.name.at);
            let first_at = first.name.at;
            let first = first.name.value.clone();
            out.report(at, AmbiguousTopic { first, name, topic, first_at, at });
        }
    });
}

/// Calls `report` for the first pair of each skill that has one level, priority and key with
/// another before it, if they can match together.
fn pairs(
    skills: &[Skill],
    key: impl Fn(&Skill) -> Option<String>,
    out: &mut Diagnostics,
    report: impl Fn(&Skill, &Skill, &mut Diagnostics),
) {
    let mut alike: BTreeMap<_, Vec<&Skill>> = BTreeMap::new();
    for skill in skills {
        let Some(key) = key(skill) else { continue };
        alike.entry((skill.level, skill.priority.value, key)).or_default().push(skill);
    }
    let mut compared = 0;
    for group in alike.into_values() {
        for (place, second) in group.iter().enumerate() {
            for first in group.iter().take(place) {
                if !can_share_caller(first, second) {
                    continue;
                }
                compared += 1;
                // Where it is not known, they are taken to meet: doubt is no proof.
                if compared > COMPARED_MAX || can_share_tool(first, second).unwrap_or(true) {
                    report(first, second, out);
                    break;
                }
            }
        }
    }
}
