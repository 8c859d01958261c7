//! The sections of a bundle during writing, either new or compared with an existing bundle.

use std::hash::BuildHasher as _;
use std::io;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::Serialize;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use crate::row::{ABSENT, ListedString, Range, Row, Text};
use crate::section::Kind;

/// The sections during writing.
pub(crate) struct Writer<'b> {
    /// The bytes of each kind, by the kind's number.
    sections: [Section<'b>; Kind::NUMBERS],
    strings: Shared,
    bodies: Shared,
    places: Shared,
    /// The order of selection of the prompts, after they are written.
    pub(crate) order: Vec<u32>,
    /// The number of prompts that every briefing sends: they come first.
    pub(crate) always: usize,
}

/// The bytes of a section during writing.
enum Section<'b> {
    /// New bytes.
    Own(Vec<u8>),
    /// So far, the beginning of an existing section, which is in memory already.
    Same {
        /// The whole existing section.
        known: &'b [u8],
        /// The length of the written part.
        length: usize,
    },
    /// Different from the existing section. The bytes are dropped: memory then holds only the
    /// bundle, even if rows share a text.
    Other {
        /// The number of bytes written.
        length: usize,
    },
}

impl Section<'_> {
    const EMPTY: Self = Self::Own(Vec::new());

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Same { known, length } => known.get(..*length).unwrap_or_default(),
            Self::Other { .. } => &[],
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len(),
            Self::Same { known: _, length } | Self::Other { length } => *length,
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        match self {
            Self::Own(own) => own.extend_from_slice(bytes),
            Self::Other { length } => *length += bytes.len(),
            Self::Same { known, length } => {
                let end = *length + bytes.len();
                if known.get(*length..end) == Some(bytes) {
                    *length = end;
                } else {
                    *self = Self::Other { length: end };
                }
            }
        }
    }

    /// Returns whether it equals the existing section.
    fn is_known(&self) -> bool {
        matches!(self, Self::Same { known, length } if known.len() == *length)
    }
}

impl io::Write for Section<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The positions of runs of bytes in a section. The section holds the runs themselves, so each is
/// stored once.
#[derive(Default)]
struct Shared {
    /// Each with its hash, since a table that grows asks for it again, and a run may be long.
    runs: HashTable<(u64, Text)>,
    hasher: DefaultHashBuilder,
    /// The run of the last call: the text of most prompts is added twice in a row.
    last: Option<Text>,
}

impl<'b> Writer<'b> {
    pub(crate) fn new() -> Self {
        Self {
            sections: [Section::EMPTY; Kind::NUMBERS],
            strings: Shared::default(),
            bodies: Shared::default(),
            places: Shared::default(),
            order: Vec::new(),
            always: 0,
        }
    }

    /// Returns a writer that compares with the existing sections and stores only different bytes.
    pub(crate) fn comparing(mut known: impl FnMut(Kind) -> &'b [u8]) -> Self {
        let mut writer = Self::new();
        for kind in Kind::ALL {
            *section(&mut writer.sections, kind) = Section::Same { known: known(kind), length: 0 };
        }
        writer
    }

    /// Returns the non-empty sections in the order of the file.
    pub(crate) fn finish(mut self) -> Vec<(Kind, Vec<u8>)> {
        let taken = Kind::ALL.map(|kind| {
            match std::mem::replace(section(&mut self.sections, kind), Section::EMPTY) {
                Section::Own(bytes) => (kind, bytes),
                Section::Same { .. } | Section::Other { .. } => (kind, Vec::new()),
            }
        });
        taken.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
    }

    /// Returns the kinds of sections that differ from the existing ones, for a comparing writer.
    pub(crate) fn differing(mut self) -> Vec<Kind> {
        let is_other = |kind: &Kind| !section(&mut self.sections, *kind).is_known();
        Kind::ALL.into_iter().filter(is_other).collect()
    }

    pub(crate) fn string(&mut self, text: &str) -> Text {
        let Self { sections, strings, .. } = self;
        strings.add(section(sections, Kind::Strings), text.as_bytes())
    }

    pub(crate) fn optional(&mut self, text: Option<&str>) -> Text {
        text.map_or(Text::ABSENT, |text| self.string(text))
    }

    pub(crate) fn strings(&mut self, list: &[String]) -> Range {
        let rows: Vec<_> =
            list.iter().map(|text| ListedString { text: self.string(text) }).collect();
        self.rows(&rows)
    }

    pub(crate) fn body(&mut self, bytes: &[u8]) -> Text {
        let Self { sections, bodies, .. } = self;
        bodies.add(section(sections, Kind::Bodies), bytes)
    }

    /// Reserves memory for this many bytes of bodies: a section that grows to its size takes thrice as
    /// much. A third more is for the rest of the file, which is joined in this memory; it takes none until
    /// then.
    pub(crate) fn reserve_bodies(&mut self, bytes: usize) {
        if let Section::Own(own) = section(&mut self.sections, Kind::Bodies) {
            own.reserve_exact(bytes.saturating_add(bytes / 3));
        }
    }

    /// Appends rows to their section.
    pub(crate) fn rows<R: Row>(&mut self, rows: &[R]) -> Range {
        self.records(R::KIND, rows)
    }

    /// Appends records to a section without a row type.
    pub(crate) fn records<R: IntoBytes + Immutable>(&mut self, kind: Kind, rows: &[R]) -> Range {
        let start = self.bytes(kind, rows.as_bytes()) / size_of::<R>();
        Range { start: number(start), count: number(rows.len()) }
    }

    /// Appends the row of a place unless an equal one was written before; returns its index.
    pub(crate) fn place_row<R: Row>(&mut self, row: &R) -> U32 {
        let Self { sections, places, .. } = self;
        let known = places.add(section(sections, R::KIND), row.as_bytes());
        number(known.offset.get() as usize / size_of::<R>())
    }

    /// Appends bytes to a section; returns their offset.
    pub(crate) fn bytes(&mut self, kind: Kind, bytes: &[u8]) -> usize {
        let section = section(&mut self.sections, kind);
        let start = section.length();
        section.extend(bytes);
        start
    }

    /// Returns the bytes of a section so far.
    pub(crate) fn so_far(&self, kind: Kind) -> &[u8] {
        self.sections.get(kind as usize).map_or(&[], Section::bytes)
    }

    /// Writes a value as the canonical JSON of its settings section.
    ///
    /// # Errors
    ///
    /// Serialisation is fallible by type only.
    pub(crate) fn settings(
        &mut self,
        kind: Kind,
        value: &impl Serialize,
    ) -> Result<(), serde_json::Error> {
        serde_json::to_writer(section(&mut self.sections, kind), value)
    }
}

#[expect(clippy::indexing_slicing, reason = "the array has a place for every number")]
fn section<'s, 'b>(
    sections: &'s mut [Section<'b>; Kind::NUMBERS],
    kind: Kind,
) -> &'s mut Section<'b> {
    &mut sections[kind as usize]
}

impl Shared {
    fn add(&mut self, section: &mut Section<'_>, run: &[u8]) -> Text {
        let Self { runs, hasher, last } = self;
        let is_run = |text: &Text| {
            text.length.get() as usize == run.len() && bytes_of(*text, section.bytes()) == run
        };
        if let Some(last) = last.filter(is_run) {
            return last;
        }
        let hash = hasher.hash_one(run);
        let is_known = |(other, text): &(u64, Text)| *other == hash && is_run(text);
        if let Some((_, known)) = runs.find(hash, is_known) {
            *last = Some(*known);
            return *known;
        }
        let text = Text { offset: number(section.length()), length: number(run.len()) };
        section.extend(run);
        runs.insert_unique(hash, (hash, text), |(hash, _)| *hash);
        *last = Some(text);
        text
    }
}

/// Returns a run that was added to this section; empty beyond 4 GiB, see [`number`].
fn bytes_of(run: Text, section: &[u8]) -> &[u8] {
    let start = run.offset.get() as usize;
    section.get(start..start + run.length.get() as usize).unwrap_or_default()
}

/// Returns an offset, index or count in the form of the file.
///
/// A section over 4 GiB is refused before its offsets matter.
pub(crate) fn number(value: usize) -> U32 {
    u32::try_from(value).unwrap_or(ABSENT - 1).into()
}
