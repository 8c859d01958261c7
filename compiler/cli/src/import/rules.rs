//! `.claude/rules`, `.cursor/rules` and `.github/instructions`: texts with front matter that says when
//! they apply.

use relay_compiler::{Yaml, YamlValue, front_matter, yaml};

use super::name;
use super::part::{Body, Content, Part, Prompt};
use super::row::{Origin, Row};
use super::source::{Found, MARKDOWN_BYTES_MAX, Source, name_below};

/// A folder of rules.
struct Kind {
    folder: &'static str,
    ending: &'static str,
    origin: Origin,
    /// The key that names the files for which a rule applies.
    files_key: &'static str,
    /// Whether a rule without that key applies always.
    is_always_by_default: bool,
}

const KINDS: [Kind; 3] = [
    Kind {
        folder: ".claude/rules",
        ending: ".md",
        origin: Origin::ClaudeRules,
        files_key: "paths",
        is_always_by_default: true,
    },
    Kind {
        folder: ".cursor/rules",
        ending: ".mdc",
        origin: Origin::CursorRules,
        files_key: "globs",
        is_always_by_default: false,
    },
    Kind {
        folder: ".github/instructions",
        ending: ".instructions.md",
        origin: Origin::GithubInstructions,
        files_key: "applyTo",
        is_always_by_default: false,
    },
];

/// The patterns of files that match every file.
const EVERY_FILE: [&str; 3] = ["**", "**/*", "*"];

/// The front matter of a rule.
#[derive(Default)]
struct Matter {
    description: Option<String>,
    /// The patterns of files, with their line.
    files: Option<(usize, String)>,
    always: Option<bool>,
    /// The other keys, each with its line.
    others: Vec<(usize, String)>,
}

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    for kind in &KINDS {
        let folder = source.path(kind.folder);
        for path in source.list(kind.folder, &[kind.ending], kind.origin, found) {
            let text = source.text(&path, MARKDOWN_BYTES_MAX, kind.origin, found);
            let Some(text) = text else { continue };
            let written = name_below(&path, &folder, kind.ending);
            let Some(name) = name::plain(written) else {
                let reason = "no name of a prompt can be made of its own";
                found.rows.push(Row::left_out(kind.origin, path, 1, reason));
                continue;
            };
            let mut part = rule(kind, &path, name.clone(), &text);
            if name != written {
                part.changes
                    .push((1, format!("its name is `{name}`: prompts have no other letters")));
            }
            found.parts.push(part);
        }
    }
}

fn rule(kind: &Kind, path: &str, name: String, text: &str) -> Part {
    let split = front_matter(text);
    let mut changes = Vec::new();
    let matter = split.map(|(yaml, _)| Matter::of(yaml, kind, &mut changes)).unwrap_or_default();
    let Matter { description, files, always, others } = matter;
    changes.extend(others.into_iter().map(|(line, key)| (line, format!("`{key}` is dropped"))));
    let is_every = |files: &str| EVERY_FILE.contains(&files);
    let is_always = match (always, &files) {
        (Some(always), _) => always,
        (None, Some((_, files))) => is_every(files),
        (None, None) => kind.is_always_by_default,
    };
    if let Some((line, files)) = files.filter(|_| !is_always) {
        let key = kind.files_key;
        let files = format!("`{key}: {files}` is dropped: keywords of a task select the prompt");
        changes.push((line, files));
    }
    let content = Content::Prompt(Prompt {
        name,
        priority: is_always.then_some(10),
        body: Body::File { path: path.to_owned(), has_front_matter: split.is_some() },
        summary: description,
        description: None,
        is_command: false,
        is_settled: false,
        bytes: split.map_or(text, |(_, body)| body).len(),
    });
    Part { origin: kind.origin, file: path.to_owned(), line: 1, changes, content }
}

impl Matter {
    /// Reads front matter. Patterns such as `*.ts` are no YAML without quotes, and the programs that own
    /// these files take them, so other front matter is read line by line.
    fn of(text: &str, kind: &Kind, changes: &mut Vec<(usize, String)>) -> Self {
        let read = yaml(text).ok();
        let entries: Vec<(String, usize, Option<String>)> = match &read {
            Some(yaml) => {
                let entry = |(key, value): &(String, Yaml)| {
                    // The line of the opening mark comes first.
                    (key.clone(), value.line + 1, scalar(value))
                };
                yaml.entries().iter().map(entry).collect()
            }
            None => by_line(text),
        };
        let mut matter = Self::default();
        for (key, line, value) in entries {
            let value = value.filter(|value| !value.is_empty());
            match (key.as_str(), value) {
                ("description", Some(value)) => matter.description = Some(value),
                ("alwaysApply", Some(value)) if kind.origin == Origin::CursorRules => {
                    matter.always = Some(value == "true");
                }
                (known, Some(value)) if known == kind.files_key => {
                    matter.files = Some((line, value))
                }
                (known, None) if known == "description" || known == kind.files_key => {}
                _ => matter.others.push((line, key)),
            }
        }
        if read.is_none() && matter.description.is_none() && matter.files.is_none() {
            changes.push((1, "its front matter is not YAML, and is dropped unread".to_owned()));
        }
        matter
    }
}

/// Returns a value in one line: a list is joined with commas.
fn scalar(yaml: &Yaml) -> Option<String> {
    match &yaml.value {
        YamlValue::Text(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        YamlValue::Bool(value) => Some(value.to_string()),
        YamlValue::Number(number) => Some(number.to_string()),
        YamlValue::List(items) => {
            let items: Vec<_> = items.iter().filter_map(scalar).collect();
            Some(items.join(", "))
        }
        YamlValue::Null | YamlValue::Map(_) => None,
    }
}

fn by_line(text: &str) -> Vec<(String, usize, Option<String>)> {
    let mut entries: Vec<(String, usize, Option<String>)> = Vec::new();
    for (line, text) in (2..).zip(text.lines()) {
        if let Some(item) = text.trim().strip_prefix("- ") {
            if let Some((_, _, value)) = entries.last_mut() {
                let before = value.take().filter(|before| !before.is_empty());
                let item = unquoted(item);
                *value =
                    Some(before.map_or_else(|| item.to_owned(), |all| format!("{all}, {item}")));
            }
        } else if let Some((key, value)) = text.split_once(':')
            && !key.is_empty()
            && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        {
            entries.push((key.to_owned(), line, Some(unquoted(value).to_owned())));
        }
    }
    entries
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inner = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
