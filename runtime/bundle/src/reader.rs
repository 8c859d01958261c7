//! The sections of an opened bundle, read in place. Every page is checked before its first use.

use std::str;
use std::sync::atomic::{AtomicU64, Ordering};

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::digest::Tree;
use crate::error::Corrupt;
use crate::row::{ABSENT, ListedString, Range, Row, Text};
use crate::section::{Kind, SectionInfo};

/// Bytes that stay in place and unchanged while a bundle is open, such as a memory map or a vector.
pub type Storage = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The value of `texts_left` of an unlimited read.
const UNBOUNDED: u64 = u64::MAX;

/// The sections of a bundle.
pub(crate) struct Reader {
    storage: Storage,
    /// The remaining bytes of texts that may be read, see [`Reader::bounded`].
    texts_left: AtomicU64,
    pub(crate) sections: Vec<SectionInfo>,
    /// The tree of each kind, by the kind's number: every read uses it.
    trees: [Option<Tree>; Kind::NUMBERS],
}

impl Reader {
    /// Takes the storage, and the sections with their trees.
    pub(crate) fn new(storage: Storage, sections: Vec<SectionInfo>, listed: Vec<Tree>) -> Self {
        let mut trees = [const { None }; Kind::NUMBERS];
        for (info, tree) in sections.iter().zip(listed) {
            let Some(kind) = info.kind else { continue };
            if let Some(slot) = trees.get_mut(kind as usize) {
                *slot = Some(tree);
            }
        }
        Self { storage, texts_left: AtomicU64::new(UNBOUNDED), sections, trees }
    }

    /// Runs `read`, with a limit of `bytes_max` bytes of texts in all.
    ///
    /// Rows may share a text, so an unlimited read of a small file could use any amount of memory
    /// and time.
    pub(crate) fn bounded<T>(
        &self,
        bytes_max: u64,
        read: impl FnOnce() -> Result<T, Corrupt>,
    ) -> Result<T, Corrupt> {
        self.texts_left.store(bytes_max.min(UNBOUNDED - 1), Ordering::Relaxed);
        let result = read();
        self.texts_left.store(UNBOUNDED, Ordering::Relaxed);
        result
    }

    /// Counts a text against the limit.
    fn charge(&self, kind: Kind, length: usize) -> Result<(), Corrupt> {
        let left = self.texts_left.load(Ordering::Relaxed);
        if left == UNBOUNDED {
            return Ok(());
        }
        let wrong = Corrupt::Record { section: kind.name(), what: "text (too many rows share it)" };
        let left = left.checked_sub(length as u64).ok_or(wrong)?;
        self.texts_left.store(left, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the whole file.
    pub(crate) fn file(&self) -> &[u8] {
        (*self.storage).as_ref()
    }

    /// Checks every page of every section, including sections of unknown kinds.
    ///
    /// It begins at the end, see [`Self::check_ahead`].
    pub(crate) fn check_all(&self) -> Result<(), Corrupt> {
        let mut first = Ok(());
        for info in self.sections.iter().rev() {
            let length = usize::try_from(info.length).unwrap_or(usize::MAX);
            let offset = usize::try_from(info.offset).unwrap_or(usize::MAX);
            let unknown;
            let tree = match info.kind.and_then(|kind| self.tree(kind)) {
                Some(tree) => tree,
                None => {
                    unknown = Tree::new(info.digest, offset, length);
                    &unknown
                }
            };
            if !tree.check_all(self.file()) {
                let section = info.kind.map_or("unknown", Kind::name);
                first = Err(Corrupt::Page { section, offset: 0 });
            }
        }
        first
    }

    /// Checks the pages of the sections, up to a corrupt one: texts, which are most of a bundle, from the first
    /// to the last, then the others. A page is checked once: beside [`Self::check_all`] on another thread, each
    /// checks about a half, and who reads all rows on another thread finds their texts checked.
    pub(crate) fn check_ahead(&self) {
        let kinds = self.sections.iter().filter_map(|info| info.kind);
        let mut trees = [Kind::Bodies].into_iter().chain(kinds).filter_map(|kind| self.tree(kind));
        let _ = trees.all(|tree| tree.check_ahead(self.file()));
    }

    pub(crate) fn string(&self, text: Text) -> Result<&str, Corrupt> {
        self.text(Kind::Strings, text)
    }

    pub(crate) fn optional(&self, text: Text) -> Result<Option<&str>, Corrupt> {
        match text.offset.get() {
            ABSENT => Ok(None),
            _ => self.string(text).map(Some),
        }
    }

    pub(crate) fn strings(&self, range: Range) -> Result<Vec<&str>, Corrupt> {
        self.rows::<ListedString>(range)?.map(|row| self.string(row?.text)).collect()
    }

    pub(crate) fn text(&self, kind: Kind, text: Text) -> Result<&str, Corrupt> {
        self.utf8(kind, text.offset.get() as usize, text.length.get() as usize)
    }

    /// Returns the text of a section with a single text; empty if the section is missing.
    pub(crate) fn whole_text(&self, kind: Kind) -> Result<&str, Corrupt> {
        self.utf8(kind, 0, self.section_bytes(kind).unwrap_or(0))
    }

    pub(crate) fn body(&self, text: Text) -> Result<&[u8], Corrupt> {
        self.charge(Kind::Bodies, text.length.get() as usize)?;
        self.bytes(Kind::Bodies, text.offset.get() as usize, text.length.get() as usize)
    }

    /// Returns the row with this index.
    pub(crate) fn row<R: Row>(&self, index: usize) -> Result<&R, Corrupt> {
        self.record(R::KIND, index)
    }

    /// Returns the rows of a range, in order.
    pub(crate) fn rows<'b, R: Row + 'b>(
        &'b self,
        range: Range,
    ) -> Result<impl ExactSizeIterator<Item = Result<&'b R, Corrupt>> + use<'b, R>, Corrupt> {
        let (start, count) = (range.start.get() as usize, range.count.get() as usize);
        match start.checked_add(count) {
            Some(end) if end <= self.count(R::KIND) => {
                Ok((start..end).map(|index| self.row(index)))
            }
            _ => Err(Corrupt::Record { section: R::KIND.name(), what: "range" }),
        }
    }

    /// Returns a record of a section without a row type.
    pub(crate) fn record<R: FromBytes + KnownLayout + Immutable>(
        &self,
        kind: Kind,
        index: usize,
    ) -> Result<&R, Corrupt> {
        let wrong = || Corrupt::Record { section: kind.name(), what: "index" };
        let start = index.checked_mul(size_of::<R>()).ok_or_else(wrong)?;
        let bytes = self.bytes(kind, start, size_of::<R>())?;
        R::ref_from_bytes(bytes).map_err(|_| wrong())
    }

    pub(crate) fn bytes(&self, kind: Kind, start: usize, length: usize) -> Result<&[u8], Corrupt> {
        let corrupt = || Corrupt::Page { section: kind.name(), offset: start as u64 };
        let Some(tree) = self.tree(kind) else {
            return if length == 0 { Ok(&[]) } else { Err(corrupt()) };
        };
        tree.read(self.file(), start, length).ok_or_else(corrupt)
    }

    /// Returns all bytes of a section; empty if the section is missing.
    pub(crate) fn section(&self, kind: Kind) -> Result<&[u8], Corrupt> {
        self.bytes(kind, 0, self.section_bytes(kind).unwrap_or(0))
    }

    /// Returns all bytes of a section, whose pages may be damaged: good enough for a comparison with bytes
    /// that are known. Empty if the section is missing.
    pub(crate) fn unchecked(&self, kind: Kind) -> &[u8] {
        self.tree(kind).map_or(&[], |tree| tree.unchecked(self.file()))
    }

    /// Returns the number of rows of a section.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.section_bytes(kind).unwrap_or(0) / kind.row_bytes()
    }

    pub(crate) fn section_bytes(&self, kind: Kind) -> Option<usize> {
        self.tree(kind).map(Tree::data_length)
    }

    fn utf8(&self, kind: Kind, start: usize, length: usize) -> Result<&str, Corrupt> {
        self.charge(kind, length)?;
        str::from_utf8(self.bytes(kind, start, length)?)
            .map_err(|_| Corrupt::Record { section: kind.name(), what: "text (not UTF-8)" })
    }

    fn tree(&self, kind: Kind) -> Option<&Tree> {
        self.trees.get(kind as usize)?.as_ref()
    }
}

/// The number of rows of a section that one answer may still refer to.
///
/// All rows of an answer refer to distinct rows, so it has at most the whole of a section. The
/// limit matters: else a small file could use any amount of memory.
pub(crate) struct Room {
    section: Kind,
    rows: usize,
}

impl Room {
    /// Returns room for every row of a section.
    pub(crate) fn of<R: Row>(reader: &Reader) -> Self {
        Self { section: R::KIND, rows: reader.count(R::KIND) }
    }

    /// Returns room for every number of a section of numbers.
    pub(crate) fn of_numbers(reader: &Reader, section: Kind) -> Self {
        Self { section, rows: reader.count(section) }
    }

    /// Takes the rows of `range` out of the room.
    pub(crate) fn take(&mut self, range: Range) -> Result<(), Corrupt> {
        let section = self.section.name();
        let wrong = Corrupt::Record { section, what: "range (it is used twice)" };
        self.rows = self.rows.checked_sub(range.count.get() as usize).ok_or(wrong)?;
        Ok(())
    }
}
