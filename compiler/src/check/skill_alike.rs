//! Two skills between which only their names decide, or not even these.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, Skill};
use crate::overlap::Overlap;
use crate::selectors::Comparisons;
use crate::source::Span;

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

/// Calls `report` for a pair of each skill that has one level, priority and key with another before
/// it, if they can match together.
fn pairs(
    skills: &[Skill],
    key: impl Fn(&Skill) -> Option<String>,
    out: &mut Diagnostics,
    report: impl Fn(&Skill, &Skill, &mut Diagnostics),
) {
    let mut alike: BTreeMap<_, Overlap<'_>> = BTreeMap::new();
    let mut comparisons = Comparisons::new();
    for second in skills {
        let Some(key) = key(second) else { continue };
        let before = alike.entry((second.level, second.priority.value, key)).or_default();
        // Where it is not known, they are taken to meet: doubt is no proof.
        let first = before
            .with(second)
            .find(|first| comparisons.can_share_tool(first, second).unwrap_or(true));
        if let Some(first) = first {
            report(first, second, out);
        }
        before.add(second);
    }
}
