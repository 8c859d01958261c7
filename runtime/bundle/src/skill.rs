//! Skills: texts for calls of tools, by tenant, tool and user.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::place::Place;
use crate::reader::{Reader, Room};
use crate::row::{Range, Text, Written, row};
use crate::section::Kind;
use crate::setting::Setting;
use crate::writer::Writer;

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its level of specificity.
    pub level: Level,
    /// 0 to 100: inside a level, a higher one comes later.
    pub priority: Setting<u8>,
    /// Its topic: the last matched skill of a topic wins.
    pub topic: Option<Setting<String>>,
    /// The title for people.
    pub title: Option<Setting<String>>,
    /// Its purpose.
    pub description: Option<Setting<String>>,
    /// A JSON object of additional data.
    pub meta: Option<String>,
    /// The tenant that it requires; absent for any tenant, an absent one included.
    pub tenant: Option<Setting<String>>,
    /// The distinct patterns of required tools; empty for calls of any tool or none.
    pub tools: Vec<Setting<String>>,
    /// The user that it requires; absent for calls of any user or none.
    pub user: Option<Setting<String>>,
    /// The text for calls.
    pub text: Setting<String>,
    /// The place of its declaration.
    pub at: Place,
}

/// How specific a skill is, the least first: that is also the order of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// For every call.
    Global,
    /// For a tenant.
    Tenant,
    /// For tools.
    Tool,
    /// For a user.
    User,
}

impl Level {
    /// All levels, in their order.
    pub const ALL: [Self; 4] = [Self::Global, Self::Tenant, Self::Tool, Self::User];

    /// Returns the word for the level.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Tenant => "tenant",
            Self::Tool => "tool",
            Self::User => "user",
        }
    }
}

impl Skill {
    /// Returns the block of its declaration, and its name: `tenant acme/formats`. Labels are unique
    /// in a project.
    #[must_use]
    pub fn label(&self) -> String {
        let text = |selector: &Option<Setting<String>>| {
            selector.as_ref().map_or_else(String::new, |selector| format!(" {}", selector.value))
        };
        let block = match self.level {
            Level::Global => String::new(),
            Level::Tenant => text(&self.tenant),
            Level::Tool => self.tools.iter().map(|tool| format!(" {}", tool.value)).collect(),
            Level::User => text(&self.user),
        };
        format!("{}{block}/{}", self.level.word(), self.name)
    }

    /// Returns its place in the order of the cascade, and of a bundle: level, priority, name; of
    /// skills that agree in these, at most one matches a call.
    #[must_use]
    pub fn order(&self) -> impl Ord + '_ {
        let text = |selector: &'_ Option<Setting<String>>| {
            selector.as_ref().map(|selector| selector.value.clone())
        };
        let tools: Vec<&str> = self.tools.iter().map(|pattern| pattern.value.as_str()).collect();
        let Self { level, priority, name, tenant, user, .. } = self;
        (*level, priority.value, name, text(tenant), text(user), tools)
    }
}

row! {
    /// A skill.
    Row of Skills {
        name: Text,
        title: Written,
        description: Written,
        topic: Written,
        meta: Text,
        tenant: Written,
        user: Written,
        tools: Range,
        /// Its text, in `Bodies`.
        text: Written,
        priority_at: U32,
        at: U32,
        level: u8,
        priority: u8,
        reserved: [u8; 2],
    }
}

row! {
    /// A pattern of a skill.
    Tool of SkillTools {
        pattern: Written,
    }
}

impl Writer<'_> {
    pub(crate) fn skill(&mut self, skill: &Skill) {
        let Skill {
            name,
            level,
            priority,
            topic,
            title,
            description,
            meta,
            tenant,
            tools,
            user,
            text,
            at,
        } = skill;
        let tools: Vec<_> =
            tools.iter().map(|pattern| Tool { pattern: self.written(pattern) }).collect();
        let row = Row {
            name: self.string(name),
            title: self.optional_written(title.as_ref()),
            description: self.optional_written(description.as_ref()),
            topic: self.optional_written(topic.as_ref()),
            meta: self.optional(meta.as_deref()),
            tenant: self.optional_written(tenant.as_ref()),
            user: self.optional_written(user.as_ref()),
            tools: self.rows(&tools),
            text: Written {
                text: self.body(text.value.as_bytes()),
                at: self.optional_place(text.at.as_ref()),
            },
            priority_at: self.optional_place(priority.at.as_ref()),
            at: self.place(at),
            level: *level as u8,
            priority: priority.value,
            reserved: [0; 2],
        };
        self.rows(&[row]);
    }
}

/// One skill, in place.
#[derive(Clone, Copy)]
pub struct SkillView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

impl Bundle {
    /// Returns the number of skills.
    #[must_use]
    pub fn skill_count(&self) -> usize {
        self.reader.count(Kind::Skills)
    }

    /// Returns the skill with this index, in the order of the cascade: level, priority, name.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn skill(&self, index: usize) -> Result<SkillView<'_>, Corrupt> {
        Ok(SkillView { reader: &self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns all skills, in the order of the cascade.
    pub fn skills(&self) -> impl Iterator<Item = Result<SkillView<'_>, Corrupt>> {
        (0..self.skill_count()).map(|index| self.skill(index))
    }
}

/// Returns all skills as owned values.
pub(crate) fn owned(bundle: &Bundle) -> Result<Vec<Skill>, Corrupt> {
    let mut room = Room::of::<Tool>(&bundle.reader);
    let owned = |view: Result<SkillView<'_>, Corrupt>| {
        let view = view?;
        room.take(view.row.tools)?;
        view.to_owned()
    };
    bundle.skills().map(owned).collect()
}

#[expect(missing_docs, reason = "documented once, at the fields of `Skill`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> SkillView<'b> {
    /// Returns its number in the order of the cascade.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.name)
    }

    pub fn level(&self) -> Result<Level, Corrupt> {
        let wrong = Corrupt::Record { section: Kind::Skills.name(), what: "level" };
        Level::ALL.get(usize::from(self.row.level)).copied().ok_or(wrong)
    }

    #[must_use]
    pub fn priority(&self) -> u8 {
        self.row.priority
    }

    pub fn topic(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.topic.text)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.title.text)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.description.text)
    }

    pub fn meta(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.meta)
    }

    pub fn tenant(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.tenant.text)
    }

    /// Returns the patterns of required tools.
    pub fn tools(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Result<&'b str, Corrupt>> + use<'b>, Corrupt> {
        let reader = self.reader;
        let pattern = move |row: Result<&Tool, Corrupt>| reader.string(row?.pattern.text);
        Ok(reader.rows(self.row.tools)?.map(pattern))
    }

    pub fn user(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.user.text)
    }

    pub fn text(&self) -> Result<&'b str, Corrupt> {
        self.reader.text(Kind::Bodies, self.row.text.text)
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the skill as an owned value.
    pub fn to_owned(self) -> Result<Skill, Corrupt> {
        let Self { reader, index: _, row } = self;
        let tool = |tool: Result<&Tool, Corrupt>| reader.written(tool?.pattern);
        Ok(Skill {
            name: self.name()?.to_owned(),
            level: self.level()?,
            priority: Setting { value: row.priority, at: reader.optional_place(row.priority_at)? },
            topic: reader.optional_written(row.topic)?,
            title: reader.optional_written(row.title)?,
            description: reader.optional_written(row.description)?,
            meta: self.meta()?.map(str::to_owned),
            tenant: reader.optional_written(row.tenant)?,
            tools: reader.rows(row.tools)?.map(tool).collect::<Result<_, _>>()?,
            user: reader.optional_written(row.user)?,
            text: Setting {
                value: self.text()?.to_owned(),
                at: reader.optional_place(row.text.at)?,
            },
            at: self.at()?.into_owned(),
        })
    }
}
