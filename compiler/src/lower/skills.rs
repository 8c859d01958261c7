//! Skills, and the known tools that their patterns match.

use hashbrown::HashMap;
use relay_bundle::{KnownTool, Skill, SkillSettings, Tool, distinct_patterns};
use relay_engine::glob::{self, is_name};

use super::places::Places;
use crate::model;
use crate::source::Spanned;

/// The most comparisons of a tool with a pattern at build; over it, all are made at run time.
const COMPARED_MAX: usize = 20_000_000;
/// The average number of matches that are listed for each tool and each pattern.
const LISTED_MAX: usize = 16;

/// Lowers the settings of skills, if there are skills.
pub(super) fn settings(skills: &model::Skills, places: &Places<'_>) -> Option<SkillSettings> {
    let repeat = places.setting(skills.limits.repeat.clone());
    (!skills.list.is_empty()).then_some(SkillSettings { repeat })
}

/// Lowers the skills, which are in the order of the cascade.
pub(super) fn skills(skills: Vec<model::Skill>, places: &Places<'_>) -> Vec<Skill> {
    skills.into_iter().map(|skill| lower(skill, places)).collect()
}

fn lower(skill: model::Skill, places: &Places<'_>) -> Skill {
    let model::Skill {
        name,
        level,
        settings: model::SkillSettings { enabled: _, priority, topic, title, description },
        meta,
        tenant,
        tools,
        user,
        body,
        text,
        allowed: _,
    } = skill;
    Skill {
        at: places.of(name.at),
        name: name.value,
        level,
        priority: places.setting(priority),
        topic: places.optional(topic),
        title: places.optional(title),
        description: places.optional(description),
        meta: meta.map(|meta| serde_json::Value::Object(meta.value).to_string()),
        tenant: places.optional(tenant),
        tools: tools.into_iter().map(|pattern| places.written(pattern)).collect(),
        user: places.optional(user),
        text: places.setting(model::Setting { value: text, at: body.map(|body| body.at()) }),
    }
}

/// Returns the known tools, offered or named, each with the patterns that match it.
pub(super) fn known_tools(
    skills: &[Skill],
    offered: &[Tool],
    other: &[Spanned<String>],
) -> Vec<KnownTool> {
    if skills.is_empty() {
        return Vec::new();
    }
    let patterns = distinct_patterns(skills);
    // A literal pattern is found by its name.
    let (mut globs, mut literals) = (Vec::new(), HashMap::new());
    for (number, pattern) in (0u32..).zip(patterns) {
        if is_name(pattern) {
            literals.insert(pattern, number);
        } else {
            globs.push((number, pattern));
        }
    }
    let names = known_names(offered, other);
    let compared = names.len().saturating_mul(globs.len()) <= COMPARED_MAX;
    let mut left = (names.len() + globs.len() + literals.len()).saturating_mul(LISTED_MAX);
    let mut known = Vec::with_capacity(names.len());
    for name in names {
        let matched = compared.then(|| {
            let of_globs = globs.iter().filter(|(_, glob)| glob::matches(glob, name));
            let of_name = literals.get(name).copied();
            let mut matched: Vec<u32> =
                of_globs.map(|(number, _)| *number).chain(of_name).collect();
            matched.sort_unstable();
            matched
        });
        let listed = matched.filter(|matched| matched.len() <= left);
        left -= listed.as_ref().map_or(0, Vec::len);
        known.push(KnownTool { name: name.to_owned(), patterns: listed });
    }
    known
}

/// Returns the names of the known tools, sorted.
fn known_names<'t>(offered: &'t [Tool], other: &'t [Spanned<String>]) -> Vec<&'t str> {
    let other = other.iter().map(|pattern| pattern.value.as_str()).filter(|it| is_name(it));
    let mut names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).chain(other).collect();
    names.sort_unstable();
    names.dedup();
    names
}
