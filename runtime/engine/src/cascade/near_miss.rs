//! Skills that a question misses by one selector: the answer for an author who asks why a skill is
//! missing.

use relay_bundle::{Bundle, Corrupt, Level, Place, SkillView};

use super::question::Question;
use crate::glob;

/// A skill that fails exactly one of its selectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// Its level.
    pub level: Level,
    /// Its name.
    pub skill: String,
    /// Its priority.
    pub priority: u8,
    /// The selector that fails.
    pub selector: Selector,
    /// The required name, or the patterns of which one must match.
    pub wants: Vec<String>,
    /// The name in the question.
    pub got: Option<String>,
    /// Where the skill is declared.
    pub at: Place,
}

/// A selector of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// A tenant.
    Tenant,
    /// Patterns of tools.
    Tool,
    /// A user.
    User,
}

impl Selector {
    /// Returns its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Tool => "tool",
            Self::User => "user",
        }
    }
}

/// Returns the skills that fail exactly one of their selectors, in the order of the cascade.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn near_misses(bundle: &Bundle, question: Question<'_>) -> Result<Vec<NearMiss>, Corrupt> {
    let answered = question.answered(bundle)?;
    let mut misses = Vec::new();
    for view in bundle.skills() {
        let view = view?;
        if let Some(selector) = only_failure(&view, answered)? {
            misses.push(near_miss(&view, question, answered, selector)?);
        }
    }
    Ok(misses)
}

/// Returns the failing selector if it is the only one.
fn only_failure(view: &SkillView<'_>, question: Question<'_>) -> Result<Option<Selector>, Corrupt> {
    let Question { tenant, tool, user } = question;
    let fails = |wants: Option<&str>, got: Option<&str>| wants.is_some() && wants != got;
    let failures = [
        (Selector::Tenant, fails(view.tenant()?, tenant)),
        (Selector::Tool, fails_tool(view, tool)?),
        (Selector::User, fails(view.user()?, user)),
    ];
    let mut failed = failures.iter().filter(|(_, fails)| *fails);
    Ok(match (failed.next(), failed.next()) {
        (Some((selector, _)), None) => Some(*selector),
        _ => None,
    })
}

fn fails_tool(view: &SkillView<'_>, tool: Option<&str>) -> Result<bool, Corrupt> {
    let mut asks = false;
    for pattern in view.tools()? {
        asks = true;
        let pattern = pattern?;
        if tool.is_some_and(|tool| glob::matches(pattern, tool)) {
            return Ok(false);
        }
    }
    Ok(asks)
}

fn near_miss(
    view: &SkillView<'_>,
    question: Question<'_>,
    answered: Question<'_>,
    selector: Selector,
) -> Result<NearMiss, Corrupt> {
    let name = |wants: Option<&str>| wants.map(str::to_owned).into_iter().collect();
    let (wants, got) = match selector {
        Selector::Tenant => (name(view.tenant()?), question.tenant),
        Selector::User => (name(view.user()?), question.user),
        Selector::Tool => {
            let patterns = view.tools()?.map(|pattern| pattern.map(str::to_owned));
            (patterns.collect::<Result<_, _>>()?, question.tool)
        }
    };
    Ok(NearMiss {
        level: view.level()?,
        skill: view.name()?.to_owned(),
        priority: view.priority(),
        selector,
        wants,
        got: match got {
            Some(user) if selector == Selector::User && answered.user.is_none() => {
                Some(format!("{user} of another tenant"))
            }
            got => got.map(str::to_owned),
        },
        at: view.at()?.into_owned(),
    })
}
