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
    let (linked, others): (Vec<_>, Vec<_>) = ignored.rows.into_iter().partition(is_linked);
    found.rows.extend(linked);
    let files = paths.into_iter().map(|file| FolderFile {
        name: name_below(&file, &path, SKILL_FILE).to_owned(),
        path: file,
        made: None,
    });
    let files: Vec<_> = files.collect();
    if files.is_empty() {
        return;
    }
    let mut folder = Folder {
        node: FolderNode::AgentSkills,
        path: path.clone(),
        files,
        excluded: Vec::new(),
        pattern: None,
        prefix: None,
    };
    for row in others {
        let is_misnamed = row.file.to_ascii_uppercase().ends_with(&SKILL_FILE.to_ascii_uppercase());
        if is_misnamed && !folder.is_in_skill(&row.file) && folder.leave_out(&row.file) {
            let reason = "its name is another spelling of `SKILL.md`";
            found.rows.push(Row::left_out(ORIGIN, row.file, 1, reason));
        }
    }
    let content = Content::Folder(folder);
    found.parts.push(Part { origin: ORIGIN, file: path, line: 1, changes: Vec::new(), content });
}
