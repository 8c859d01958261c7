//! `.claude/commands`, `.github/prompts` and the like: folders of markdown commands, read where they are.

use super::marks;
use super::part::{Content, Folder, FolderFile, FolderNode, Part};
use super::row::{Origin, Row};
use super::source::{Found, Source, name_below};

/// The ending of every file that `commands` reads without a pattern.
const MARKDOWN: &str = ".md";

/// The ending of the files of each folder.
const FOLDERS: [(&str, &str, Origin); 5] = [
    (".claude/commands", ".md", Origin::ClaudeCommands),
    (".cursor/commands", ".md", Origin::CursorCommands),
    (".opencode/command", ".md", Origin::OpencodeCommands),
    (".opencode/commands", ".md", Origin::OpencodeCommands),
    (".github/prompts", ".prompt.md", Origin::GithubPrompts),
];

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    for (folder, ending, origin) in FOLDERS {
        let mut refused = Found::default();
        let (paths, others): (Vec<_>, Vec<_>) = source
            .list(folder, &[MARKDOWN], origin, &mut refused)
            .into_iter()
            .partition(|path| path.ends_with(ending));
        let pattern = (!others.is_empty()).then(|| format!("*{ending}"));
        let reason =
            |path| Row::left_out(origin, path, 1, format!("it does not end with {ending}"));
        found.rows.extend(others.into_iter().map(reason));
        let path = source.path(folder);
        let files = paths.into_iter().map(|file| FolderFile {
            name: name_below(&file, &path, ending).to_owned(),
            marks: marks::of_file(source, &file, origin),
            path: file,
            made: None,
        });
        let mut folder = Folder {
            node: FolderNode::Commands,
            path: path.clone(),
            files: files.collect(),
            excluded: Vec::new(),
            pattern,
            prefix: None,
        };
        // The node would read them or fail at them.
        let is_read = |row: &&Row| row.file.ends_with(ending) || row.file.ends_with('/');
        for row in refused.rows.iter().filter(is_read) {
            found.rows.extend(folder.take_out(&row.file, origin));
        }
        found.rows.extend(refused.rows);
        if folder.files.is_empty() {
            continue;
        }
        let content = Content::Folder(folder);
        found.parts.push(Part { origin, file: path, line: 1, changes: Vec::new(), content });
    }
}
