//! `.claude/skills`: folders with a `SKILL.md`, read where they are.

use super::part::{Content, Folder, FolderFile, FolderNode, Part, SKILL_FILE};
use super::row::{Origin, Row};
use super::source::{Found, Source, name_below};

const FOLDER: &str = ".claude/skills";
const ORIGIN: Origin = Origin::ClaudeSkills;

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let path = source.path(FOLDER);
    let mut ignored = Found::default();
    // The other files of a skill are served with it.
    let paths = source.list(FOLDER, &[SKILL_FILE], ORIGIN, &mut ignored);
    let is_linked =
        |row: &Row| !row.reason.as_deref().unwrap_or_default().starts_with("it does not");
    found.rows.extend(ignored.rows.into_iter().filter(is_linked));
    let files = paths.into_iter().map(|file| FolderFile {
        name: name_below(&file, &path, SKILL_FILE).to_owned(),
        path: file,
        made: None,
    });
    let files: Vec<_> = files.collect();
    if files.is_empty() {
        return;
    }
    let content = Content::Folder(Folder {
        node: FolderNode::AgentSkills,
        path: path.clone(),
        files,
        excluded: Vec::new(),
        pattern: None,
        prefix: None,
    });
    found.parts.push(Part { origin: ORIGIN, file: path, line: 1, changes: Vec::new(), content });
}
