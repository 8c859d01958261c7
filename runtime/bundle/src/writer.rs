//! The sections of a bundle while they are written.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use serde::Serialize;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use crate::row::{ABSENT, ListedString, Range, Row, Text};
use crate::section::Kind;

/// The sections while they are written.
pub(crate) struct Writer {
    /// The bytes of each kind, by the kind's number.
    sections: [Vec<u8>; Kind::NUMBERS],
    strings: Shared,
    bodies: Shared,
    places: Shared,
    /// The order of selection of the prompts, once they are written.
    pub(crate) order: Vec<u32>,
    /// How many of these every briefing sends: they come first.
    pub(crate) always: usize,
}

/// Where a section already has certain runs of bytes. The runs themselves are in the section, so
/// nothing is stored twice.
#[derive(Default)]
struct Shared {
    runs: HashTable<Text>,
    hasher: DefaultHashBuilder,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            sections: [const { Vec::new() }; Kind::NUMBERS],
            strings: Shared::default(),
            bodies: Shared::default(),
            places: Shared::default(),
            order: Vec::new(),
            always: 0,
        }
    }

    /// Returns the sections in the order of the file, without those that are empty.
    pub(crate) fn finish(mut self) -> Vec<(Kind, Vec<u8>)> {
        let taken = Kind::ALL.map(|kind| (kind, std::mem::take(section(&mut self.sections, kind))));
        taken.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
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
        let start = section.len();
        section.extend_from_slice(bytes);
        start
    }

    /// Returns what a section has so far.
    pub(crate) fn so_far(&self, kind: Kind) -> &[u8] {
        self.sections.get(kind as usize).map_or(&[], Vec::as_slice)
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
fn section(sections: &mut [Vec<u8>; Kind::NUMBERS], kind: Kind) -> &mut Vec<u8> {
    &mut sections[kind as usize]
}

impl Shared {
    fn add(&mut self, section: &mut Vec<u8>, run: &[u8]) -> Text {
        let Self { runs, hasher } = self;
        let hash = hasher.hash_one(run);
        if let Some(known) = runs.find(hash, |known| bytes_of(*known, section) == run) {
            return *known;
        }
        let text = Text { offset: number(section.len()), length: number(run.len()) };
        section.extend_from_slice(run);
        runs.insert_unique(hash, text, |known| hasher.hash_one(bytes_of(*known, section)));
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
