//! The files of other programs in the folders below the one to import: programs use them for the files around
//! them.

use std::fs;
use std::path::Path;

use relay_compiler::is_shown;

use super::row::Origin;

/// The names of instructions, which apply to the folder that they are in.
const INSTRUCTIONS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// The folders with files of other programs.
const FOLDERS: [(&str, Origin); 4] = [
    (".claude/commands", Origin::ClaudeCommands),
    (".claude/rules", Origin::ClaudeRules),
    (".claude/skills", Origin::ClaudeSkills),
    (".cursor/rules", Origin::CursorRules),
];
/// Folders of downloaded and generated files, which are not searched.
const NOT_OWN: [&str; 5] = ["node_modules", "target", "vendor", "venv", "__pycache__"];
/// The most folders that are searched, and how deep.
const FOLDERS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;

/// The files and folders below, by path from the folder to import, sorted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Below {
    /// The instructions.
    pub(super) instructions: Vec<String>,
    /// The folders with files of another program.
    pub(super) folders: Vec<(String, Origin)>,
    /// A folder that was not searched, since there are too many.
    pub(super) unsearched: Option<String>,
}

impl Below {
    /// Searches the folders below `folder`. Links, hidden folders and folders of downloaded files are not searched.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut below = Self::default();
        let mut open = vec![(String::new(), 0)];
        let mut searched = 0;
        while let Some((inside, depth)) = open.pop() {
            if searched == FOLDERS_MAX || depth > DEPTH_MAX {
                below.unsearched = Some(inside);
                break;
            }
            searched += 1;
            // A folder that cannot be read has nothing to import.
            let Ok(entries) = fs::read_dir(folder.join(&inside)) else { continue };
            for entry in entries.flatten() {
                let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string())
                else {
                    continue;
                };
                let path =
                    if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
                let is_own = !name.starts_with('.') && !NOT_OWN.contains(&name.as_str());
                if kind.is_dir() && is_own && is_shown(&name) {
                    open.push((path, depth + 1));
                } else if depth > 0 && !kind.is_dir() && INSTRUCTIONS.contains(&name.as_str()) {
                    below.instructions.push(path);
                }
            }
            if depth > 0 {
                let there =
                    FOLDERS.iter().map(|(name, origin)| (format!("{inside}/{name}"), *origin));
                below.folders.extend(there.filter(|(path, _)| folder.join(path).is_dir()));
            }
        }
        below.instructions.sort();
        below.folders.sort();
        below
    }
}
