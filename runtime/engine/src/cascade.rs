//! A tenant, a tool and a user -> the skills that a call is given, and the text that they make.
//!
//! Every selector that a skill has must match; an absent tenant, tool or user matches none that asks
//! for one. Skills are in the order of the cascade: levels from global to user, inside a level by
//! rising priority, then by name. Of the skills of one topic the last one wins; the others are
//! matched and give no text.

mod explained;
mod near_miss;
mod question;
mod resolution;
mod trace;

use relay_bundle::{Bundle, Corrupt, KnownToolView, Numbers, ScopeView, SkillIndexView};

use crate::glob;

pub use explained::{Explained, Failed, Miss, Row};
pub use near_miss::{NearMiss, Selector, near_misses};
pub use question::Question;
pub use resolution::{Matched, Resolution};
pub use trace::{TraceRow, TracedSkill};

/// A question as a bundle knows it: the names are found.
pub struct Located<'b> {
    index: SkillIndexView<'b>,
    skill_count: usize,
    /// With and without the tenant, with and without the user.
    scopes: [Option<ScopeView<'b>>; 4],
    tool: Tool<'b>,
}

/// The patterns that match a tool.
enum Tool<'b> {
    /// No tool was named.
    None,
    /// They were found when the bundle was built.
    Listed(Numbers<'b>),
    /// They are found when the question is asked.
    Matched(Vec<u32>),
}

/// Resolves the cascade for a question.
///
/// # Errors
///
/// The bundle is not what was signed.
pub fn resolve<'b>(bundle: &'b Bundle, question: Question<'_>) -> Result<Resolution<'b>, Corrupt> {
    let matched = match locate(bundle, question)? {
        Some(located) => located.matched(),
        None => Vec::new(),
    };
    Ok(Resolution { bundle, matched })
}

/// Explains what a call is given: the text, the skills that make it, and those that it misses by one
/// selector.
///
/// # Errors
///
/// The bundle is not what was signed.
pub fn explain(bundle: &Bundle, question: Question<'_>) -> Result<Explained, Corrupt> {
    Explained::of(bundle, question, &resolve(bundle, question)?)
}

/// Finds the names of a question; `None` if the bundle has no skills.
///
/// # Errors
///
/// The bundle is not what was signed.
pub fn locate<'b>(
    bundle: &'b Bundle,
    question: Question<'_>,
) -> Result<Option<Located<'b>>, Corrupt> {
    let Some(index) = bundle.skill_index()? else { return Ok(None) };
    let Question { tenant, tool, user } = question;
    let mut scopes = [index.scope(None, None)?, None, None, None];
    let [_, of_tenant, of_user, of_both] = &mut scopes;
    if tenant.is_some() {
        *of_tenant = index.scope(tenant, None)?;
    }
    if user.is_some() {
        *of_user = index.scope(None, user)?;
    }
    if tenant.is_some() && user.is_some() {
        *of_both = index.scope(tenant, user)?;
    }
    let tool = match tool {
        None => Tool::None,
        Some(name) => tool_patterns(bundle, name)?,
    };
    Ok(Some(Located { index, skill_count: bundle.skill_count(), scopes, tool }))
}

/// Returns the patterns that match a tool: those that the bundle lists for it, or else those that
/// are found to match.
fn tool_patterns<'b>(bundle: &'b Bundle, name: &str) -> Result<Tool<'b>, Corrupt> {
    let listed = bundle.find_known_tool(name)?.as_ref().map(KnownToolView::patterns).transpose()?;
    if let Some(patterns) = listed.flatten() {
        return Ok(Tool::Listed(patterns));
    }
    let matched = bundle.matching_skill_patterns(|pattern| glob::matches(pattern, name))?;
    Ok(Tool::Matched(matched))
}

impl Located<'_> {
    /// Returns the skills that match, in the order of the cascade.
    #[must_use]
    pub fn matched(&self) -> Vec<Matched> {
        let mut skills = Skills::of(self.skill_count);
        for scope in self.scopes.iter().flatten() {
            skills.add(scope.any_tool());
            self.add_patterns(scope, &mut skills);
        }
        self.override_by_topic(skills)
    }

    /// Adds the skills of a scope whose patterns match the tool.
    fn add_patterns(&self, scope: &ScopeView<'_>, skills: &mut Skills) {
        // The shorter list is read, and the other one searched.
        match &self.tool {
            Tool::None => {}
            Tool::Listed(patterns) if scope.pattern_count() < patterns.len() => {
                let matched = scope.patterns().filter(|(pattern, _)| patterns.contains(*pattern));
                matched.for_each(|(_, of_pattern)| skills.add(of_pattern));
            }
            Tool::Listed(patterns) => {
                for pattern in patterns.iter() {
                    skills.add(scope.of_pattern(pattern));
                }
            }
            Tool::Matched(patterns) if scope.pattern_count() < patterns.len() => {
                let is_matched = |pattern| patterns.binary_search(&pattern).is_ok();
                let matched = scope.patterns().filter(|(pattern, _)| is_matched(*pattern));
                matched.for_each(|(_, of_pattern)| skills.add(of_pattern));
            }
            Tool::Matched(patterns) => {
                for pattern in patterns {
                    skills.add(scope.of_pattern(*pattern));
                }
            }
        }
    }

    /// Finds which of the skills win over which others.
    fn override_by_topic(&self, skills: Skills) -> Vec<Matched> {
        let mut matched = Vec::with_capacity(skills.count_max);
        let mut topics = Bits::default();
        let has_topics = self.index.has_topics();
        let mut is_shared = false;
        skills.each(|skill| {
            if has_topics && let Some(topic) = self.index.topic(skill) {
                // Topics are numbered below the number of skills.
                is_shared |= !topics.add(topic, self.skill_count);
            }
            matched.push(Matched { skill, overridden_by: None });
        });
        if is_shared {
            self.override_shared(&mut matched);
        }
        matched
    }

    /// The same where two of the skills have one topic: the last of each topic wins.
    fn override_shared(&self, matched: &mut [Matched]) {
        let of_topics =
            matched.iter().filter_map(|it| Some((self.index.topic(it.skill)?, it.skill)));
        let mut of_topics: Vec<(u32, u32)> = of_topics.collect();
        of_topics.sort_unstable();
        for it in matched {
            let Some(topic) = self.index.topic(it.skill) else { continue };
            let end = of_topics.partition_point(|(other, _)| *other <= topic);
            let winner = end.checked_sub(1).and_then(|last| of_topics.get(last));
            let winner = winner.map(|(_, winner)| *winner);
            it.overridden_by = winner.filter(|winner| *winner != it.skill);
        }
    }
}

/// The numbers of skills that match, in any order, some perhaps twice.
struct Skills {
    /// One bit a skill: they come out in order, and faster than they are sorted.
    bits: Bits,
    /// One bit for each word of these that is not zero, since most are.
    words: Bits,
    skill_count: usize,
    count_max: usize,
}

impl Skills {
    fn of(skill_count: usize) -> Self {
        Self { bits: Bits::default(), words: Bits::default(), skill_count, count_max: 0 }
    }

    fn add(&mut self, numbers: Numbers<'_>) {
        self.count_max += numbers.len();
        for number in numbers.iter() {
            self.bits.add(number, self.skill_count);
            self.words.add(number / 64, self.skill_count.div_ceil(64));
        }
    }

    /// Calls `each` for every number once, in rising order.
    fn each(&self, mut each: impl FnMut(u32)) {
        for (first, set) in (0u32..).step_by(64).zip(&self.words.words) {
            each_bit(first, *set, |word| {
                let set = self.bits.words.get(word as usize).copied().unwrap_or(0);
                each_bit(word * 64, set, &mut each);
            });
        }
    }
}

/// Calls `each` for every bit that is set, in rising order; `first` is the number of the lowest.
fn each_bit(first: u32, mut set: u64, mut each: impl FnMut(u32)) {
    while set != 0 {
        each(first + set.trailing_zeros());
        set &= set - 1;
    }
}

/// A set of small numbers.
#[derive(Default)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Adds a number, which is below `count`; returns whether it is new.
    fn add(&mut self, number: u32, count: usize) -> bool {
        if self.words.is_empty() {
            self.words = vec![0; count.div_ceil(64)];
        }
        let Some(word) = self.words.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}
