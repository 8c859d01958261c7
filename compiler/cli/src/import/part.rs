//! The parts of a project that an import makes of files: prompts, folders of prompts, skills.

use std::collections::BTreeSet;

use relay_bundle::Level;
use relay_compiler::{Mark, MarkKind};
use relay_engine::glob;
use serde_json::Value;

use super::row::{Origin, Row};

/// A part of the project, made of a file or a folder.
pub(crate) struct Part {
    /// The kind of file that it is made of.
    pub(crate) origin: Origin,
    /// The file or folder, by its path from the project's folder.
    pub(crate) file: String,
    /// The line in that file, from 1.
    pub(crate) line: usize,
    /// The differences between the file's meaning in its own program and the part's, each with its line.
    pub(crate) changes: Vec<(usize, String)>,
    /// The node that is written.
    pub(crate) content: Content,
}

/// The node of a part.
pub(crate) enum Content {
    /// `prompt`
    Prompt(Prompt),
    /// `commands`, `folder`, `agent-skills`
    Folder(Folder),
    /// `skill`
    Skill(Skill),
}

/// A prompt.
pub(crate) struct Prompt {
    /// Its name.
    pub(crate) name: String,
    /// The importance; absent for the default.
    pub(crate) priority: Option<u8>,
    /// Its text.
    pub(crate) body: Body,
    /// The text that keywords match.
    pub(crate) summary: Option<String>,
    /// The text that lists show.
    pub(crate) description: Option<String>,
    /// Whether people run it, so that no briefing sends it.
    pub(crate) is_command: bool,
    /// Whether the node says that the text is no template, since it looks like one.
    pub(crate) is_settled: bool,
    /// Bytes of its text.
    pub(crate) bytes: usize,
}

/// The text of a prompt.
pub(crate) enum Body {
    /// A file where it is.
    File {
        /// Its path from the project's folder.
        path: String,
        /// Whether it begins with front matter, which the text leaves out.
        has_front_matter: bool,
    },
    /// A text of one line.
    Line(String),
}

/// A folder of prompts.
pub(crate) struct Folder {
    /// The node that reads it.
    pub(crate) node: FolderNode,
    /// Its path from the project's folder.
    pub(crate) path: String,
    /// Its files.
    pub(crate) files: Vec<FolderFile>,
    /// The patterns of the files that the node leaves out, by their path from the folder.
    pub(crate) excluded: Vec<String>,
    /// The ending of the files that are read; absent if the folder has no other markdown files.
    pub(crate) pattern: Option<String>,
    /// The beginning of each name, if another folder has prompts of the same names.
    pub(crate) prefix: Option<String>,
}

/// The node that reads a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderNode {
    /// Markdown commands of another program.
    Commands,
    /// Markdown files with relay's own front matter.
    Prompts,
    /// Folders with a `SKILL.md`.
    AgentSkills,
}

/// A file of a folder.
pub(crate) struct FolderFile {
    /// Its path from the project's folder.
    pub(crate) path: String,
    /// The name of its prompt.
    pub(crate) name: String,
    /// The converted text of a file that an import writes, and where it comes from.
    pub(crate) made: Option<Made>,
    /// The marks of its own program that stay text, by their lines in it.
    pub(crate) marks: Vec<Mark>,
}

/// A file that an import writes.
pub(crate) struct Made {
    /// Its text.
    pub(crate) text: String,
    /// The file that it was made of, and the line.
    pub(crate) from: (String, usize),
    /// The differences from that file, each with its line.
    pub(crate) changes: Vec<(usize, String)>,
}

/// A skill.
pub(crate) struct Skill {
    /// The block that it is in.
    pub(crate) level: Level,
    /// The tenant, tool pattern or user of the block; empty for every call.
    pub(crate) selector: String,
    /// Its name.
    pub(crate) name: String,
    /// The priority; absent for the default.
    pub(crate) priority: Option<u64>,
    /// The other selectors, as properties.
    pub(crate) narrowed: Vec<(&'static str, String)>,
    /// The title for people.
    pub(crate) title: Option<String>,
    /// Its purpose.
    pub(crate) description: Option<String>,
    /// Further facts: texts, numbers and booleans.
    pub(crate) meta: Vec<(String, Value)>,
    /// Whether it is in the bundle.
    pub(crate) is_enabled: bool,
    /// Its text.
    pub(crate) text: String,
    /// The file that an import writes its text to, unless that is one short line.
    pub(crate) copy: Option<String>,
}

impl Part {
    /// Returns the files that the part needs and that are not there yet: path and text.
    pub(crate) fn copies(&self) -> Vec<(String, String)> {
        match &self.content {
            Content::Prompt(_) => Vec::new(),
            Content::Folder(folder) => {
                let made = folder
                    .files
                    .iter()
                    .filter_map(|file| Some((file.path.clone(), file.made.as_ref()?.text.clone())));
                made.collect()
            }
            Content::Skill(skill) => {
                skill.copy.iter().map(|path| (path.clone(), skill.text.clone())).collect()
            }
        }
    }

    /// Returns whether a file of the project belongs to the part.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        match &self.content {
            Content::Prompt(Prompt { body: Body::File { path: own, .. }, .. }) => own == path,
            Content::Prompt(_) => false,
            Content::Folder(folder) => {
                folder.files.iter().any(|file| file.path == path) || folder.skill_of(path).is_some()
            }
            Content::Skill(skill) => skill.copy.as_deref() == Some(path),
        }
    }

    /// Returns the name of the part in the project, for the report.
    pub(crate) fn becomes(&self) -> String {
        match &self.content {
            Content::Prompt(prompt) => format!("prompt {}", prompt.name),
            Content::Folder(folder) => folder.counted(folder.kept().count()),
            Content::Skill(skill) => {
                let Skill { level, selector, name, .. } = skill;
                match level {
                    Level::Global => format!("skill {name}"),
                    Level::Tenant | Level::Tool | Level::User => {
                        format!("skill {} {selector}/{name}", level.word())
                    }
                }
            }
        }
    }
}

/// The file of an agent skill, with the `/` before it.
pub(super) const SKILL_FILE: &str = "/SKILL.md";
/// The most characters of a pattern in a project.
const PATTERN_CHARS_MAX: usize = 256;

impl Folder {
    /// Returns the files that the node does not leave out.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &FolderFile> {
        self.files.iter().filter(|file| {
            let path = self.inside(&file.path);
            !self.excluded.iter().any(|pattern| glob::matches(pattern, path))
        })
    }

    /// Returns a number of its prompts or agent skills in words.
    pub(crate) fn counted(&self, count: usize) -> String {
        let noun = self.noun();
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{plural}")
    }

    /// Returns the name of a file's prompt in the project, for the report.
    pub(crate) fn one(&self, file: &FolderFile) -> String {
        let prefix = self.prefix.as_deref().unwrap_or_default();
        format!("{} {prefix}{}", self.noun(), file.name)
    }

    fn noun(&self) -> &'static str {
        match self.node {
            FolderNode::AgentSkills => "agent skill",
            FolderNode::Commands | FolderNode::Prompts => "prompt",
        }
    }

    /// Returns the kinds of the marks that its commands hold.
    pub(crate) fn kinds(&self) -> BTreeSet<MarkKind> {
        match self.node {
            FolderNode::Commands => {
                self.kept().flat_map(|file| &file.marks).map(|mark| mark.kind).collect()
            }
            // Only commands are searched for marks.
            FolderNode::Prompts | FolderNode::AgentSkills => BTreeSet::new(),
        }
    }

    /// Takes out a file, and returns the rows of the others that go with it: those of its agent skill, or
    /// all if no pattern can name it.
    pub(crate) fn take_out(&mut self, path: &str, origin: Origin) -> Vec<Row> {
        let others = |folder: &Self| -> BTreeSet<(String, usize)> {
            let others = folder.kept().filter(|file| file.path != path);
            others.map(|file| file.origin()).map(|(from, line)| (from.to_owned(), line)).collect()
        };
        let before = others(self);
        let reason = match self.leave_out(path) {
            true => format!("its agent skill is left out with `{path}`"),
            false => {
                self.files.clear();
                format!("its folder is left out: no pattern can name `{path}`")
            }
        };
        let after = others(self);
        let lost = before.into_iter().filter(|place| !after.contains(place));
        lost.map(|(from, line)| Row::left_out(origin, from, line, reason.as_str())).collect()
    }

    /// Leaves out a file; with a file beside a `SKILL.md`, the whole folder of that agent skill. Returns
    /// false if no pattern can name it.
    fn leave_out(&mut self, path: &str) -> bool {
        let own = self.files.iter().position(|file| file.path == path);
        if own.is_some_and(|index| self.files.get(index).is_some_and(|file| file.made.is_some())) {
            self.files.retain(|file| file.path != path);
            return true;
        }
        let pattern = match self.skill_of(path).filter(|_| own.is_none()) {
            Some(skill) => format!("{}/*", literal(self.inside(skill))),
            None => literal(self.inside(path)),
        };
        let is_valid = pattern.chars().count() <= PATTERN_CHARS_MAX;
        if is_valid && !self.excluded.contains(&pattern) {
            self.excluded.push(pattern);
        }
        is_valid
    }

    /// Returns whether a path is in the folder of an agent skill.
    pub(crate) fn is_in_skill(&self, path: &str) -> bool {
        let mut folders = self.files.iter().filter_map(|file| file.path.strip_suffix(SKILL_FILE));
        folders.any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns the folder of the innermost agent skill that a path is in. A folder of skills that is one
    /// itself has no such path.
    fn skill_of(&self, path: &str) -> Option<&str> {
        let is_skills = self.node == FolderNode::AgentSkills;
        let skills = self.files.iter().filter_map(|file| file.path.strip_suffix(SKILL_FILE));
        let is_around = |skill: &&str| {
            is_skills
                && *skill != self.path
                && path.strip_prefix(*skill).is_some_and(|rest| rest.starts_with('/'))
        };
        skills.filter(is_around).max_by_key(|skill| skill.len())
    }

    /// Returns a path from the folder.
    fn inside<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(&self.path).and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(path)
    }
}

impl FolderFile {
    /// Returns the file that it comes from, and the line.
    pub(crate) fn origin(&self) -> (&str, usize) {
        match &self.made {
            Some(made) => (&made.from.0, made.from.1),
            None => (&self.path, 1),
        }
    }
}

/// Returns the pattern that matches a path alone.
fn literal(path: &str) -> String {
    let mut pattern = String::new();
    for letter in path.chars() {
        match letter {
            '*' | '?' | '[' => pattern.extend(['[', letter, ']']),
            _ => pattern.push(letter),
        }
    }
    pattern
}
