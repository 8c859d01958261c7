//! Whether two skills can match together, and whether one matches wherever another does.

use crate::model::Skill;
use crate::pattern_set::{TooMany, meet, outside};
use crate::source::Spanned;

/// Returns whether one tenant and user can match both skills.
pub(crate) fn can_share_caller(one: &Skill, other: &Skill) -> bool {
    let agree = |one: &Option<Spanned<String>>, other: &Option<Spanned<String>>| match (one, other)
    {
        (Some(one), Some(other)) => one.value == other.value,
        _ => true,
    };
    agree(&one.tenant, &other.tenant) && agree(&one.user, &other.user)
}

/// Returns whether one tool can match both skills.
pub(crate) fn can_share_tool(one: &Skill, other: &Skill) -> Result<bool, TooMany> {
    if one.tools.is_empty() || other.tools.is_empty() {
        return Ok(true);
    }
    Ok(meet(&patterns(one), &patterns(other))?.is_some())
}

/// Returns whether each call that matches `narrow` matches `wide` too.
pub(crate) fn covers(wide: &Skill, narrow: &Skill) -> Result<bool, TooMany> {
    let covers = |wide: &Option<Spanned<String>>, narrow: &Option<Spanned<String>>| match wide {
        Some(wide) => narrow.as_ref().is_some_and(|narrow| narrow.value == wide.value),
        None => true,
    };
    if !(covers(&wide.tenant, &narrow.tenant) && covers(&wide.user, &narrow.user)) {
        return Ok(false);
    }
    match (wide.tools.is_empty(), narrow.tools.is_empty()) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => Ok(outside(&patterns(narrow), &patterns(wide))?.is_none()),
    }
}

fn patterns(skill: &Skill) -> Vec<&str> {
    skill.tools.iter().map(|pattern| pattern.value.as_str()).collect()
}
