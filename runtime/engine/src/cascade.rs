//! A tenant, a tool and a user -> the skills of a call, and their text.
//!
//! Every selector of a skill must match; an absent tenant, tool or user fails all selectors for
//! one. Skills are in the order of the cascade: levels from global to user, inside a level by
//! rising priority, then by name. The last skill of a topic wins; the text of the others is left
//! out.
//!
//! A user that `users` names for some tenants is a different user in other tenants, even with the
//! same id.

mod explained;
mod near_miss;
mod question;
mod resolution;
mod skills;
mod topics;
mod trace;

use relay_bundle::{Bundle, Corrupt, KnownToolView, Numbers, ScopeView, SkillIndexView};

use self::skills::Skills;
use self::topics::override_by_topic;
use crate::glob;

pub use explained::{Explained, Failed, Miss, Row, notes};
pub use near_miss::{NearMiss, Selector, near_misses};
pub use question::Question;
pub use resolution::{Matched, Resolution};
pub use trace::{TraceRow, TracedSkill};

/// A question with its names resolved in a bundle.
pub struct Located<'b> {
    index: SkillIndexView<'b>,
    /// With and without the tenant, with and without the user.
    scopes: [Option<ScopeView<'b>>; 4],
    tool: Tool<'b>,
}

/// The patterns that match a tool.
enum Tool<'b> {
    /// The question names no tool.
    None,
    /// Patterns matched when the bundle was built.
    Listed(Numbers<'b>),
    /// Patterns matched when the question is asked.
    Matched(Vec<u32>),
}

/// Resolves the cascade for a question.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn resolve<'b>(bundle: &'b Bundle, question: Question<'_>) -> Result<Resolution<'b>, Corrupt> {
    let matched = match locate(bundle, question)? {
        Some(located) => located.matched(),
        None => Vec::new(),
    };
    Ok(Resolution { bundle, matched })
}

/// Explains the skills of a call: the text, the skills in it, and those that it misses by one
/// selector. Notes are left empty; see [`notes`].
///
/// # Errors
///
/// The bundle is corrupt.
pub fn explain(bundle: &Bundle, question: Question<'_>) -> Result<Explained, Corrupt> {
    Explained::of(bundle, question, &resolve(bundle, question)?)
}

/// Resolves the names of a question, if the bundle has skills.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn locate<'b>(
    bundle: &'b Bundle,
    question: Question<'_>,
) -> Result<Option<Located<'b>>, Corrupt> {
    let Some(index) = bundle.skill_index()? else { return Ok(None) };
    let Question { tenant, tool, user } = question.answered(bundle)?;
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
    Ok(Some(Located { index, scopes, tool }))
}

/// Returns the patterns that match a tool: those listed by the bundle for a known tool, otherwise
/// those found now.
fn tool_patterns<'b>(bundle: &'b Bundle, name: &str) -> Result<Tool<'b>, Corrupt> {
    let listed =
        bundle.known_tools().find(name)?.as_ref().map(KnownToolView::patterns).transpose()?;
    if let Some(patterns) = listed.flatten() {
        return Ok(Tool::Listed(patterns));
    }
    let matched = bundle.skill_patterns().matching(|pattern| glob::matches(pattern, name))?;
    Ok(Tool::Matched(matched))
}

impl Located<'_> {
    /// Returns the skills that match, in the order of the cascade.
    #[must_use]
    pub fn matched(&self) -> Vec<Matched> {
        let mut skills = Skills::default();
        for scope in self.scopes.iter().flatten() {
            skills.add(scope.any_tool());
            self.add_patterns(scope, &mut skills);
        }
        override_by_topic(&self.index, &skills.into_sorted())
    }

    /// Adds the skills of a scope whose patterns match the tool.
    fn add_patterns(&self, scope: &ScopeView<'_>, skills: &mut Skills) {
        // The shorter list is read, and the longer one searched.
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
}
