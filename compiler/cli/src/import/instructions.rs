//! `CLAUDE.md`, `AGENTS.md`, `GEMINI.md`, `.cursorrules` and `copilot-instructions.md`: texts that always apply, and
//! those of folders below, which apply to the files there.

use super::name;
use super::part::{Body, Content, Part, Prompt};
use super::row::{Origin, Row};
use super::source::{Found, MARKDOWN_BYTES_MAX, Source};

/// The files, and the names of their prompts. Of two with the same text the first is taken.
const FILES: [(&str, &str); 7] = [
    ("AGENTS.md", "agents"),
    ("CLAUDE.md", "claude"),
    (".claude/CLAUDE.md", "claude"),
    ("GEMINI.md", "gemini"),
    (".cursorrules", "cursorrules"),
    (".github/copilot-instructions.md", "copilot-instructions"),
    ("copilot-instructions.md", "copilot-instructions"),
];

const ORIGIN: Origin = Origin::Instructions;

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let mut texts = Texts::default();
    for (file, name) in FILES {
        texts.file(source, file, name, found);
    }
    for file in &source.inside.instructions {
        let name = file.trim_end_matches(".md");
        let name = match name.rsplit_once('/') {
            Some((folder, last)) => format!("{folder}/{}", last.to_lowercase()),
            None => name.to_lowercase(),
        };
        match name::plain(&name) {
            Some(name) => texts.file(source, file, &name, found),
            None => {
                let reason = "no name of a prompt can be made of its own";
                found.rows.push(Row::left_out(ORIGIN, source.path(file), 1, reason));
            }
        }
    }
    for (folder, origin) in &source.inside.folders {
        let own = folder.split("/.").next().unwrap_or_default();
        let reason =
            format!("programs use it for `{own}` alone: import `{own}` as a project of its own");
        found.rows.push(Row::left_out(*origin, source.path(folder), 1, reason));
    }
    if let Some(folder) = &source.inside.unsearched {
        let reason = "there are too many folders: this one, and others, were not searched";
        found.rows.push(Row::left_out(ORIGIN, source.path(folder), 1, reason));
    }
}

/// The files that were taken so far, each with its text.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

impl Texts {
    /// Makes a prompt of a file, if it is there.
    fn file(&mut self, source: &Source<'_>, file: &str, name: &str, found: &mut Found) {
        let path = source.path(file);
        let Some(text) = source.text(&path, MARKDOWN_BYTES_MAX, ORIGIN, found) else { return };
        let same = self.0.iter().find(|(_, other)| *other == text);
        if let Some((other, _)) = same {
            let reason = format!("its text is that of `{other}`");
            found.rows.push(Row::left_out(ORIGIN, path, 1, reason));
            return;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let taken = self.0.iter().find(|(other, _)| {
            let beside = other.strip_prefix(folder).unwrap_or(other).trim_start_matches('/');
            let inside = other.strip_prefix(source.below.as_str()).unwrap_or(other);
            [beside, inside].iter().any(|name| text.trim() == format!("@{name}"))
        });
        if let Some((other, _)) = taken {
            let reason = format!("all that it does is to include `{other}`, which is a prompt");
            found.rows.push(Row::left_out(ORIGIN, path, 1, reason));
            return;
        }
        let changes = included(&text).into_iter().map(|(line, word)| {
            (line, format!("`{word}` stays as it is written: relay includes no file there"))
        });
        let mut changes: Vec<_> = changes.collect();
        let below = source.inside.instructions.iter().any(|below| below == file);
        let scope = file.rsplit_once('/').map(|(folder, _)| folder).filter(|_| below);
        if let Some(folder) = scope {
            let change = format!(
                "programs use it for `{folder}/**`: here keywords of a task select the prompt"
            );
            changes.insert(0, (1, change));
        }
        let content = Content::Prompt(Prompt {
            name: name.to_owned(),
            priority: scope.is_none().then_some(10),
            body: Body::File { path: path.clone(), has_front_matter: false },
            summary: scope.map(|folder| format!("Instructions for work in {folder}")),
            description: None,
            is_command: false,
            is_settled: false,
            bytes: text.len(),
        });
        found.parts.push(Part { origin: ORIGIN, file: path.clone(), line: 1, changes, content });
        self.0.push((path, text));
    }
}

/// Returns the `@path`s of a text outside of code, each with its line.
fn included(text: &str) -> Vec<(usize, &str)> {
    let mut included = Vec::new();
    let mut is_code = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let words = text.split_whitespace().filter(|word| {
            let path = word.strip_prefix('@').unwrap_or_default();
            !is_code && path.contains(['/', '.']) && !path.contains(['`', '('])
        });
        included.extend(words.map(|word| (line, word)));
    }
    included
}
