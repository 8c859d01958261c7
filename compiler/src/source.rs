//! Where the compiler's input comes from: the one value through which it sees the outside.
//!
//! A stage asks [`Sources`] for files by their path inside the project's folder and gets ids;
//! spans carry the id, so a report can show text from any file that was read.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use relay_bundle::{Digest, Place};
use thiserror::Error;

/// A file that was read in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// A value with the place where its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub at: Span,
}

/// The files of one project. Paths are relative to the project's folder, with `/` between
/// folders, without `.` or `..`, the same on every system.
pub trait Files {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a file inside the project's folder.
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;

    /// Returns the paths of all files below a folder (`""` is the project's own), sorted, hidden
    /// ones too.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a folder inside the project's folder.
    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError>;
}

/// A file that [`Files::list`] found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its path from the project's folder. That of a folder ends with `/`: one is listed only if
    /// it cannot be entered.
    pub path: String,
    /// Whether it is a symbolic link.
    pub link: bool,
    /// Why it cannot be used, as far as a list shows that.
    pub fault: Option<ReadError>,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum ReadError {
    /// There is none.
    #[error("file not found")]
    NotFound,
    /// A link leads out of the project's folder.
    #[error("it is a link out of the project's folder")]
    Outside,
    /// It is something else: a folder, a device.
    #[error("it is not {expected}")]
    WrongKind {
        /// What was looked for: `a file` or `a folder`.
        expected: &'static str,
    },
    /// It is larger than any file of a project may be.
    #[error("it has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// Its bytes.
        bytes: u64,
        /// The most it may have.
        limit: u64,
    },
    /// The system reports an error.
    #[error("{reason}")]
    Io {
        /// What it says.
        reason: String,
    },
}

/// The files of a project as one run of the compiler reads them: each once.
pub struct Sources<'f> {
    files: &'f dyn Files,
    root: String,
    loaded: RefCell<Loaded>,
    template_cost: Cell<u64>,
}

#[derive(Default)]
struct Loaded {
    by_path: BTreeMap<String, Result<FileId, ReadError>>,
    files: Vec<Arc<SourceFile>>,
}

/// A file that was read.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the project's folder.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The text with replacements, made when a file that is not UTF-8 is displayed.
    replaced: OnceLock<String>,
    /// Where each line but the first begins, made when a place is first asked for: a project may
    /// declare thousands of things in one file.
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    fn new(path: &str, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), bytes, replaced: OnceLock::new(), line_starts: OnceLock::new() }
    }

    /// Returns which line, from 0, holds the byte at `offset`, and where that line begins.
    fn line(&self, offset: u32) -> (usize, usize) {
        let starts = self.line_starts.get_or_init(|| {
            let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            // No file has 4 GiB, see `Files`.
            ends.filter_map(|(end, _)| u32::try_from(end + 1).ok()).collect()
        });
        let line = starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| starts.get(line));
        (line, start.map_or(0, |start| *start as usize))
    }

    /// Returns its text for renderer: what is not UTF-8 is replaced.
    #[must_use]
    pub fn lossy_text(&self) -> &str {
        self.text().unwrap_or_else(|_| {
            self.replaced.get_or_init(|| String::from_utf8_lossy(&self.bytes).into_owned())
        })
    }

    /// Returns its text, or the offset of the first byte that is not UTF-8.
    ///
    /// # Errors
    ///
    /// The offset of the first byte that is not part of any character.
    pub fn text(&self) -> Result<&str, usize> {
        std::str::from_utf8(&self.bytes).map_err(|error| error.valid_up_to())
    }
}

impl<'f> Sources<'f> {
    /// Takes the files of the project whose document is `root`, a path like every other.
    #[must_use]
    pub fn new(files: &'f dyn Files, root: &str) -> Self {
        Self { files, root: root.into(), loaded: RefCell::default(), template_cost: Cell::new(0) }
    }

    /// Returns what rendering the templates of this project has cost so far: the limit of it holds
    /// for a run, as files are read once in a run.
    pub(crate) fn template_cost(&self) -> &Cell<u64> {
        &self.template_cost
    }

    /// Returns the path of the project's document.
    #[must_use]
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Reads a file, or returns it if it was read before.
    ///
    /// # Errors
    ///
    /// It cannot be read; the same answer is given when asked again.
    pub fn load(&self, path: &str) -> Result<FileId, ReadError> {
        if let Some(known) = self.loaded.borrow().by_path.get(path) {
            return known.clone();
        }
        let read = self.files.read(path);
        let mut loaded = self.loaded.borrow_mut();
        let answer = read.map(|bytes| {
            let id = FileId(u32::try_from(loaded.files.len()).unwrap_or(u32::MAX));
            loaded.files.push(Arc::new(SourceFile::new(path, bytes)));
            id
        });
        loaded.by_path.insert(path.into(), answer.clone());
        answer
    }

    /// Returns the files below a folder, sorted.
    ///
    /// # Errors
    ///
    /// As [`Files::list`].
    pub fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        self.files.list(folder)
    }

    /// Returns a file that was read; an empty one for an id of another run.
    #[must_use]
    pub fn file(&self, id: FileId) -> Arc<SourceFile> {
        let loaded = self.loaded.borrow();
        loaded
            .files
            .get(id.0 as usize)
            .cloned()
            .unwrap_or_else(|| Arc::new(SourceFile::new("", Vec::new())))
    }

    /// Returns the files that were read, for drawing reports.
    #[must_use]
    pub fn texts(&self) -> Texts {
        Texts { files: self.loaded.borrow().files.clone() }
    }

    /// Returns path and digest of every file that was read, sorted by path.
    #[must_use]
    pub fn digests(&self) -> Vec<(String, Digest)> {
        let loaded = self.loaded.borrow();
        let digest = |id: &FileId| loaded.files.get(id.0 as usize).map(|f| Digest::of(&f.bytes));
        loaded
            .by_path
            .iter()
            .filter_map(|(path, id)| Some((path.clone(), digest(id.as_ref().ok()?)?)))
            .collect()
    }

    /// Returns line and column of a span's start, both from 1, the column in characters.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        let file = self.file(span.file);
        let (line, line_start) = file.line(span.start);
        let end = file.bytes.len().min(span.start as usize);
        let column = String::from_utf8_lossy(file.bytes.get(line_start..end).unwrap_or_default());
        Place {
            file: file.path.clone(),
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(column.chars().count() + 1).unwrap_or(u32::MAX),
        }
    }
}

impl FileId {
    /// Returns the span of `start..end` in this file.
    #[must_use]
    pub fn span(self, start: usize, end: usize) -> Span {
        let bound = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file: self, start: bound(start), end: bound(end) }
    }
}

// miette's spans have no file. Ours keep it in the upper half of the offset, so that the labels
// of one diagnostic may lie in several files; `Sources` takes it out again when a report is
// drawn. No file has 4 GiB, see `Files`.
const FILE_SHIFT: u32 = 32;

impl From<Span> for SourceSpan {
    fn from(span: Span) -> Self {
        let offset = (u64::from(span.file.0) << FILE_SHIFT) | u64::from(span.start);
        let length = span.end.saturating_sub(span.start).min(LABEL_BYTES_MAX) as usize;
        Self::new(usize::try_from(offset).unwrap_or(usize::MAX).into(), length)
    }
}

impl From<SourceSpan> for Span {
    fn from(span: SourceSpan) -> Self {
        let offset = span.offset() as u64;
        let file = FileId(u32::try_from(offset >> FILE_SHIFT).unwrap_or(u32::MAX));
        let start = (offset & u64::from(u32::MAX)) as usize;
        file.span(start, start + span.len())
    }
}

/// A longer line is not drawn whole: miette panics beyond 65,535 columns.
const LINE_BYTES_MAX: usize = 2000;
/// Bytes that are drawn around a label on such a line.
const EXCERPT_BYTES: usize = 100;
/// No label is longer than this, for the same reason.
const LABEL_BYTES_MAX: u32 = 4096;

/// Returns what surrounds `start..end` on its line.
fn excerpt<'t>(
    text: &'t str,
    start: usize,
    end: usize,
    whole: &dyn SpanContents<'t>,
) -> MietteSpanContents<'t> {
    let line_start =
        text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let rest = text.get(end..).unwrap_or_default();
    let line_end = end + rest.find('\n').unwrap_or(rest.len());
    let mut first = start.saturating_sub(EXCERPT_BYTES).max(line_start);
    while !text.is_char_boundary(first) {
        first += 1;
    }
    let mut last = (end + EXCERPT_BYTES).min(line_end);
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    let lines_above = text.get(whole.span().offset()..first).unwrap_or_default().matches('\n');
    let line = whole.line() + lines_above.count();
    let column = text.get(line_start..first).map_or(0, |before| before.chars().count());
    let shown = text.get(first..last).unwrap_or_default();
    let lines = shown.matches('\n').count() + 1;
    MietteSpanContents::new(
        shown.as_bytes(),
        SourceSpan::new(first.into(), last - first),
        line,
        column,
        lines,
    )
}

/// The files of a run, for drawing reports: miette reads the lines around a label here.
pub struct Texts {
    files: Vec<Arc<SourceFile>>,
}

impl SourceCode for Texts {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let Span { file: id, start, end } = Span::from(*span);
        let file = self.files.get(id.0 as usize).ok_or(MietteError::OutOfBounds)?;
        let local = SourceSpan::new((start as usize).into(), end.saturating_sub(start) as usize);
        let text = file.lossy_text();
        let mut shown = text.read_span(&local, context_lines_before, context_lines_after)?;
        if shown.data().split(|byte| *byte == b'\n').any(|line| line.len() > LINE_BYTES_MAX) {
            shown = Box::new(excerpt(text, start as usize, end as usize, &*shown));
        }
        let (first, length) = (shown.span().offset(), shown.span().len());
        Ok(Box::new(MietteSpanContents::new_named(
            file.path.clone(),
            shown.data(),
            id.span(first, first + length).into(),
            shown.line(),
            shown.column(),
            shown.line_count(),
        )))
    }
}
