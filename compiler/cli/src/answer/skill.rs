//! Skills of a bundle.

use relay_bundle::{Corrupt, Level, SkillView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::size::grouped;
use crate::answer::table::{self, number, text};

/// A skill: a text that calls of tools are given.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Skill {
    /// Its name.
    pub(crate) name: String,
    /// How specific it is.
    pub(crate) level: Level,
    /// 0 to 100: inside a level, a higher one comes later.
    pub(crate) priority: u8,
    /// Of the matched skills of one topic, the last one wins.
    pub(crate) topic: Option<String>,
    /// Its title for people.
    pub(crate) title: Option<String>,
    /// Its purpose.
    pub(crate) description: Option<String>,
    /// Further facts about it.
    pub(crate) meta: Option<Value>,
    /// The tenant that it is for.
    pub(crate) tenant: Option<String>,
    /// The patterns of the tools that it is for; empty for every tool.
    pub(crate) tools: Vec<String>,
    /// The user that it is for.
    pub(crate) user: Option<String>,
    /// Its text.
    pub(crate) text: String,
    /// The size of its text in bytes.
    pub(crate) bytes: usize,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

impl Skill {
    /// Reads a skill of a bundle.
    pub(crate) fn of(view: &SkillView<'_>) -> Result<Self, Corrupt> {
        let text = view.text()?;
        let tools = view.tools()?.map(|pattern| pattern.map(str::to_owned));
        Ok(Self {
            name: view.name()?.into(),
            level: view.level()?,
            priority: view.priority(),
            topic: view.topic()?.map(Into::into),
            title: view.title()?.map(Into::into),
            description: view.description()?.map(Into::into),
            meta: view.meta()?.and_then(|meta| serde_json::from_str(meta).ok()),
            tenant: view.tenant()?.map(Into::into),
            tools: tools.collect::<Result<_, _>>()?,
            user: view.user()?.map(Into::into),
            text: text.into(),
            bytes: text.len(),
            at: view.at()?.to_string(),
        })
    }
}

/// Draws a table of skills.
pub(crate) fn draw(skills: Vec<Skill>, width: usize) -> String {
    let columns = [
        text("skill"),
        text("level"),
        number("priority"),
        text("tenant"),
        text("tools"),
        text("user"),
        text("topic"),
        number("bytes"),
    ];
    let row = |skill: Skill| {
        let Skill { name, level, priority, topic, tenant, tools, user, bytes, .. } = skill;
        vec![
            name,
            level.word().into(),
            priority.to_string(),
            tenant.unwrap_or_default(),
            tools.join(" "),
            user.unwrap_or_default(),
            topic.unwrap_or_default(),
            grouped(bytes),
        ]
    };
    table::draw(&columns, skills.into_iter().map(row).collect(), width)
}
