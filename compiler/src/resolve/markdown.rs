//! `folder` and `commands`: every markdown file below a folder is a prompt.
//!
//! Faults of one kind in one folder are one report.

mod listing;
mod marks;
mod note;

use miette::Diagnostic;
use relay_bundle::Suppressed;
use thiserror::Error;

pub(crate) use self::marks::{FORMS as MARK_FORMS, Form as MarkForm};
pub use self::marks::{Mark, MarkKind, marks};

use self::listing::Choice;
pub(super) use self::listing::leave_out;
use self::note::Notes;
use super::prompt::Markdown;
use super::text::{ARGUMENTS, ARGUMENTS_CHARS_MAX};
use super::{file, text};
use crate::alike::Alike;
use crate::ast::{self, ArgumentSettings, Folder, FolderSettings, OnError, PromptSettings};
use crate::diagnostic::Diagnostics;
use crate::parse::{MarkdownKind, MarkdownPrompt, Reading, Reporter, has_slot, markdown_prompt};
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
/// A prompt's name is its path below the folder up to `.md` or `.prompt.md`.
pub(super) fn folder(
    sources: &Sources<'_>,
    node: Folder,
    kind: MarkdownKind,
    out: &mut Diagnostics,
) -> FolderPrompts {
    let Folder {
        path: written,
        new: _,
        settings:
            FolderSettings { on_error, front_matter, pattern, prefix, briefing, exclude, strict: _ },
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
    let briefing = briefing.at.map(|at| Spanned { value: briefing.value, at });
    let (marks, allowed) = allowed.into_iter().partition(|it| it.of == Suppressed::Mark);
    let allowed: Vec<ast::Allowed> = allowed;
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
    let Some(choice) = Choice::new(pattern, exclude, out) else { return found };
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let files = choice.files(listed, &below, out);
    if files.is_empty() {
        let (pattern, at) = (choice.pattern(), written.at);
        out.report(at, NothingThere { pattern, folder, at });
        return found;
    }
    let mut reader = Reader {
        sources,
        reading: Reading { kind, rule: front_matter.value, on_error: mode },
        takes_readme: kind == MarkdownKind::Folder || choice.takes_readme(),
        prefix: prefix.map(|prefix| prefix.value).unwrap_or_default(),
        at: written.at,
        faults: Alike::default(),
        notes: Notes::new(marks),
    };
    found.prompts.reserve_exact(files.len());
    sources.load_all(files.iter().filter(|it| it.fault.is_none()).map(|it| it.path.as_str()));
    for listed in files {
        let Some(name) = reader.name(&listed, &below) else { continue };
        match reader.file(&name, listed) {
            Read::Prompt(mut prompt) => {
                prompt.node.allowed.extend_from_slice(&allowed);
                prompt.node.readers.clone_from(&readers);
                prompt.node.about.briefing =
                    prompt.node.about.briefing.or_else(|| briefing.clone());
                found.prompts.push(*prompt);
            }
            Read::Faulty => found.faulty.push(name),
            Read::LeftOut => {}
        }
    }
    let Reader { mut faults, notes, .. } = reader;
    let is_whole = found.faulty.is_empty() && !faults.has_errors();
    notes.report(is_whole, &mut faults, out);
    if found.prompts.is_empty() && !faults.has_errors() {
        out.report(written.at, NothingLeft { folder, at: written.at });
    }
    faults.report(out);
    found
}

/// The markdown files of a folder while they are read.
struct Reader<'r, 's> {
    sources: &'r Sources<'s>,
    reading: Reading,
    /// Whether a `README.md` that lacks front matter is a prompt.
    takes_readme: bool,
    prefix: String,
    /// The place of the folder's path in the project.
    at: Span,
    /// The findings so far: those of one kind are one report.
    faults: Alike,
    notes: Notes,
}

/// The result of reading a file.
enum Read {
    Prompt(Box<FilePrompt>),
    /// The file has faults, which are reported.
    Faulty,
    /// The file is left out.
    LeftOut,
}

impl Reader<'_, '_> {
    /// Returns the name of a file's prompt.
    fn name(&self, listed: &Listed, below: &str) -> Option<String> {
        let path = listed.path.strip_prefix(below)?;
        let name =
            path.strip_suffix(".md").map(|name| name.strip_suffix(".prompt").unwrap_or(name));
        Some(format!("{}{}", self.prefix, name.unwrap_or(path)))
    }

    fn file(&mut self, name: &str, listed: Listed) -> Read {
        let is_readme = listing::is_readme(&listed.path);
        let path = listed.path.clone();
        let Some(file) = self.open(listed) else { return Read::Faulty };
        if listing::is_apple_double(&path, self.sources.file(file).bytes()) {
            return Read::LeftOut;
        }
        if name.is_empty() || name.ends_with('/') {
            let at = file.span(0, 0);
            self.reporter().refuse(at, NoName { path, at });
            return Read::Faulty;
        }
        if is_readme && !self.takes_readme && !self.has_front_matter(file) {
            let at = file.span(0, 0);
            self.faults.add(at, ReadmeLeftOut { path, at }, None);
            return Read::LeftOut;
        }
        self.one(name, file).map_or(Read::Faulty, |prompt| Read::Prompt(Box::new(prompt)))
    }

    fn reporter(&mut self) -> Reporter<'_> {
        Reporter::new(self.reading, &mut self.faults)
    }

    fn has_front_matter(&self, file: FileId) -> bool {
        let file = self.sources.file(file);
        let text = file.text();
        text.is_ok_and(|text| text.trim_start_matches('\u{feff}').starts_with("---"))
    }

    fn open(&mut self, Listed { path, link, fault }: Listed) -> Option<FileId> {
        let at = self.at;
        let loaded = match fault {
            Some(reason) => Err(reason),
            None => self.sources.load(&path),
        };
        match loaded {
            Ok(file) => return Some(file),
            Err(ReadError::Outside) if link => self.reporter().refuse(at, Link { path, at }),
            Err(reason) => self.reporter().refuse(at, Unreadable { path, reason, at }),
        }
        None
    }

    fn one(&mut self, name: &str, file: FileId) -> Option<FilePrompt> {
        let Self { sources, reading, faults, notes, .. } = self;
        let kind = reading.kind;
        let MarkdownPrompt {
            description,
            title,
            priority,
            briefing,
            summary,
            chapters,
            argument_hint,
            unknown_keys,
            mistyped_tools,
            meta,
            body,
            body_start,
        } = markdown_prompt(file, &sources.file(file), *reading, faults)?;
        let at = file.span(0, 0);
        let is_command = kind == MarkdownKind::Command;
        // What people type after a command with a hint is appended if the text lacks a place for
        // it.
        let appends = is_command && argument_hint.is_some() && !has_slot(&body);
        let takes_arguments = appends || has_slot(&body);
        let mut allowed = Vec::new();
        if is_command {
            allowed = notes.body(sources, file, body_start);
            notes.unknown_keys(unknown_keys);
            notes.tools.extend(mistyped_tools);
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
            allowed,
        };
        let text = text::from_markdown(file, body, body_start, is_command);
        let text = if appends { text.appending() } else { text };
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

/// The path is mistyped, or the node is obsolete.
#[derive(Debug, Error, Diagnostic)]
#[error("no `{pattern}` file below `{folder}`")]
#[diagnostic(code(folder::nothing), help("add a file, or remove the node"))]
struct NothingThere {
    pattern: String,
    folder: String,
    #[label(primary, "gives no prompts")]
    at: Span,
}

/// Every file of the folder was left out. A deploy would replace the prompts that people use with
/// nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("no file below `{folder}` is left")]
#[diagnostic(
    code(folder::nothing_left),
    help("correct the files that the warnings name, or remove the node")
)]
struct NothingLeft {
    folder: String,
    #[label(primary, "gives no prompts")]
    at: Span,
}

/// A README without front matter describes a folder to people, so it is no command.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is left out: a README without front matter describes the folder")]
#[diagnostic(
    code(commands::readme),
    severity(Warning),
    help("write `exclude \"README.md\"`, or `pattern=\"*.md\"` if it is a command")
)]
struct ReadmeLeftOut {
    path: String,
    #[label(primary, "not a command")]
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

/// The target of the link is outside of the project and another one on the next machine, so the
/// same project would give another bundle. A link to a file of the project is followed.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is a link out of the project's folder")]
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
