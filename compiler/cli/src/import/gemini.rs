//! `.gemini/commands`: prompts in TOML, which no node reads. Short ones become lines of the project, else
//! all become markdown commands in a folder of their own.

use relay_compiler::Mark;
use toml::{Table, Value};

use super::part::{Body, Content, Folder, FolderFile, FolderNode, Made, Part, Prompt};
use super::row::{Origin, Row};
use super::source::{COPIES, Found, LIST_BYTES_MAX, MARKDOWN_BYTES_MAX, Source, name_below};
use super::{marks, name};
use crate::markdown::{self, Key};

const FOLDER: &str = ".gemini/commands";
const ENDING: &str = ".toml";
const ORIGIN: Origin = Origin::GeminiCommands;

/// The mark of the typed arguments, here and there.
const TYPED: [&str; 2] = ["{{args}}", "$ARGUMENTS"];

/// The most commands, and the most characters of each, that are written into the project.
const LINES_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 80;

/// A command as its file says it.
struct Command {
    file: String,
    name: String,
    description: Option<String>,
    text: String,
    marks: Vec<Mark>,
    changes: Vec<(usize, String)>,
}

pub(super) fn find(source: &Source<'_>, found: &mut Found) {
    let mut commands: Vec<Command> = Vec::new();
    for path in source.list(FOLDER, &[ENDING], ORIGIN, found) {
        let Some(text) = source.text(&path, LIST_BYTES_MAX, ORIGIN, found) else { continue };
        match command(source, &path, &text) {
            Ok(command) => {
                let is_same = |other: &Command| other.name.eq_ignore_ascii_case(&command.name);
                match commands.iter().find(|other| is_same(other)) {
                    Some(other) => {
                        let reason = format!("`{}` is called `{}` too", other.file, command.name);
                        found.rows.push(Row::left_out(ORIGIN, path, 1, reason));
                    }
                    None => commands.push(command),
                }
            }
            Err((line, reason)) => found.rows.push(Row::left_out(ORIGIN, path, line, reason)),
        }
    }
    let is_line = |command: &Command| {
        !command.text.contains('\n') && command.text.chars().count() <= LINE_CHARS_MAX
    };
    if commands.len() <= LINES_MAX && commands.iter().all(is_line) {
        found.parts.extend(commands.into_iter().map(line));
    } else {
        found.parts.push(folder(source, commands));
    }
}

fn command(source: &Source<'_>, path: &str, text: &str) -> Result<Command, (usize, String)> {
    let line_of = |offset: usize| text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(1, |span| line_of(span.start));
        (at, format!("it is not TOML: {}", error.message()))
    })?;
    let written = name_below(path, &source.path(FOLDER), ENDING).to_owned();
    let name = name::plain(&written)
        .ok_or_else(|| (1, "no name of a prompt can be made of its own".to_owned()))?;
    let mut changes = Vec::new();
    if name != written {
        changes.push((1, format!("its name is `{name}`: prompts have no other letters")));
    }
    let (mut prompt, mut description) = (None, None);
    for (key, value) in table {
        let line = line_of(text.find(&key).unwrap_or(0));
        match (key.as_str(), value) {
            ("prompt", Value::String(value)) => prompt = Some((line, value)),
            ("description", Value::String(value)) => description = Some(value),
            _ => changes.push((line, format!("`{key}` is dropped"))),
        }
    }
    let (line, prompt) = prompt.ok_or_else(|| (1, "it has no `prompt`".to_owned()))?;
    if prompt.len() > MARKDOWN_BYTES_MAX {
        let bytes = prompt.len();
        return Err((line, format!("its prompt has {bytes} bytes, over {MARKDOWN_BYTES_MAX}")));
    }
    let [typed, ours] = TYPED;
    if !prompt.contains(typed) {
        let change = "arguments that people type are ignored: Gemini appends them to the text";
        changes.push((line, change.to_owned()));
    }
    let prompt = prompt.trim_matches('\n').replace(typed, ours);
    let mut marks = relay_compiler::marks(&prompt);
    for mark in &mut marks {
        mark.line = line_of(text.find(&mark.text).unwrap_or(0));
    }
    Ok(Command { file: path.to_owned(), name, description, text: prompt, marks, changes })
}

/// Returns a command as a node of the project.
fn line(Command { file, name, description, text, marks, mut changes }: Command) -> Part {
    changes.extend(marks::changes(&marks));
    let content = Content::Prompt(Prompt {
        name,
        priority: None,
        bytes: text.len(),
        is_settled: text.contains("{{") || text.contains("{%"),
        body: Body::Line(text),
        summary: None,
        description,
        is_command: true,
    });
    Part { origin: ORIGIN, file, line: 1, changes, content }
}

/// Returns commands as the files of a folder.
fn folder(source: &Source<'_>, commands: Vec<Command>) -> Part {
    let path = format!("{COPIES}/gemini-commands");
    let files = commands.into_iter().map(|command| {
        let Command { file, name, description, text, marks, changes } = command;
        let keys =
            description.map(|text| Key { name: "description".to_owned(), value: text.into() });
        FolderFile {
            path: format!("{path}/{name}.md"),
            name,
            made: Some(Made {
                text: markdown::file(keys.as_slice(), &text),
                from: (file, 1),
                changes,
            }),
            marks,
        }
    });
    let content = Content::Folder(Folder {
        node: FolderNode::Commands,
        files: files.collect(),
        path,
        excluded: Vec::new(),
        pattern: None,
        prefix: None,
    });
    let file = source.path(FOLDER);
    Part { origin: ORIGIN, file, line: 1, changes: Vec::new(), content }
}
