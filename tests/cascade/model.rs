//! A naive cascade: each skill is asked, in the order of the cascade.

use relay_bundle::{Setting, Skill};
use relay_engine::cascade::Selector;

use super::any::Names;

/// The skills that match, by their places, each with the place of the one that wins over it.
pub(super) fn matched(sorted: &[Skill], names: Names) -> Vec<(usize, Option<usize>)> {
    let matched: Vec<usize> =
        (0..sorted.len()).filter(|place| failures(&sorted[*place], names).is_empty()).collect();
    let topic = |place: usize| sorted[place].topic.as_ref().map(|topic| &topic.value);
    let winner = |place: usize| {
        topic(place)?;
        let last = matched.iter().rev().find(|other| topic(**other) == topic(place));
        last.copied().filter(|last| *last != place)
    };
    matched.iter().map(|place| (*place, winner(*place))).collect()
}

/// The text of the skills that match and win.
pub(crate) fn text(sorted: &[Skill], names: Names) -> String {
    let matched = matched(sorted, names).into_iter().filter(|(_, winner)| winner.is_none());
    let texts = matched.map(|(place, _)| sorted[place].text.value.trim_end());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The selectors of a skill that fail.
pub(super) fn failures(skill: &Skill, (tenant, tool, user): Names) -> Vec<Selector> {
    let differs = |wants: &Option<Setting<String>>, got: Option<&str>| {
        wants.as_ref().is_some_and(|wants| got != Some(wants.value.as_str()))
    };
    let fits = |tool: &str| skill.tools.iter().any(|pattern| fits(&pattern.value, tool));
    let no_tool = !skill.tools.is_empty() && !tool.is_some_and(fits);
    let failures = [
        (Selector::Tenant, differs(&skill.tenant, tenant)),
        (Selector::Tool, no_tool),
        (Selector::User, differs(&skill.user, user)),
    ];
    failures.into_iter().filter(|(_, fails)| *fails).map(|(selector, _)| selector).collect()
}

/// Whether a pattern of [`super::any::PATTERNS`] matches a tool, said once more.
fn fits(pattern: &str, tool: &str) -> bool {
    match pattern {
        "*" => true,
        "api-*" => tool.starts_with("api-"),
        "*-read" => tool.ends_with("-read"),
        "?" => tool.chars().count() == 1,
        "[ab]" => tool == "a" || tool == "b",
        "[!a-c]*" => tool.chars().next().is_some_and(|first| !('a'..='c').contains(&first)),
        "*e*" => tool.contains('e'),
        "none-*" => tool.starts_with("none-"),
        name => name == tool,
    }
}
