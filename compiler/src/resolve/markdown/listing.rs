//! The files of a folder that are prompts.

use miette::Diagnostic;
use relay_engine::glob;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::resolve::pattern;
use crate::source::{Listed, Span, Spanned};

const ALL: &str = "*.md";

/// The first bytes of a file in which macOS keeps the attributes of another one (AppleDouble,
/// RFC 1740, appendix B).
const APPLE_DOUBLE: &[u8] = &[0x00, 0x05, 0x16, 0x07];

/// The files that a node chooses.
pub(super) struct Choice {
    pattern: Option<Spanned<String>>,
    exclude: Vec<Spanned<String>>,
}

impl Choice {
    /// Takes the patterns of a node. `None`: one is invalid, which is reported.
    pub(super) fn new(
        pattern: Option<Spanned<String>>,
        exclude: Option<Vec<Spanned<String>>>,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let written = exclude.unwrap_or_default();
        let count = written.len();
        let exclude = pattern::valid(written, out);
        let is_valid = pattern.as_ref().is_none_or(|pattern| pattern::check(pattern, out));
        (is_valid && (count == 0 || !exclude.is_empty())).then_some(Self { pattern, exclude })
    }

    /// Returns the pattern of the files.
    pub(super) fn pattern(&self) -> String {
        self.pattern.as_ref().map_or(ALL, |pattern| &pattern.value).into()
    }

    /// Returns whether a `README.md` that lacks front matter is a prompt: it was asked for.
    pub(super) fn takes_readme(&self) -> bool {
        self.pattern.is_some()
    }

    /// Returns the chosen files; reports a pattern that is idle.
    pub(super) fn files(
        &self,
        listed: Vec<Listed>,
        below: &str,
        out: &mut Diagnostics,
    ) -> Vec<Listed> {
        let path = |file: &Listed| file.path.strip_prefix(below).unwrap_or(&file.path).to_owned();
        let is_chosen = |path: &str| match &self.pattern {
            Some(pattern) => glob::matches(&pattern.value, path),
            None => path.ends_with(".md"),
        };
        // The list holds a folder, with a `/` at its end, if its contents are unknown.
        let mut files: Vec<Listed> = listed;
        files.retain(|file| file.path.ends_with('/') || is_chosen(&path(file)));
        leave_out(&self.exclude, &mut files, below, out);
        files
    }
}

/// Removes the files that a pattern excludes; reports an idle pattern.
pub(in crate::resolve) fn leave_out(
    exclude: &[Spanned<String>],
    files: &mut Vec<Listed>,
    below: &str,
    out: &mut Diagnostics,
) {
    let is_excluded = |pattern: &str, file: &Listed| {
        glob::matches(pattern, file.path.strip_prefix(below).unwrap_or(&file.path))
    };
    for Spanned { value, at } in exclude {
        if !files.iter().any(|file| is_excluded(value, file)) {
            out.report(*at, IdleExclude { pattern: value.clone(), at: *at });
        }
    }
    files.retain(|file| !exclude.iter().any(|pattern| is_excluded(&pattern.value, file)));
}

/// Returns whether a path is that of a description of its folder.
pub(super) fn is_readme(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("readme.md"))
}

/// Returns whether a file holds attributes of another one.
pub(super) fn is_apple_double(path: &str, bytes: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("._") && bytes.starts_with(APPLE_DOUBLE)
}

/// A mistyped pattern would leave in what its author wanted out.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` excludes no file")]
#[diagnostic(
    code(commands::idle_exclude),
    severity(Warning),
    help("write the path of a file below the folder, as `drafts/*`, or remove it")
)]
struct IdleExclude {
    pattern: String,
    #[label(primary, "matches none of the files")]
    at: Span,
}
