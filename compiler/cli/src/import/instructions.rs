//! `CLAUDE.md`, `AGENTS.md`, `.cursorrules` and `copilot-instructions.md`: texts that always apply.

use super::part::{Body, Content, Part, Prompt};
use super::row::{Origin, Row};
use super::source::{Found, MARKDOWN_BYTES_MAX, Source};

/// The files, and the names of their prompts. Of two with the same text the first is taken.
const FILES: [(&str, &str); 6] = [
    ("AGENTS.md", "agents"),
    ("CLAUDE.md", "claude"),
    (".claude/CLAUDE.md", "claude"),
    (".cursorrules", "cursorrules"),
    (".github/copilot-instructions.md", "copilot-instructions"),
    ("copilot-instructions.md", "copilot-instructions"),
];

const ORIGIN: Origin = Origin::Instructions;

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let mut texts: Vec<(String, String)> = Vec::new();
    for (file, name) in FILES {
        let path = source.path(file);
        let Some(text) = source.text(&path, MARKDOWN_BYTES_MAX, ORIGIN, found) else { continue };
        let same = texts.iter().find(|(_, other)| *other == text);
        if let Some((other, _)) = same {
            let reason = format!("its text is that of `{other}`");
            found.rows.push(Row::left_out(ORIGIN, path, 1, reason));
            continue;
        }
        let included = included(&text);
        let taken = texts.iter().find(|(other, _)| {
            let name = other.strip_prefix(source.below.as_str()).unwrap_or(other);
            text.trim() == format!("@{name}")
        });
        if let Some((other, _)) = taken {
            let reason = format!("all that it does is to include `{other}`, which is a prompt");
            found.rows.push(Row::left_out(ORIGIN, path, 1, reason));
            continue;
        }
        let changes = included.into_iter().map(|(line, word)| {
            (line, format!("`{word}` stays as it is written: relay includes no file there"))
        });
        let content = Content::Prompt(Prompt {
            name: name.to_owned(),
            priority: Some(10),
            body: Body::File { path: path.clone(), has_front_matter: false },
            summary: None,
            description: None,
            is_command: false,
            is_settled: false,
            bytes: text.len(),
        });
        let changes = changes.collect();
        found.parts.push(Part { origin: ORIGIN, file: path.clone(), line: 1, changes, content });
        texts.push((path, text));
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
