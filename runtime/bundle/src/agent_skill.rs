//! Agent skills: folders of files with a `SKILL.md`, as clients find them (SEP-2640).
//!
//! The files are resources. A row here adds facts about the whole skill: the front matter, the list
//! of files with their digests, and the prompt with the text, whose readers are those of the whole
//! skill.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::reader::Reader;
use crate::row::{Text, row};
use crate::section::Kind;
use crate::writer::Writer;

/// An agent skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSkill {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The name of the prompt that has its text.
    pub prompt: String,
    /// The front matter of its `SKILL.md`, as a JSON object: its name, its description, and the other keys in
    /// the order of the file.
    pub frontmatter: String,
    /// Its files, sorted by URI: a JSON array of objects with `uri`, `digest` and `size`.
    pub manifest: String,
    /// Where it was declared.
    pub at: Place,
}

row! {
    /// An agent skill.
    Row of AgentSkills {
        uri: Text,
        prompt: Text,
        /// Its front matter, in `Bodies`.
        frontmatter: Text,
        /// Its files, in `Bodies`.
        manifest: Text,
        at: U32,
    }
}

impl Writer<'_> {
    fn agent_skill(&mut self, skill: &AgentSkill) {
        let AgentSkill { uri, prompt, frontmatter, manifest, at } = skill;
        let row = Row {
            uri: self.string(uri),
            prompt: self.string(prompt),
            frontmatter: self.body(frontmatter.as_bytes()),
            manifest: self.body(manifest.as_bytes()),
            at: self.place(at),
        };
        self.rows(&[row]);
    }
}

impl Part for Vec<AgentSkill> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.agent_skills().map(|skill| skill?.to_owned()).collect()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        self.iter().for_each(|skill| out.agent_skill(skill));
        out.name_index(Kind::AgentSkillIndex, self.iter().map(|skill| &skill.uri));
        Ok(())
    }

    /// One agent skill at a time is in memory.
    fn write_again(
        bundle: &Bundle,
        _: Kind,
        out: &mut Writer<'_>,
        seen: &mut dyn FnMut(Self) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let mut uris = Vec::with_capacity(bundle.agent_skill_count());
        for skill in bundle.agent_skills() {
            let skill = skill?.to_owned()?;
            out.agent_skill(&skill);
            uris.push(skill.uri.clone());
            seen(vec![skill])?;
        }
        out.name_index(Kind::AgentSkillIndex, uris.iter());
        Ok(())
    }
}

/// One agent skill, in place.
#[derive(Clone, Copy)]
pub struct AgentSkillView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

impl Bundle {
    /// Returns how many agent skills there are.
    #[must_use]
    pub fn agent_skill_count(&self) -> usize {
        self.reader.count(Kind::AgentSkills)
    }

    /// Returns the agent skill with this index, in the order of the URIs.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn agent_skill(&self, index: usize) -> Result<AgentSkillView<'_>, Corrupt> {
        Ok(AgentSkillView { reader: &self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns all agent skills, in the order of the URIs.
    pub fn agent_skills(&self) -> impl Iterator<Item = Result<AgentSkillView<'_>, Corrupt>> {
        (0..self.agent_skill_count()).map(|index| self.agent_skill(index))
    }

    /// Returns the agent skill whose `SKILL.md` has exactly this URI.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn find_agent_skill(&self, uri: &str) -> Result<Option<AgentSkillView<'_>>, Corrupt> {
        self.reader.find(Kind::AgentSkillIndex, uri, |index| {
            let skill = self.agent_skill(index)?;
            Ok((skill.uri()? == uri).then_some(skill))
        })
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `AgentSkill`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> AgentSkillView<'b> {
    /// Returns its number in the order of the URIs.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.uri)
    }

    pub fn prompt(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.prompt)
    }

    pub fn frontmatter(&self) -> Result<&'b str, Corrupt> {
        self.reader.text(Kind::Bodies, self.row.frontmatter)
    }

    pub fn manifest(&self) -> Result<&'b str, Corrupt> {
        self.reader.text(Kind::Bodies, self.row.manifest)
    }

    /// Returns the bytes of its front matter and its list of files from the row alone.
    #[must_use]
    pub fn entry_bytes(&self) -> usize {
        let [front, files] =
            [self.row.frontmatter, self.row.manifest].map(|text| text.length.get());
        (front as usize).saturating_add(files as usize)
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the agent skill as an owned value.
    pub fn to_owned(self) -> Result<AgentSkill, Corrupt> {
        Ok(AgentSkill {
            uri: self.uri()?.to_owned(),
            prompt: self.prompt()?.to_owned(),
            frontmatter: self.frontmatter()?.to_owned(),
            manifest: self.manifest()?.to_owned(),
            at: self.at()?.into_owned(),
        })
    }
}
