//! A table of automata with an index of their literals.
//!
//! The table begins with the lengths of its parts; the parts follow: the ends of the records, the
//! index of literals (`literals.rs`), and the records. Equal automata are one record. A server uses
//! the table where it lies; nothing is compiled or copied.

mod literals;

use hashbrown::HashMap;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::automaton::{Automaton, AutomatonParts};
use crate::error::Corrupt;
use crate::writer::number;
use literals::{Entry, LiteralIndex, WrittenIndex};

/// The most bytes of all automata of a bundle.
pub const AUTOMATA_BYTES_MAX: usize = 16 << 20;

const SECTION: &str = "automata";

/// The number of rows of each part, or of bytes.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    automata: U32,
    buckets: U32,
    entries: U32,
    texts: U32,
    unfiltered: U32,
}

/// A table during writing.
#[derive(Default)]
pub struct AutomataWriter {
    numbers: HashMap<Vec<u8>, u32>,
    ends: Vec<U32>,
    records: Vec<u8>,
    literals: Vec<Vec<Vec<Vec<u8>>>>,
}

impl AutomataWriter {
    /// Adds an automaton and returns its number, which equal automata share.
    pub fn add(&mut self, automaton: &AutomatonParts) -> u32 {
        let Self { numbers, ends, records, literals } = self;
        let record = automaton.to_bytes();
        let next = number(ends.len()).get();
        *numbers.entry(record).or_insert_with_key(|record| {
            records.extend(record);
            ends.push(number(records.len()));
            literals.push(automaton.literals.clone());
            next
        })
    }

    /// Returns the bytes of the records so far, which callers compare with
    /// [`AUTOMATA_BYTES_MAX`].
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        self.records.len()
    }

    /// Returns the table.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let Self { numbers: _, ends, records, literals } = self;
        let WrittenIndex { buckets, entries, texts, unfiltered } = WrittenIndex::of(&literals);
        let head = Head {
            automata: number(ends.len()),
            buckets: number(buckets.len()),
            entries: number(entries.len()),
            texts: number(texts.len()),
            unfiltered: number(unfiltered.len()),
        };
        let parts = [
            head.as_bytes(),
            ends.as_bytes(),
            buckets.as_bytes(),
            entries.as_bytes(),
            unfiltered.as_bytes(),
            &texts,
            &records,
        ];
        parts.concat()
    }
}

/// A table of automata, in place.
#[derive(Clone, Copy)]
pub struct Automata<'b> {
    ends: &'b [U32],
    index: LiteralIndex<'b>,
    records: &'b [u8],
}

impl<'b> Automata<'b> {
    /// Reads a table and checks all of it, in time linear in its length. No bytes are an empty
    /// table.
    ///
    /// # Errors
    ///
    /// The table is invalid.
    pub fn open(table: &'b [u8]) -> Result<Self, Corrupt> {
        let automata = Self::split(table)?;
        automata.check()?;
        Ok(automata)
    }

    /// Splits a table into its parts, for bytes that [`Self::open`] accepted before.
    ///
    /// Reading an unchecked table is safe, but its answers mean nothing.
    ///
    /// # Errors
    ///
    /// The lengths of the parts do not fit the table.
    pub fn split(table: &'b [u8]) -> Result<Self, Corrupt> {
        if table.is_empty() {
            let index = LiteralIndex { buckets: &[], entries: &[], texts: &[], unfiltered: &[] };
            return Ok(Self { ends: &[], index, records: &[] });
        }
        let (head, rest) = Head::ref_from_prefix(table).map_err(|_| wrong("length"))?;
        let (ends, rest) = rows(rest, head.automata)?;
        let (buckets, rest) = rows(rest, head.buckets)?;
        let (entries, rest) = rows::<Entry>(rest, head.entries)?;
        let (unfiltered, rest) = rows(rest, head.unfiltered)?;
        let (texts, records) = rows(rest, head.texts)?;
        Ok(Self { ends, index: LiteralIndex { buckets, entries, texts, unfiltered }, records })
    }

    /// Checks every record, and that the index leads to each.
    fn check(&self) -> Result<(), Corrupt> {
        let Self { ends, index, records } = self;
        if records.len() > AUTOMATA_BYTES_MAX {
            return Err(wrong("length"));
        }
        // The records follow each other, so each byte is checked once.
        let mut all_ends = ends.iter().map(|end| end.get() as usize);
        if !all_ends.clone().is_sorted()
            || all_ends.next_back().unwrap_or_default() != records.len()
        {
            return Err(wrong("end of a record"));
        }
        for number in 0..self.count() {
            self.record(number).ok_or_else(|| wrong("index")).and_then(Automaton::open)?;
        }
        index.fault(ends.len()).map_or(Ok(()), |what| Err(wrong(what)))
    }

    /// Returns the number of distinct automata.
    #[must_use]
    pub fn count(&self) -> u32 {
        number(self.ends.len()).get()
    }

    /// Returns the automaton with this number.
    ///
    /// # Errors
    ///
    /// No automaton has the number.
    pub fn automaton(&self, number: u32) -> Result<Automaton<'b>, Corrupt> {
        self.record(number).ok_or_else(|| wrong("index")).and_then(Automaton::split)
    }

    /// Returns the numbers of the automata that match anywhere in `text`, rising.
    ///
    /// Only those run of which the text has a literal, and those without literals.
    #[must_use]
    pub fn matching(&self, text: &[u8]) -> Vec<u32> {
        let candidates = self.index.candidates(text, self.ends.len());
        let matches = |number: &u32| self.automaton(*number).is_ok_and(|it| it.matches(text));
        candidates.iter().filter(matches).collect()
    }

    /// Returns the number of automata that run for `text`, for tests and figures.
    #[must_use]
    pub fn candidate_count(&self, text: &[u8]) -> usize {
        self.index.candidates(text, self.ends.len()).iter().count()
    }

    fn record(&self, number: u32) -> Option<&'b [u8]> {
        let end = |number: usize| self.ends.get(number).map(|end| end.get() as usize);
        let start = match (number as usize).checked_sub(1) {
            None => 0,
            Some(before) => end(before)?,
        };
        self.records.get(start..end(number as usize)?)
    }
}

fn rows<R: FromBytes + KnownLayout + Immutable>(
    bytes: &[u8],
    count: U32,
) -> Result<(&[R], &[u8]), Corrupt> {
    <[R]>::ref_from_prefix_with_elems(bytes, count.get() as usize).map_err(|_| wrong("length"))
}

fn wrong(what: &'static str) -> Corrupt {
    Corrupt::Record { section: SECTION, what }
}
