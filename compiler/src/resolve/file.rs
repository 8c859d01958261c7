//! Files that a project names: read, and decoded as text.

use std::collections::BTreeSet;
use std::sync::Arc;

use miette::Diagnostic;
use relay_bundle::SharedText;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::parse::{PathError, normal_lines, resolve_path};
use crate::source::{FileId, Listed, ReadError, SourceFile, Sources, Span, Spanned};

/// The most bytes of one file whose bytes go into the bundle.
pub(crate) const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reads the file that `written` names, relative to its document.
pub(super) fn read(
    sources: &Sources<'_>,
    written: &Spanned<String>,
    out: &mut Diagnostics,
) -> Option<(FileId, Arc<SourceFile>)> {
    let path = path(sources, written, out)?;
    match sources.load(&path) {
        Ok(id) => {
            let file = sources.file(id);
            let bytes = file.bytes().len();
            if bytes > FILE_BYTES_MAX {
                out.report(written.at, TooLarge { path, bytes, at: written.at });
                return None;
            }
            Some((id, file))
        }
        Err(reason) => {
            report_unreadable(sources, path, reason, written.at, out);
            None
        }
    }
}

/// Reads the file that `written` names as text.
pub(super) fn read_text(
    sources: &Sources<'_>,
    written: &Spanned<String>,
    out: &mut Diagnostics,
) -> Option<(FileId, Arc<SourceFile>)> {
    let (id, file) = read(sources, written, out)?;
    match file.text() {
        Ok(_) => Some((id, file)),
        Err(offset) => {
            let at = id.span(offset, offset + 1);
            let path = file.path.clone();
            out.report(at, NotUtf8 { path, offset, at, named_at: written.at });
            None
        }
    }
}

/// Returns the path that `written` names, relative to its document.
pub(super) fn path(
    sources: &Sources<'_>,
    written: &Spanned<String>,
    out: &mut Diagnostics,
) -> Option<String> {
    let document = sources.file(written.at.file);
    match resolve_path(&document.path, &written.value) {
        Ok(path) => Some(path),
        Err(fault) => {
            let at = written.at;
            out.report(at, BadPath { path: written.value.clone(), fault, at });
            None
        }
    }
}

/// Drops a byte order mark and makes every line end `\n`, so that the bundle is the same for all
/// settings of a checkout.
pub(super) fn normalized(text: &SharedText) -> SharedText {
    let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    // A lone `\r` ends a line too, as in Jinja2.
    normal_lines(text.part(mark..text.len()))
}

pub(super) fn report_unreadable(
    sources: &Sources<'_>,
    path: String,
    reason: ReadError,
    at: Span,
    out: &mut Diagnostics,
) {
    let help = match &reason {
        ReadError::NotFound => {
            similar_file(sources, &path).or_else(|| similar_path(sources, &path)).map_or_else(
                || "paths are relative to the document that names them".to_owned(),
                |near| format!("did you mean `{near}`?"),
            )
        }
        ReadError::Outside => "copy the file into the project's folder".into(),
        ReadError::TooLarge { .. } => "split it, or keep it out of the bundle".into(),
        // The file in the folder that was meant, as `SKILL.md`.
        ReadError::WrongKind { expected: "a folder" } if path.contains('/') => {
            format!("name its folder: `{}`", path.rsplit_once('/').unwrap_or_default().0)
        }
        ReadError::WrongKind { expected: "a file" } => {
            "name a file in it; `folder` in `prompts` takes all Markdown files of a folder".into()
        }
        ReadError::Name | ReadError::WrongKind { .. } | ReadError::Io { .. } => {
            "paths are relative to the document that names them".into()
        }
    };
    out.report(at, Unreadable { path, reason, help, at });
}

/// The file beside a missing one that its author most likely meant.
fn similar_file(sources: &Sources<'_>, path: &str) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if folder.is_empty() {
        return None;
    }
    let listed = sources.list(folder).ok()?;
    let names: Vec<&str> = listed.iter().filter_map(|file| file.path.rsplit('/').next()).collect();
    relay_engine::nearest::nearest(name, names).map(str::to_owned)
}

/// Returns the file or folder of the project, by its path from the project's folder, that its author most
/// likely meant.
fn similar_path(sources: &Sources<'_>, path: &str) -> Option<String> {
    let listed = sources.list("").ok()?;
    let mut known = BTreeSet::new();
    for Listed { path, .. } in &listed {
        known.insert(path.as_str());
        known.extend(path.match_indices('/').filter_map(|(end, _)| path.get(..end)));
    }
    relay_engine::nearest::nearest(path, known).map(str::to_owned)
}

/// The bundle holds the contents of each file that the project names, so a build needs them.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot read `{path}`: {reason}")]
#[diagnostic(code(file::unreadable))]
struct Unreadable {
    path: String,
    reason: ReadError,
    #[help]
    help: String,
    #[label(primary, "named here")]
    at: Span,
}

/// A bundle is read by servers and its texts by agents. A file of this size is a mistake more often
/// than a text.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` has {bytes} bytes, over the limit of {FILE_BYTES_MAX}")]
#[diagnostic(code(file::too_large), help("split it, or serve it from elsewhere"))]
struct TooLarge {
    path: String,
    bytes: usize,
    #[label(primary, "named here")]
    at: Span,
}

/// Agents read text in UTF-8. Invalid bytes would reach them as other characters.
#[derive(Debug, Error, Diagnostic)]
#[error("`{path}` is not UTF-8: byte {offset} begins no character")]
#[diagnostic(code(file::not_utf8), help("save the file in UTF-8"))]
struct NotUtf8 {
    path: String,
    offset: usize,
    #[label(primary, "readable up to here")]
    at: Span,
    #[label("named here")]
    named_at: Span,
}

/// The path is invalid. A bundle must be the same on each machine, so a project reads only files of
/// its own folder, by paths with one meaning everywhere.
#[derive(Debug, Error, Diagnostic)]
#[error("{fault}: `{path}`")]
#[diagnostic(
    code(file::path),
    help("write a path relative to this document, inside the project's folder, with `/`")
)]
struct BadPath {
    path: String,
    fault: PathError,
    #[label(primary, "this path")]
    at: Span,
}
