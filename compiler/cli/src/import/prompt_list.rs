//! Lists of prompts in YAML or JSON, as servers of prompts keep them: `name`, `content`, `priority`,
//! `summary`, `chapters`. They become files of a folder.

use relay_compiler::{Yaml, YamlValue, yaml};
use serde_json::Value;

use super::name;
use super::part::{Content, Folder, FolderFile, FolderNode, Made, Part};
use super::row::{Origin, Row};
use super::source::{COPIES, Found, LIST_BYTES_MAX, MARKDOWN_BYTES_MAX, Source};
use crate::markdown::{self, Key};

const ORIGIN: Origin = Origin::PromptList;
/// The files that may be such lists.
const FILES: [&str; 3] = ["prompts.yaml", "prompts.yml", "prompts.json"];
/// The keys of a text, the most usual first.
const TEXT_KEYS: [&str; 3] = ["content", "text", "body"];
/// The keys that say where a prompt is kept, and nothing about it.
const KEPT_KEYS: [&str; 5] = ["id", "project", "projectId", "createdAt", "updatedAt"];
/// The most characters of a description that is made of a text.
const DESCRIPTION_CHARS_MAX: usize = 100;

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let mut files = Vec::new();
    for name in FILES {
        file(source, &source.path(name), &mut files, found);
    }
    finish(files, found);
}

/// Adds the part of the files that lists gave.
pub(super) fn finish(files: Vec<FolderFile>, found: &mut Found) {
    let Some(first) = files.first().and_then(|file| file.made.as_ref()) else { return };
    let file = first.from.0.clone();
    let content = Content::Folder(Folder {
        node: FolderNode::Prompts,
        path: folder(),
        files,
        excluded: Vec::new(),
        pattern: None,
        prefix: None,
    });
    found.parts.push(Part { origin: ORIGIN, file, line: 1, changes: Vec::new(), content });
}

/// Reads a list, if the file is there and is one.
pub(super) fn file(
    source: &Source<'_>,
    path: &str,
    files: &mut Vec<FolderFile>,
    found: &mut Found,
) {
    let Some(text) = source.text(path, LIST_BYTES_MAX, ORIGIN, found) else { return };
    let document = match yaml(text.strip_prefix("---\n").unwrap_or(&text)) {
        Ok(document) => document,
        Err(fault) => {
            found.rows.push(Row::left_out(ORIGIN, path, fault.line, fault.reason));
            return;
        }
    };
    let list = document.get("prompts").unwrap_or(&document);
    let YamlValue::List(items) = &list.value else {
        let reason = "it is not a list of prompts, each with `name` and `content`";
        found.rows.push(Row::left_out(ORIGIN, path, list.line, reason));
        return;
    };
    for item in items {
        let made = prompt(path, item).and_then(|file| {
            let is_taken = files.iter().any(|other| other.name.eq_ignore_ascii_case(&file.name));
            match is_taken {
                true => Err((item.line, format!("another prompt is called `{}`", file.name))),
                false => Ok(file),
            }
        });
        match made {
            Ok(file) => files.push(file),
            Err((line, reason)) => found.rows.push(Row::left_out(ORIGIN, path, line, reason)),
        }
    }
}

fn folder() -> String {
    format!("{COPIES}/prompts")
}

fn prompt(path: &str, item: &Yaml) -> Result<FolderFile, (usize, String)> {
    let missing = |key: &str| (item.line, format!("it has no `{key}`"));
    let named = item.get("name").ok_or_else(|| missing("name"))?;
    let written = named.text().unwrap_or_default();
    let name = name::plain(written);
    let name = name.ok_or_else(|| (named.line, "its name is unusable".to_owned()))?;
    if item.get("linkTarget").is_some_and(|link| link.value != YamlValue::Null) {
        return Err((named.line, "it is a link to a prompt of another server".to_owned()));
    }
    let text = TEXT_KEYS.iter().find_map(|key| item.get(key)?.text());
    let text = text.ok_or_else(|| missing("content"))?;
    if text.len() > MARKDOWN_BYTES_MAX {
        let reason = format!("it has {} bytes, over the limit of {MARKDOWN_BYTES_MAX}", text.len());
        return Err((named.line, reason));
    }
    let mut changes = Vec::new();
    if name != written {
        changes.push((named.line, format!("its name is `{name}`: prompts have no other letters")));
    }
    let line = |key: &str| {
        let text = item.get(key)?.text()?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    };
    let summary = line("summary");
    let description = line("description").or_else(|| summary.clone());
    let summary = summary.filter(|summary| description.as_ref() != Some(summary));
    let mut keys = vec![Key {
        name: "description".to_owned(),
        value: description.unwrap_or_else(|| first_line(text, &name)).into(),
    }];
    keys.extend(line("title").map(|title| Key { name: "title".to_owned(), value: title.into() }));
    for (key, value) in item.entries() {
        match (key.as_str(), &value.value) {
            ("priority", YamlValue::Number(number)) if matches!(number.as_u64(), Some(1..=10)) => {
                keys.push(Key { name: "priority".to_owned(), value: number.clone().into() });
            }
            ("chapters", YamlValue::List(chapters)) => {
                let chapters = chapters.iter().filter_map(Yaml::text).map(Value::from).collect();
                keys.push(Key { name: "chapters".to_owned(), value: Value::Array(chapters) });
            }
            ("name" | "description" | "summary" | "title" | "linkTarget", _)
            | (_, YamlValue::Null) => {}
            (key, _) if TEXT_KEYS.contains(&key) || KEPT_KEYS.contains(&key) => {}
            (key, _) => changes.push((value.line, format!("`{key}` is dropped"))),
        }
    }
    keys.extend(summary.map(|summary| Key { name: "summary".to_owned(), value: summary.into() }));
    Ok(FolderFile {
        path: format!("{}/{name}.md", folder()),
        name,
        made: Some(Made {
            text: markdown::file(&keys, text),
            from: (path.to_owned(), item.line),
            changes,
        }),
        marks: Vec::new(),
    })
}

/// Returns the first line of a text that is not empty, without the marks of a heading; the name of a text
/// without such a line.
fn first_line(text: &str, name: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches(['#', '-', '*', ' ']));
    let line = lines.into_iter().find(|line| !line.is_empty()).unwrap_or(name);
    line.chars().take(DESCRIPTION_CHARS_MAX).collect()
}
