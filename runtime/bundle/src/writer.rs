//! The sections of a bundle while they are written, or compared with those of a bundle that exists.

use std::hash::BuildHasher as _;
use std::io;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::Serialize;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use crate::row::{ABSENT, ListedString, Range, Row, Text};
use crate::section::Kind;

/// The sections while they are written.
pub(crate) struct Writer<'b> {
    /// The bytes of each kind, by the kind's number.
    sections: [Section<'b>; Kind::NUMBERS],
    strings: Shared,
    bodies: Shared,
    places: Shared,
    /// The order of selection of the prompts, once they are written.
    pub(crate) order: Vec<u32>,
    /// How many of these every briefing sends: they come first.
    pub(crate) always: usize,
}

/// The bytes of a section while they are written.
enum Section<'b> {
    /// They are new.
    Own(Vec<u8>),
    /// So far they are the beginning of a section that exists, which is in memory already.
    Same {
        /// All of that section.
        known: &'b [u8],
        /// How much of it was written.
        length: usize,
    },
    /// They are not those of the section that exists, so that nothing more is kept of them: memory has
    /// no more than the bundle, even where rows share a text.
    Other {
        /// How many there would be.
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

    /// Returns whether it ended where a section that exists ends.
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

/// Where a section already has certain runs of bytes. The runs themselves are in the section, so
/// nothing is stored twice.
#[derive(Default)]
struct Shared {
    runs: HashTable<Text>,
    hasher: DefaultHashBuilder,
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

    /// Returns a writer that compares with the sections that exist: what is equal is not stored.
    pub(crate) fn comparing(mut known: impl FnMut(Kind) -> &'b [u8]) -> Self {
        let mut writer = Self::new();
        for kind in Kind::ALL {
            *section(&mut writer.sections, kind) = Section::Same { known: known(kind), length: 0 };
        }
        writer
    }

    /// Returns the sections in the order of the file, without those that are empty.
    pub(crate) fn finish(mut self) -> Vec<(Kind, Vec<u8>)> {
        let taken = Kind::ALL.map(|kind| {
            match std::mem::replace(section(&mut self.sections, kind), Section::EMPTY) {
                Section::Own(bytes) => (kind, bytes),
                Section::Same { .. } | Section::Other { .. } => (kind, Vec::new()),
            }
        });
        taken.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
    }

    /// Returns the kinds of section that are not those that exist, of a writer that compares.
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

    /// Appends rows to their section.
    pub(crate) fn rows<R: Row>(&mut self, rows: &[R]) -> Range {
        self.records(R::KIND, rows)
    }

    /// Appends records to a section whose rows have no type of their own.
    pub(crate) fn records<R: IntoBytes + Immutable>(&mut self, kind: Kind, rows: &[R]) -> Range {
        let start = self.bytes(kind, rows.as_bytes()) / size_of::<R>();
        Range { start: number(start), count: number(rows.len()) }
    }

    /// Appends the row of a place unless the same one was written before; returns its index.
    pub(crate) fn place_row<R: Row>(&mut self, row: &R) -> U32 {
        let Self { sections, places, .. } = self;
        let known = places.add(section(sections, R::KIND), row.as_bytes());
        number(known.offset.get() as usize / size_of::<R>())
    }

    /// Appends bytes to a section; returns where they begin.
    pub(crate) fn bytes(&mut self, kind: Kind, bytes: &[u8]) -> usize {
        let section = section(&mut self.sections, kind);
        let start = section.length();
        section.extend(bytes);
        start
    }

    /// Returns what a section has so far.
    pub(crate) fn so_far(&self, kind: Kind) -> &[u8] {
        self.sections.get(kind as usize).map_or(&[], Section::bytes)
    }

    /// Writes a value as the canonical JSON of its settings section.
    ///
    /// # Errors
    ///
    /// None that contents can cause; serialisation is fallible by type only.
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
        let Self { runs, hasher } = self;
        let hash = hasher.hash_one(run);
        if let Some(known) = runs.find(hash, |known| bytes_of(*known, section.bytes()) == run) {
            return *known;
        }
        let text = Text { offset: number(section.length()), length: number(run.len()) };
        section.extend(run);
        runs.insert_unique(hash, text, |known| hasher.hash_one(bytes_of(*known, section.bytes())));
        text
    }
}

/// Returns a run that was added to this section; nothing if it lies over 4 GiB, see [`number`].
fn bytes_of(run: Text, section: &[u8]) -> &[u8] {
    let start = run.offset.get() as usize;
    section.get(start..start + run.length.get() as usize).unwrap_or_default()
}

/// Returns an offset, index or count as the file has it.
///
/// A section over 4 GiB is refused before its offsets matter.
pub(crate) fn number(value: usize) -> U32 {
    u32::try_from(value).unwrap_or(ABSENT - 1).into()
}
