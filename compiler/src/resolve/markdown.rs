//! `folder` and `commands`: every markdown file below a folder is a prompt.

mod note;

use miette::Diagnostic;
use thiserror::Error;

use self::note::Notes;
use super::prompt::Markdown;
use super::text::{ARGUMENTS, ARGUMENTS_CHARS_MAX, ARGUMENTS_MARK};
use super::{file, text};
use crate::ast::{self, ArgumentSettings, Folder, FolderSettings, OnError, PromptSettings};
use crate::diagnostic::Diagnostics;
use crate::parse::{MarkdownKind, MarkdownPrompt, Reading, Reporter, markdown_prompt};
use crate::setting::Setting;
use crate::source::{FileId, Listed, ReadError, Sources, Span, Spanned};

/// A prompt of a markdown file, before an environment patches it.
pub(super) struct FilePrompt {
    pub(super) node: ast::Prompt,
    pub(super) markdown: Markdown,
}

/// The prompts below a folder.
#[derive(Default)]
pub(super) struct FolderPrompts {
    /// The prompts of the files that could be read.
    pub(super) prompts: Vec<FilePrompt>,
    /// The names of the others, whose faults were reported.
    pub(super) faulty: Vec<String>,
}

/// Reads a folder of prompts or of commands.
///
/// A prompt's name is its path below the folder without `.md`.
pub(super) fn folder(
    sources: &Sources<'_>,
    node: Folder,
    kind: MarkdownKind,
    out: &mut Diagnostics,
) -> FolderPrompts {
    let Folder {
        path: written,
        new: _,
        settings: FolderSettings { on_error, front_matter, briefing, strict: _ },
        readers,
        allowed,
    } = node;
    let mode = match (on_error.at, kind) {
        (Some(at), MarkdownKind::Folder) => {
            // The project's own prompts are never left out: their faults are always errors.
            out.report(at, OnErrorOfFolder { at });
            OnError::Fail
        }
        _ => on_error.value,
    };
    let reading = Reading { kind, rule: front_matter.value, on_error: mode };
    let briefing = briefing.at.map(|at| Spanned { value: briefing.value, at });
    let mut found = FolderPrompts::default();
    let Some(written) = written else { return found };
    let Some(folder) = file::path(sources, &written, out) else { return found };
    let listed = match sources.list(&folder) {
        Ok(listed) => listed,
        Err(reason) => {
            file::report_unreadable(sources, folder, reason, written.at, out);
            return found;
        }
    };
    // The list holds a folder, with a `/` at its end, if its contents are unknown.
    let counts = |file: &Listed| file.path.ends_with(".md") || file.path.ends_with('/');
    let files: Vec<_> = listed.into_iter().filter(counts).collect();
    if files.is_empty() {
        out.report(written.at, NothingThere { folder: folder.clone(), at: written.at });
    }
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut reader = Reader { sources, reading, notes: Notes::default() };
    for listed in files {
        let Some(file) = open(sources, &listed, mode, written.at, out) else {
            found.faulty.extend(name_of(&listed, &below));
            continue;
        };
        let Some(name) = name_of(&listed, &below) else { continue };
        if name.is_empty() || name.ends_with('/') {
            let at = file.span(0, 0);
            Reporter::new(mode, out).refuse(at, NoName { path: listed.path, at });
            continue;
        }
        match reader.one(&name, file, out) {
            Some(mut prompt) => {
                prompt.node.allowed.clone_from(&allowed);
                prompt.node.readers.clone_from(&readers);
                prompt.node.about.briefing =
                    prompt.node.about.briefing.or_else(|| briefing.clone());
                found.prompts.push(prompt);
            }
            None => found.faulty.push(name),
        }
    }
    reader.notes.report(out);
    found
}

/// Returns the name of a file's prompt.
fn name_of(listed: &Listed, below: &str) -> Option<String> {
    let path = listed.path.strip_prefix(below)?;
    path.strip_suffix(".md").map(str::to_owned)
}

fn open(
    sources: &Sources<'_>,
    listed: &Listed,
    mode: OnError,
    at: Span,
    out: &mut Diagnostics,
) -> Option<FileId> {
    let path = listed.path.clone();
    let mut reporter = Reporter::new(mode, out);
    if let Some(reason) = listed.fault.clone() {
        reporter.refuse(at, Unreadable { path, reason, at });
        return None;
    }
    if listed.link {
        reporter.refuse(at, Link { path, at });
        return None;
    }
    match sources.load(&path) {
        Ok(file) => Some(file),
        Err(reason) => {
            reporter.refuse(at, Unreadable { path, reason, at });
            None
        }
    }
}

/// The markdown files of a folder while they are read.
struct Reader<'r, 's> {
    sources: &'r Sources<'s>,
    reading: Reading,
    /// Findings that are reported once for several files.
    notes: Notes,
}

impl Reader<'_, '_> {
    fn one(&mut self, name: &str, file: FileId, out: &mut Diagnostics) -> Option<FilePrompt> {
        let Self { sources, reading, notes } = self;
        let kind = reading.kind;
        let bytes = &sources.file(file).bytes;
        let MarkdownPrompt {
            description,
            title,
            priority,
            briefing,
            summary,
            chapters,
            argument_hint,
            unknown_keys,
            meta,
            body,
            body_start,
        } = markdown_prompt(file, bytes, *reading, out)?;
        let at = file.span(0, 0);
        // Every command takes arguments; a project's own prompt takes them if its text has a place
        // for them.
        let is_marked = body.contains(ARGUMENTS_MARK);
        let takes_arguments = kind == MarkdownKind::Command || is_marked;
        if kind == MarkdownKind::Command {
            notes.body(sources, file, body_start);
            notes.unknown_keys(unknown_keys);
            if let Some(hint) = argument_hint.clone().filter(|_| !is_marked) {
                notes.idle_hint(hint);
            }
        }
        let default = PromptSettings::default();
        let priority = Setting::or(priority, default.priority.value);
        let settings = PromptSettings { priority, title, description, ..default };
        let node = ast::Prompt {
            name: Some(Spanned { value: name.into(), at }),
            new: None,
            settings,
            about: ast::PromptAbout { briefing, summary, chapters },
            arguments: takes_arguments.then(|| arguments(at, argument_hint)).into_iter().collect(),
            body: ast::Body::default(),
            messages: Vec::new(),
            readers: Vec::new(),
            allowed: Vec::new(),
        };
        let text = text::from_markdown(file, body, body_start, kind == MarkdownKind::Command);
        Some(FilePrompt { node, markdown: Markdown { text, meta, kind } })
    }
}

/// Returns the one argument of a markdown file.
pub(super) fn arguments(at: Span, hint: Option<Spanned<String>>) -> ast::Argument {
    ast::Argument {
        name: Some(Spanned { value: ARGUMENTS.into(), at }),
        new: None,
        settings: ArgumentSettings {
            description: hint,
            chars_max: Some(Spanned { value: ARGUMENTS_CHARS_MAX, at }),
            ..ArgumentSettings::default()
        },
        default: None,
    }
}

/// The path is mistyped, or the node is no longer needed.
#[derive(Debug, Error, Diagnostic)]
#[error("no `*.md` file below `{folder}`")]
#[diagnostic(code(folder::nothing), help("add a file, or remove the node"))]
struct NothingThere {
    folder: String,
    #[label(primary, "gives no prompts")]
    at: Span,
}

/// Files of a `folder` are the project's own, so their faults are to be fixed. Only `commands`,
/// written for other programs, may be skipped or repaired.
#[derive(Debug, Error, Diagnostic)]
#[error("`on-error` belongs to `commands`")]
#[diagnostic(
    code(folder::on_error),
    help("remove it; the faults of a project's own prompts are always errors")
)]
struct OnErrorOfFolder {
    #[label(primary, "not of a folder")]
    at: Span,
}

/// The target of a link may lie outside of the project or be another one on the next machine, so
/// the same project would give another bundle.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is a link")]
#[diagnostic(code(markdown::link), help("put a copy of the file there"))]
struct Link {
    path: String,
    #[label(primary, "below this folder")]
    at: Span,
}

/// A file that is silently left out would be a prompt that agents miss.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot read `{path}`: {reason}")]
#[diagnostic(
    code(markdown::unreadable),
    help("see that it can be read, or put a copy of it there")
)]
struct Unreadable {
    path: String,
    reason: ReadError,
    #[label(primary, "below this folder")]
    at: Span,
}

/// A prompt is named after its file, and this file has nothing before `.md`.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` gives no name to a prompt")]
#[diagnostic(code(markdown::no_name), help("name the file as the prompt: `NAME.md`"))]
struct NoName {
    path: String,
    #[label(primary, "this file")]
    at: Span,
}
