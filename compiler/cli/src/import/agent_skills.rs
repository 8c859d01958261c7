//! `.claude/skills` and the like: folders with a `SKILL.md`, read where they are.

use std::collections::BTreeMap;

use super::marks;
use super::part::{Content, Folder, FolderFile, FolderNode, Part, SKILL_FILE};
use super::row::{Origin, Row};
use super::source::{Found, Source, name_below};

/// The folders, the first of which has precedence for a name.
const FOLDERS: [(&str, Origin); 5] = [
    (".claude/skills", Origin::ClaudeSkills),
    (".agents/skills", Origin::AgentSkills),
    (".github/skills", Origin::AgentSkills),
    (".cursor/skills", Origin::AgentSkills),
    (".codex/skills", Origin::AgentSkills),
];

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    // The path of each skill so far, by its name in small letters.
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for (folder, origin) in FOLDERS {
        let path = source.path(folder);
        let mut ignored = Found::default();
        // The other files of a skill are served with it.
        let paths = source.list(folder, &[SKILL_FILE], origin, &mut ignored);
        let files = paths.into_iter().map(|file| FolderFile {
            name: name_below(&file, &path, SKILL_FILE).to_owned(),
            marks: marks::of_file(source, &file, origin),
            path: file,
            made: None,
        });
        let mut folder = Folder {
            node: FolderNode::AgentSkills,
            path: path.clone(),
            files: files.collect(),
            excluded: Vec::new(),
            pattern: None,
            prefix: None,
        };
        leave_out_ignored(&mut folder, ignored.rows, source, found);
        leave_out_taken(&mut folder, &taken, origin, found);
        taken.extend(folder.kept().map(|file| (file.name.to_lowercase(), file.path.clone())));
        if folder.kept().next().is_some() {
            let content = Content::Folder(folder);
            found.parts.push(Part { origin, file: path, line: 1, changes: Vec::new(), content });
        }
    }
}

/// Leaves out the skills with a file that cannot be read, and each `SKILL.md` in another spelling. Other files are served with the skill that they are in, or are of no skill.
fn leave_out_ignored(folder: &mut Folder, rows: Vec<Row>, source: &Source<'_>, found: &mut Found) {
    for Row { file, origin, reason, .. } in rows {
        let reason = match folder.is_in_skill(&file) {
            true => source.files.read(&file).err().map(|error| error.to_string()),
            false if file.ends_with(SKILL_FILE) || file.ends_with('/') => reason,
            false => {
                let is_misnamed =
                    file.to_ascii_uppercase().ends_with(&SKILL_FILE.to_ascii_uppercase());
                is_misnamed.then(|| "its name is another spelling of `SKILL.md`".to_owned())
            }
        };
        if let Some(reason) = reason {
            found.rows.extend(folder.take_out(&file, origin));
            found.rows.push(Row::left_out(origin, file, 1, reason));
        }
    }
}

/// Leaves out the skills with a name that an earlier folder has: they are usually copies for another program.
fn leave_out_taken(
    folder: &mut Folder,
    taken: &BTreeMap<String, String>,
    origin: Origin,
    found: &mut Found,
) {
    let other =
        |file: &FolderFile| Some((file.path.clone(), taken.get(&file.name.to_lowercase())?));
    let clashing: Vec<_> = folder.files.iter().filter_map(other).collect();
    for (path, other) in clashing {
        found.rows.extend(folder.take_out(&path, origin));
        found.rows.push(Row::left_out(origin, path, 1, format!("`{other}` has its name")));
    }
}
