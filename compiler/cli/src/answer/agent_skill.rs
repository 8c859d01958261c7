//! Agent skills of a bundle.

use relay_bundle::{AgentSkillView, Bundle, Corrupt};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::size::grouped;
use crate::answer::table::{self, number, text};

/// An agent skill: a folder of files with a `SKILL.md`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct AgentSkill {
    /// The URI of its `SKILL.md`.
    pub(crate) uri: String,
    /// The name of the prompt that has its text. Its readers are those of the agent skill.
    pub(crate) prompt: String,
    /// The front matter of its `SKILL.md`, as an object.
    pub(crate) frontmatter: Value,
    /// Its files, each with its URI, digest and size.
    pub(crate) resources: Value,
    /// How many files it has.
    pub(crate) files: usize,
    /// The size of all its files in bytes.
    pub(crate) bytes: u64,
    /// Where its `SKILL.md` is: `file:line`.
    pub(crate) at: String,
}

impl AgentSkill {
    /// Reads an agent skill of a bundle.
    fn of(view: &AgentSkillView<'_>) -> Result<Self, Corrupt> {
        let resources: Value = serde_json::from_str(view.manifest()?).unwrap_or_default();
        let files = resources.as_array().map_or(&[][..], Vec::as_slice);
        let sizes = files.iter().filter_map(|file| file.get("size")?.as_u64());
        Ok(Self {
            uri: view.uri()?.into(),
            prompt: view.prompt()?.into(),
            frontmatter: serde_json::from_str(view.frontmatter()?).unwrap_or_default(),
            files: files.len(),
            bytes: sizes.sum(),
            resources,
            at: view.at()?.to_string(),
        })
    }

    /// Reads all agent skills of a bundle.
    pub(crate) fn all(bundle: &Bundle) -> Result<Vec<Self>, Corrupt> {
        bundle.agent_skills().map(|skill| Self::of(&skill?)).collect()
    }
}

/// Returns a table of agent skills.
pub(crate) fn draw(skills: Vec<AgentSkill>, width: usize) -> String {
    let rows = skills.into_iter().map(|skill| {
        let bytes = usize::try_from(skill.bytes).unwrap_or(usize::MAX);
        vec![skill.uri, skill.prompt, grouped(skill.files), grouped(bytes)]
    });
    let columns = [text("agent skill"), text("prompt"), number("files"), number("bytes")];
    table::draw(&columns, rows.collect(), width)
}
