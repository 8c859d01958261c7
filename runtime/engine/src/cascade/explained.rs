//! The answer to a question about skills, as `relay explain` and the tool `explain_context` give it.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Level, Who};
use serde::Serialize;

use super::near_miss::{NearMiss, near_misses};
use super::question::Question;
use super::resolution::Resolution;
use super::trace::{TraceRow, TracedSkill};
use crate::nearest::nearest;

/// The text that a call is given, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explained {
    /// The text that the call is given.
    pub resolved_context: String,
    /// The skills that match, in the order of the text, and a row for each empty level.
    pub trace: Vec<Row>,
    /// The skills that would match but for one selector.
    pub near_misses: Vec<Miss>,
    /// Oddities of the question, such as unknown names.
    pub notes: Vec<String>,
}

/// A skill that matches, or an empty level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The level.
    pub level: Level,
    /// The name of the skill; `null` for an empty level.
    pub skill: Option<String>,
    /// Its priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Whether there is a skill.
    pub matched: bool,
    /// The skill of the same topic that wins, whose text replaces that of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_by: Option<String>,
    /// Where it was declared: `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A skill that fails exactly one of its selectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// Its level.
    pub level: Level,
    /// Its name.
    pub skill: String,
    /// Its priority.
    pub priority: u8,
    /// The selector that fails.
    pub failed: Failed,
    /// Where it was declared: `file:line`.
    pub at: String,
}

/// A selector that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failed {
    /// `tenant`, `tool` or `user`.
    pub selector: &'static str,
    /// The name that it asks for, or the patterns of which one must match.
    pub wants: Vec<String>,
    /// The name in the question.
    pub got: Option<String>,
}

impl Explained {
    /// Explains the result of a question.
    pub(super) fn of(
        bundle: &Bundle,
        question: Question<'_>,
        resolution: &Resolution<'_>,
    ) -> Result<Self, Corrupt> {
        Ok(Self {
            resolved_context: resolution.text()?,
            trace: resolution.trace()?.into_iter().map(row).collect(),
            near_misses: near_misses(bundle, question)?.into_iter().map(miss).collect(),
            notes: Vec::new(),
        })
    }
}

fn row(TraceRow { level, skill }: TraceRow) -> Row {
    let Some(TracedSkill { name, priority, overridden_by, at }) = skill else {
        let (skill, priority, overridden_by, at) = (None, None, None, None);
        return Row { level, skill, priority, matched: false, overridden_by, at };
    };
    Row {
        level,
        skill: Some(name),
        priority: Some(priority),
        matched: true,
        overridden_by,
        at: Some(at.to_string()),
    }
}

fn miss(miss: NearMiss) -> Miss {
    let NearMiss { level, skill, priority, selector, wants, got, at } = miss;
    let failed = Failed { selector: selector.word(), wants, got };
    Miss { level, skill, priority, failed, at: at.to_string() }
}

/// Returns a line for each name of a question that is unknown, with the nearest one, and one for a
/// user of another tenant. It reads all skills, users and known tools.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn notes(bundle: &Bundle, question: Question<'_>) -> Result<Vec<String>, Corrupt> {
    let (mut tenants, mut users, mut tools) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for skill in bundle.skills() {
        let skill = skill?;
        tenants.extend(skill.tenant()?);
        users.extend(skill.user()?);
    }
    for tenant in 0..bundle.tenants().count() {
        tenants.insert(bundle.tenants().name(tenant)?);
    }
    let rows = bundle.users().list()?;
    let named = rows.iter().filter(|row| row.who == Who::User);
    users.extend(named.map(|row| row.id.as_str()));
    for tool in bundle.known_tools().iter() {
        tools.insert(tool?.name()?);
    }
    tools.extend(bundle.tools().iter().map(|tool| tool.name.as_str()));
    let Question { tenant, tool, user } = question;
    let asked = [
        ("tenant", tenant, &tenants, "no skill asks for it"),
        ("tool", tool, &tools, "it is compared with the patterns all the same"),
        ("user", user, &users, "no skill asks for it"),
    ];
    let mut notes = Vec::new();
    if let (Some(user), true) = (user, question.is_of_other_tenant(bundle)?) {
        let of = tenant.map(|tenant| format!("of `{tenant}`"));
        let of = of.unwrap_or_else(|| "without a tenant".to_owned());
        notes.push(format!(
            "`users` names `{user}` for other tenants: a caller `{user}` {of} is not that user"
        ));
    }
    for (what, name, known, meaning) in asked {
        let Some(name) = name.filter(|name| !known.contains(name)) else { continue };
        let near = nearest(name, known.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        notes.push(format!("the {what} `{name}` is not known: {meaning}{near}"));
    }
    Ok(notes)
}
