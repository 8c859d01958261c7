//! Whether two skills can match together, and whether one matches wherever another does.

use crate::matching::pattern_set::{TooMany, ends_agree, meet, outside};
use crate::model::Skill;
use crate::source::Spanned;

/// The steps of all comparisons of one check.
const COMPARED_STEPS_MAX: u32 = 2_000_000;
/// The steps of a comparison of patterns that agree in their ends, besides one for each pair.
const AUTOMATON_STEPS: u32 = 100;

/// A budget for comparisons of skills.
pub(crate) struct Comparisons {
    steps_left: u32,
}

impl Comparisons {
    pub(crate) const fn new() -> Self {
        Self { steps_left: COMPARED_STEPS_MAX }
    }

    /// Returns whether the budget is spent; callers then stop.
    pub(crate) const fn are_used_up(&self) -> bool {
        self.steps_left == 0
    }

    /// Returns whether one tool can match both skills.
    pub(crate) fn can_share_tool(&mut self, one: &Skill, other: &Skill) -> Result<bool, TooMany> {
        if one.tools.is_empty() || other.tools.is_empty() {
            return Ok(true);
        }
        Ok(self.may_meet(one, other)? && meet(&patterns(one), &patterns(other))?.is_some())
    }

    /// Returns whether each call that matches `narrow` matches `wide` too.
    pub(crate) fn covers(&mut self, wide: &Skill, narrow: &Skill) -> Result<bool, TooMany> {
        let is_compared = !wide.tools.is_empty() && !narrow.tools.is_empty();
        Ok((!is_compared || self.may_meet(wide, narrow)?) && covers(wide, narrow)?)
    }

    /// Returns whether a pattern of each can begin and end alike.
    fn may_meet(&mut self, one: &Skill, other: &Skill) -> Result<bool, TooMany> {
        let pairs = one.tools.len().saturating_mul(other.tools.len());
        self.take(u32::try_from(pairs).unwrap_or(u32::MAX))?;
        let agrees = one.tools.iter().any(|pattern| {
            other.tools.iter().any(|other| ends_agree(&pattern.value, &other.value))
        });
        if agrees {
            self.take(AUTOMATON_STEPS)?;
        }
        Ok(agrees)
    }

    fn take(&mut self, steps: u32) -> Result<(), TooMany> {
        self.steps_left = self.steps_left.saturating_sub(steps);
        if self.are_used_up() { Err(TooMany) } else { Ok(()) }
    }
}

fn covers(wide: &Skill, narrow: &Skill) -> Result<bool, TooMany> {
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
