//! The input of the compiler: the one value through which it sees the outside.
//!
//! A stage asks [`Sources`] for files by their path inside the project's folder and gets ids; spans
//! carry the id, so a report can display text from any file that was read.

mod drawn;
mod line_starts;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use relay_bundle::{Digest, Place, SharedText};
use thiserror::Error;

use self::drawn::Drawn;
use self::line_starts::LineStarts;
use crate::automaton::Automata;
use crate::secret;
use crate::shipped_facts::Shipped;

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
    /// The place where it was written.
    pub at: Span,
}

impl Spanned<String> {
    /// Returns the text, at the same place.
    pub(crate) fn as_str(&self) -> Spanned<&str> {
        Spanned { value: &self.value, at: self.at }
    }
}

/// The files of one project. Paths are relative to the project's folder, with `/` between folders,
/// with `.` and `..` resolved, the same on every system.
pub trait Files {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    ///
    /// It is missing or unreadable, or something else than a file inside the project's folder.
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;

    /// Reads files as [`Files::read`] does, and gives `take` the index and the result of each: in any order,
    /// and on any thread.
    fn read_all(&self, paths: &[&str], take: &Take<'_>) {
        paths.iter().enumerate().for_each(|(index, path)| take(index, self.read(path)));
    }

    /// Returns the paths of all files below a folder (`""` is the project's own), sorted, hidden
    /// ones too.
    ///
    /// # Errors
    ///
    /// It is missing or unreadable, or something else than a folder inside the project's folder.
    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError>;
}

/// Takes the result of reading the file with this index.
pub type Take<'t> = dyn Fn(usize, Result<Vec<u8>, ReadError>) + Sync + 't;

/// A file that [`Files::list`] found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its path from the project's folder. The path of a folder ends with `/`: a folder is listed
    /// only if entering it fails.
    pub path: String,
    /// Whether it is a symbolic link.
    pub link: bool,
    /// Its error, as far as a list can tell.
    pub fault: Option<ReadError>,
}

/// An error of reading a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum ReadError {
    /// The file is missing.
    #[error("file not found")]
    NotFound,
    /// A link leads out of the project's folder.
    #[error("it is a link out of the project's folder")]
    Outside,
    /// A report cannot display the path unchanged.
    #[error(
        "its name, or that of a folder above it, has a control or invisible character; rename it"
    )]
    Name,
    /// It is of another kind: a folder, a device.
    #[error("it is not {expected}")]
    WrongKind {
        /// The kind that was expected: `a file` or `a folder`.
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
        /// The error in the words of the system.
        reason: String,
    },
}

/// The bytes of a file before which lines are counted at each question. Most places of a markdown file are
/// in its front matter.
const NEAR_BYTES_MAX: usize = 512;

/// The files of a project for one run of the compiler, each read once.
pub struct Sources<'f> {
    files: &'f dyn Files,
    root: String,
    facts: Shipped<'f>,
    loaded: RefCell<Loaded>,
    template_cost: Cell<u64>,
    automata: Automata,
    hidden: RefCell<Vec<Span>>,
}

#[derive(Default)]
struct Loaded {
    by_path: HashMap<String, Result<FileId, ReadError>>,
    files: Vec<Arc<SourceFile>>,
}

impl Loaded {
    fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(Arc::new(file));
        id
    }
}

/// A file that was read.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the project's folder.
    pub path: String,
    content: Content,
    /// Its text in the form of reports, made when one is first drawn.
    drawn: OnceLock<(Drawn, LineStarts)>,
    /// The beginnings of its lines after the first, made at the first question for a place: a
    /// project may declare thousands of things in one file.
    line_starts: OnceLock<LineStarts>,
    /// The digest of its bytes.
    digest: OnceLock<Digest>,
    /// The secrets in its bytes.
    secrets: OnceLock<Vec<secret::Found>>,
}

/// The content of a file. Texts share theirs with all that is made of them.
#[derive(Debug)]
enum Content {
    Text(SharedText),
    Other {
        bytes: Vec<u8>,
        /// The offset of the first byte of invalid UTF-8.
        invalid: usize,
    },
}

impl SourceFile {
    fn new(path: &str, bytes: Vec<u8>) -> Self {
        let content = String::from_utf8(bytes).map_or_else(
            |error| {
                let invalid = error.utf8_error().valid_up_to();
                Content::Other { bytes: error.into_bytes(), invalid }
            },
            |text| Content::Text(text.into()),
        );
        Self {
            path: path.into(),
            content,
            drawn: OnceLock::new(),
            line_starts: OnceLock::new(),
            digest: OnceLock::new(),
            secrets: OnceLock::new(),
        }
    }

    fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(self.bytes()))
    }

    /// Returns the secrets in its bytes, of forms and of sentences.
    pub(crate) fn secrets(&self) -> &[secret::Found] {
        self.secrets.get_or_init(|| secret::search_all(self.bytes()))
    }

    /// Returns the line, from 0, that holds the byte at `offset`, and the beginning of that line.
    fn line(&self, offset: u32) -> (usize, usize) {
        let offset = offset as usize;
        let near = self.bytes().get(..=offset).filter(|_| offset < NEAR_BYTES_MAX);
        let lines = match near.filter(|_| self.line_starts.get().is_none()) {
            Some(near) => &LineStarts::of(near),
            None => self.line_starts(),
        };
        let line = lines.line(offset);
        (line, lines.start(line))
    }

    fn line_starts(&self) -> &LineStarts {
        self.line_starts.get_or_init(|| LineStarts::of(self.bytes()))
    }

    /// Returns its text for a report; the ranges in `hidden` hold secrets that searches miss.
    fn drawn(&self, hidden: &[Range<usize>]) -> &(Drawn, LineStarts) {
        self.drawn.get_or_init(|| {
            let found = self.secrets().iter().map(|found| found.value.clone());
            let drawn = Drawn::new(self.bytes(), found.chain(hidden.iter().cloned()));
            let lines = LineStarts::of(drawn.text.as_bytes());
            (drawn, lines)
        })
    }

    /// Returns its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) => text.as_bytes(),
            Content::Other { bytes, invalid: _ } => bytes,
        }
    }

    /// Returns its text.
    ///
    /// # Errors
    ///
    /// The offset of the first byte of invalid UTF-8.
    pub fn text(&self) -> Result<&SharedText, usize> {
        match &self.content {
            Content::Text(text) => Ok(text),
            Content::Other { bytes: _, invalid } => Err(*invalid),
        }
    }
}

impl<'f> Sources<'f> {
    /// Takes the files of the project whose document is `root`, a path like every other.
    #[must_use]
    pub fn new(files: &'f dyn Files, root: &str) -> Self {
        Self {
            files,
            root: root.into(),
            facts: Shipped::default(),
            loaded: RefCell::default(),
            template_cost: Cell::new(0),
            automata: Automata::default(),
            hidden: RefCell::default(),
        }
    }

    /// Adds the table of the shipped facts, which a project with a policy needs. It is an input, so
    /// that a changed fact rebuilds only the binary.
    #[must_use]
    pub fn with_facts(self, facts: &'f [u8]) -> Self {
        Self { facts: Shipped::of(facts), ..self }
    }

    /// Returns the shipped facts.
    pub(crate) fn facts(&self) -> Shipped<'f> {
        self.facts
    }

    /// Returns the cost of rendering the templates of this project so far: its limit holds for a
    /// run, as files are read once in a run.
    pub(crate) fn template_cost(&self) -> &Cell<u64> {
        &self.template_cost
    }

    /// Returns the automata of the patterns of this project.
    pub(crate) fn automata(&self) -> &Automata {
        &self.automata
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
    /// It is missing or unreadable; a second request gets the same answer.
    pub fn load(&self, path: &str) -> Result<FileId, ReadError> {
        if let Some(known) = self.loaded.borrow().by_path.get(path) {
            return known.clone();
        }
        let read = match is_shown(path) {
            true => self.files.read(path),
            false => Err(ReadError::Name),
        };
        let mut loaded = self.loaded.borrow_mut();
        let answer = read.map(|bytes| loaded.add(SourceFile::new(path, bytes)));
        loaded.by_path.insert(path.into(), answer.clone());
        answer
    }

    /// Reads files before [`Sources::load`] is asked for each, on as many threads as [`Files::read_all`] uses,
    /// which also search them for secrets.
    pub(crate) fn load_all<'p>(&self, paths: impl Iterator<Item = &'p str>) {
        let is_new = |path: &&str| !self.loaded.borrow().by_path.contains_key(*path);
        let paths: Vec<&str> = paths.filter(|path| is_shown(path)).filter(is_new).collect();
        let read: Vec<OnceLock<Result<SourceFile, ReadError>>> =
            paths.iter().map(|_| OnceLock::new()).collect();
        self.files.read_all(&paths, &|index, bytes| {
            let (Some(path), Some(read)) = (paths.get(index), read.get(index)) else { return };
            read.get_or_init(|| {
                let file = SourceFile::new(path, bytes?);
                file.digest();
                file.secrets();
                Ok(file)
            });
        });
        let mut loaded = self.loaded.borrow_mut();
        for (path, read) in paths.into_iter().zip(read) {
            // A file that was not read is read when it is asked for.
            let Some(read) = read.into_inner() else { continue };
            let answer = read.map(|file| loaded.add(file));
            loaded.by_path.insert(path.into(), answer);
        }
    }

    /// Takes a document that the compiler ships, for places in reports. It is no file of the project.
    pub(crate) fn add_shipped(&self, path: &str, bytes: &[u8]) -> FileId {
        self.loaded.borrow_mut().add(SourceFile::new(path, bytes.to_vec()))
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

    /// Keeps a secret out of reports: at `at` it is written in a form that searches miss.
    pub(crate) fn hide(&self, at: Span) {
        self.hidden.borrow_mut().push(at);
    }

    /// Returns whether `text` in place of `at` holds a part of a secret: the name of a password may be
    /// outside of an edit.
    #[must_use]
    pub fn shows_secret(&self, at: Span, text: &str) -> bool {
        let meets = |hidden: &Span| {
            hidden.file == at.file && hidden.start < at.end && at.start < hidden.end
        };
        if self.hidden.borrow().iter().any(meets) {
            return true;
        }
        let file = self.file(at.file);
        let lines = file.line_starts();
        let [first, last] = [at.start, at.end].map(|offset| lines.line(offset as usize));
        // The name may be on the line before.
        let start = lines.start(first.saturating_sub(1));
        let [before, after] = [start..at.start as usize, at.end as usize..lines.start(last + 1)];
        let [before, after] =
            [before, after].map(|range| file.bytes().get(range).unwrap_or_default());
        let written = file.bytes().get(at.start as usize..at.end as usize).unwrap_or_default();
        // Other quotes may keep a search from a secret that it finds as it was written.
        !text.is_empty()
            && [written, text.as_bytes()].into_iter().any(|middle| {
                let lines = [before, middle, after].concat();
                let range = before.len()..before.len() + middle.len();
                secret::masked(&lines, &[]).get(range.clone()) != lines.get(range)
            })
    }

    /// Returns the files that were read, for drawing reports.
    #[must_use]
    pub fn texts(&self) -> Texts {
        Texts { files: self.loaded.borrow().files.clone(), hidden: self.hidden.borrow().clone() }
    }

    /// Returns path and digest of every file that was read, sorted by path. The digest of a text is
    /// that of its lines with `LF`, so that a checkout with `CRLF` gives the same bundle.
    #[must_use]
    pub fn digests(&self) -> Vec<(String, Digest)> {
        let loaded = self.loaded.borrow();
        let digest = |id: &FileId| {
            let file = loaded.files.get(id.0 as usize)?;
            Some(match file.text() {
                Ok(text) if text.contains("\r\n") => {
                    Digest::of(text.replace("\r\n", "\n").as_bytes())
                }
                _ => file.digest(),
            })
        };
        let read = loaded.by_path.iter();
        let mut digests: Vec<_> = read
            .filter_map(|(path, id)| Some((path.clone(), digest(id.as_ref().ok()?)?)))
            .collect();
        digests.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        digests
    }

    /// Returns the digest of the bytes of a file, if it was read.
    #[must_use]
    pub fn digest(&self, path: &str) -> Option<Digest> {
        let loaded = self.loaded.borrow();
        let id = loaded.by_path.get(path)?.as_ref().ok()?;
        loaded.files.get(id.0 as usize).map(|file| file.digest())
    }

    /// Returns line and column of a span's start, both from 1, the column in characters.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        let file = self.file(span.file);
        let (line, line_start) = file.line(span.start);
        let end = file.bytes().len().min(span.start as usize);
        let before = file.bytes().get(line_start..end).unwrap_or_default();
        let characters = match before.is_ascii() {
            true => before.len(),
            false => String::from_utf8_lossy(before).chars().count(),
        };
        Place {
            file: file.path.clone(),
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(characters + 1).unwrap_or(u32::MAX),
        }
    }

    /// Returns the line in which a span starts, trimmed. Invalid UTF-8 is replaced.
    #[must_use]
    pub fn line_text(&self, span: Span) -> String {
        let file = self.file(span.file);
        let (line, start) = file.line(span.start);
        let line = file.bytes().get(start..file.line_starts().start(line + 1)).unwrap_or_default();
        String::from_utf8_lossy(line).trim().to_owned()
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

// The spans of miette have no file. Ours keep it in the upper half of the offset, so that the
// labels of one diagnostic may lie in several files; `Sources` takes it out again when a report is
// drawn. Files are below 4 GiB, see `Files`.
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

/// A longer line is drawn in part: miette panics beyond 65,535 columns.
const LINE_BYTES_MAX: usize = 2000;
/// Bytes that are drawn around a label on such a line.
const EXCERPT_BYTES: usize = 100;
/// The longest label, and the greatest distance of two labels that are drawn together on a long
/// line, for the same reason.
const LABEL_BYTES_MAX: u32 = 4096;

/// The files of a run, for drawing reports: miette reads the lines around a label here, whose span
/// is one of [`Texts::drawn_span`].
pub struct Texts {
    files: Vec<Arc<SourceFile>>,
    /// The places of known secrets.
    hidden: Vec<Span>,
}

impl Texts {
    /// Returns the place in the drawn text of a span of the sources.
    #[must_use]
    pub fn drawn_span(&self, span: SourceSpan) -> SourceSpan {
        let at = Span::from(span);
        let Some((drawn, _)) = self.drawn(at.file) else { return span };
        let [start, end] = [at.start, at.end].map(|offset| drawn.to_drawn(offset as usize));
        at.file.span(start, end).into()
    }

    fn drawn(&self, id: FileId) -> Option<&(Drawn, LineStarts)> {
        let file = self.files.get(id.0 as usize)?;
        let hidden = self.hidden.iter().filter(|hidden| hidden.file == id);
        let hidden: Vec<_> = hidden.map(|at| at.start as usize..at.end as usize).collect();
        Some(file.drawn(&hidden))
    }
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
        let (drawn, lines_of) = self.drawn(id).ok_or(MietteError::OutOfBounds)?;
        let text = &drawn.text;
        if end as usize > text.len() {
            // Labels in two files, which miette tries to draw together.
            return Err(MietteError::OutOfBounds);
        }
        let [first, last] =
            [start, end.saturating_sub(1).max(start)].map(|offset| lines_of.line(offset as usize));
        let top = first.saturating_sub(context_lines_before);
        let bottom = last + context_lines_after;
        let mut from = lines_of.start(top);
        let mut to = lines_of.start(bottom + 1);
        let (mut line, mut lines) = (top, bottom + 1 - top);
        let long = (top..=bottom)
            .any(|line| lines_of.start(line + 1) - lines_of.start(line) > LINE_BYTES_MAX);
        if long {
            if end - start > LABEL_BYTES_MAX {
                return Err(MietteError::OutOfBounds);
            }
            from = (start as usize).saturating_sub(EXCERPT_BYTES).max(lines_of.start(first));
            to = (end as usize + EXCERPT_BYTES).min(lines_of.start(last + 1));
            (line, lines) = (first, last + 1 - first);
        } else if context_lines_before == 0 {
            // The request is for the beginning of the span.
            from = start as usize;
        }
        let from = text.ceil_char_boundary(from);
        let shown = text.get(from..text.floor_char_boundary(to)).unwrap_or_default();
        // The column is that in the file.
        let [begins, from_written] = [lines_of.start(line), from].map(|at| drawn.to_written(at));
        let before = file.bytes().get(begins..from_written).unwrap_or_default();
        let column = String::from_utf8_lossy(before).chars().count();
        let whole = id.span(from, from + shown.len()).into();
        let name = file.path.clone();
        Ok(Box::new(MietteSpanContents::new_named(
            name,
            shown.as_bytes(),
            whole,
            line,
            column,
            lines,
        )))
    }
}

/// Returns whether reports print a path unchanged, in one line.
#[must_use]
pub fn is_shown(path: &str) -> bool {
    !path.contains(['\n', '\t']) && relay_engine::invisible::search(path).is_empty()
}

/// Returns whether a character ends a line (KDL 2, "Newline").
pub(crate) fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests;
