//! `folder` and `commands`: every markdown file below a folder is a prompt.

use miette::Diagnostic;
use thiserror::Error;

use super::prompt::Markdown;
use super::text::{ARGUMENTS, ARGUMENTS_CHARS_MAX, ARGUMENTS_MARK};
use super::{file, text};
use crate::ast::{self, Folder, OnError};
use crate::diagnostic::Diagnostics;
use crate::parse::{MarkdownKind, MarkdownPrompt, markdown_prompt};
use crate::source::{FileId, Listed, Sources, Span, Spanned};

/// A prompt of a markdown file, before an environment patches it.
pub(super) struct FilePrompt {
    pub(super) node: ast::Prompt,
    pub(super) markdown: Markdown,
}

/// What is below a folder.
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
    let Folder { path: written, new: _, on_error, allowed_secrets } = node;
    let mode = match (&on_error, kind) {
        (Some(mode), MarkdownKind::Folder) => {
            // The project's own prompts are never left out: their faults are always errors.
            out.report(mode.at, OnErrorOfFolder { at: mode.at });
            OnError::Fail
        }
        (Some(mode), _) => mode.value,
        (None, _) => OnError::Fail,
    };
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
    let files: Vec<_> = listed.into_iter().filter(|file| file.path.ends_with(".md")).collect();
    if files.is_empty() {
        out.report(written.at, NothingThere { folder: folder.clone(), at: written.at });
    }
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    for listed in files {
        let name = listed.path.strip_prefix(&below).and_then(|path| path.strip_suffix(".md"));
        let Some(name) = name.map(str::to_owned) else { continue };
        let file = open(sources, &listed, mode, written.at, out);
        match file.and_then(|file| one(sources, &name, file, kind, mode, out)) {
            Some(mut prompt) => {
                prompt.node.allowed_secrets.clone_from(&allowed_secrets);
                found.prompts.push(prompt);
            }
            None => found.faulty.push(name),
        }
    }
    found
}

fn open(
    sources: &Sources<'_>,
    listed: &Listed,
    mode: OnError,
    at: Span,
    out: &mut Diagnostics,
) -> Option<FileId> {
    let path = listed.path.clone();
    if listed.link {
        match mode {
            OnError::Skip => out.report(at, LinkSkipped { path, at }),
            OnError::Fail | OnError::Repair => out.report(at, Link { path, at }),
        }
        return None;
    }
    match sources.load(&path) {
        Ok(file) => Some(file),
        Err(reason) => {
            file::report_unreadable(sources, path, reason, at, out);
            None
        }
    }
}

fn one(
    sources: &Sources<'_>,
    name: &str,
    file: FileId,
    kind: MarkdownKind,
    mode: OnError,
    out: &mut Diagnostics,
) -> Option<FilePrompt> {
    let bytes = &sources.file(file).bytes;
    let MarkdownPrompt {
        description,
        title,
        priority,
        summary,
        chapters,
        argument_hint,
        meta,
        body,
        body_start,
    } = markdown_prompt(file, bytes, kind, mode, out)?;
    let at = file.span(0, 0);
    // Every command takes arguments; a project's own prompt takes them where its text has a
    // place for them.
    let takes_arguments = kind == MarkdownKind::Command || body.contains(ARGUMENTS_MARK);
    let node = ast::Prompt {
        name: Some(Spanned { value: name.into(), at }),
        new: None,
        enabled: None,
        priority,
        title,
        description: Some(description),
        summary,
        chapters,
        arguments: takes_arguments.then(|| arguments(at, argument_hint)).into_iter().collect(),
        body: ast::Body::default(),
        messages: Vec::new(),
        allowed_secrets: Vec::new(),
    };
    let text = text::from_markdown(file, body, body_start);
    Some(FilePrompt { node, markdown: Markdown { text, meta, kind } })
}

/// Returns the one argument of a markdown file.
fn arguments(at: Span, hint: Option<String>) -> ast::Argument {
    ast::Argument {
        name: Some(Spanned { value: ARGUMENTS.into(), at }),
        new: None,
        required: None,
        default: None,
        description: hint.map(|value| Spanned { value, at }),
        kind: None,
        one_of: None,
        chars_max: Some(Spanned { value: ARGUMENTS_CHARS_MAX, at }),
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("no `*.md` file below `{folder}`")]
#[diagnostic(code(folder::nothing), help("add a file, or remove the node"))]
struct NothingThere {
    folder: String,
    #[label(primary, "gives no prompts")]
    at: Span,
}

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

#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is a link")]
#[diagnostic(code(markdown::link), help("put a copy of the file there"))]
struct Link {
    path: String,
    #[label(primary, "below this folder")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is a link: skipped")]
#[diagnostic(code(markdown::link), severity(Warning), help("put a copy of the file there"))]
struct LinkSkipped {
    path: String,
    #[label(primary, "below this folder")]
    at: Span,
}
