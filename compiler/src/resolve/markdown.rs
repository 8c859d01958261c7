//! `folder` and `commands`: every markdown file below a folder is a prompt.

use miette::Diagnostic;
use relay_bundle::Rendering;
use thiserror::Error;

use super::{body, file, prompt, summary, text};
use crate::ast::{Folder, OnError};
use crate::diagnostic::Diagnostics;
use crate::model::{Prompt, Setting};
use crate::parse::{MarkdownKind, MarkdownPrompt, PRIORITY, markdown_prompt};
use crate::source::{FileId, Listed, Sources, Span, Spanned};

/// Resolves a folder of prompts or of commands.
///
/// A prompt's name is its path below the folder without `.md`.
pub(super) fn folder(
    sources: &Sources<'_>,
    node: Folder,
    kind: MarkdownKind,
    out: &mut Diagnostics,
) -> Vec<Prompt> {
    let Folder { path: written, on_error, allowed_secrets } = node;
    let mode = match (&on_error, kind) {
        (Some(mode), MarkdownKind::Folder) => {
            // The project's own prompts are never left out: their faults are always errors.
            out.report(mode.at, OnErrorOfFolder { at: mode.at });
            OnError::Fail
        }
        (Some(mode), _) => mode.value,
        (None, _) => OnError::Fail,
    };
    let allowed_secrets = prompt::allowed_secrets(allowed_secrets, out);
    let Some(written) = written else { return Vec::new() };
    let Some(folder) = file::path(sources, &written, out) else { return Vec::new() };
    let listed = match sources.list(&folder) {
        Ok(listed) => listed,
        Err(reason) => {
            file::report_unreadable(sources, folder, reason, written.at, out);
            return Vec::new();
        }
    };
    let files: Vec<_> = listed.into_iter().filter(|file| file.path.ends_with(".md")).collect();
    if files.is_empty() {
        out.report(written.at, NothingThere { folder: folder.clone(), at: written.at });
    }
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    files
        .into_iter()
        .filter_map(|listed| {
            let name = listed.path.strip_prefix(&below)?.strip_suffix(".md")?.to_owned();
            let file = open(sources, &listed, mode, written.at, out)?;
            let prompt = one(sources, name, file, kind, mode, out)?;
            Some(Prompt { allowed_secrets: allowed_secrets.clone(), ..prompt })
        })
        .collect()
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
    name: String,
    file: FileId,
    kind: MarkdownKind,
    mode: OnError,
    out: &mut Diagnostics,
) -> Option<Prompt> {
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
    let text = text::from_markdown(file, body, body_start);
    let source = text.source.clone();
    // Every command takes arguments; a project's own prompt takes them where its text has a
    // place for them.
    let arguments = match kind {
        MarkdownKind::Command => vec![text::implicit(at, argument_hint)],
        MarkdownKind::Folder => Vec::new(),
    };
    let rendered = text::render(sources, &[text], arguments, at, out)?;
    let variants = text::said_alone(sources, &source, rendered.variants);
    let rendering = Rendering { arguments: rendered.arguments, variants };
    let (summary, chapters) =
        summary::complete(&name, &body::own_text(&rendering), summary, chapters);
    let mut facts = rendered.facts;
    if kind == MarkdownKind::Command {
        // A command is called with arguments whether or not it looks at them.
        facts.clear();
    }
    Some(Prompt {
        name: Spanned { value: name, at },
        priority: Setting::or(priority, PRIORITY),
        title,
        description: Some(description),
        summary,
        chapters,
        meta: (!meta.is_empty()).then_some(meta),
        arguments: facts,
        body: Setting { value: body::briefing(&rendering), at: Some(source.at()) },
        rendering,
        bodies: vec![source],
        messages: Vec::new(),
        booleans: rendered.booleans,
        allowed_secrets: Vec::new(),
    })
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
