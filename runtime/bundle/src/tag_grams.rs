//! The grams of the tag index: one or two bytes that many words hold, each with its prompts.
//!
//! A tag of one or two letters lies in thousands of words. To unite their postings took longer than the
//! rest of a selection, so the union is made when the bundle is built. A gram of few words has no row:
//! a search in the words finds it soon. All grams together take at most about as many bytes as the
//! words with their postings, those of most words first.

use std::cmp::Reverse;

use hashbrown::HashMap;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::error::Corrupt;
use crate::row::row;
use crate::section::Kind;
use crate::tag_index::{Postings, TagIndexView};
use crate::writer::{Writer, number};

/// The fewest words of a gram with a row.
const WORDS_MIN: usize = 128;
/// The most bytes of a gram.
const BYTES_MAX: usize = 2;
/// Ranks are sorted if they are fewer than one in this many, and marked otherwise.
const DENSE: usize = 16;

row! {
    /// A gram. Rows rise by it.
    Gram of TagGrams {
        /// Its length, then its bytes; see [`key`].
        key: U32,
        /// The offset and length of its postings in `TagGramPostings`.
        postings: U32,
        length: U32,
    }
}

/// Returns a gram as one number; `None` for an empty or longer text.
fn key(text: &[u8]) -> Option<u32> {
    match text {
        [one] => Some(1 << 16 | u32::from(*one)),
        [one, other] => Some(2 << 16 | u32::from(*one) << 8 | u32::from(*other)),
        _ => None,
    }
}

impl Writer<'_> {
    /// Writes the grams of words with their ranks, given the number of all ranks.
    pub(crate) fn tag_grams(&mut self, words: &[(&str, Vec<u32>)], count: usize) {
        let mut holders: HashMap<u32, Vec<u32>> = HashMap::new();
        for (place, (word, _)) in (0..).zip(words) {
            let grams = (1..=BYTES_MAX).flat_map(|length| word.as_bytes().windows(length));
            for gram in grams.filter_map(key) {
                let places = holders.entry(gram).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        let mut holders: Vec<(u32, Vec<u32>)> = holders.into_iter().collect();
        holders.retain(|(_, places)| places.len() >= WORDS_MIN);
        // A search for a gram of most words gains most.
        holders.sort_unstable_by_key(|(gram, places)| (Reverse(places.len()), *gram));
        let bytes_max = self.bytes(Kind::TagText, &[]) + self.bytes(Kind::TagPostings, &[]);
        let mut rows = Vec::new();
        for (gram, places) in holders {
            let held = places.iter().filter_map(|place| words.get(*place as usize));
            let ranks = union(held.map(|(_, ranks)| ranks), count);
            let start = self.bytes(Kind::TagGramPostings, &[]);
            if start >= bytes_max {
                break;
            }
            self.tag_postings(Kind::TagGramPostings, &ranks, count);
            let length = number(self.bytes(Kind::TagGramPostings, &[]) - start);
            rows.push(Gram { key: gram.into(), postings: number(start), length });
        }
        rows.sort_unstable_by_key(|row| row.key.get());
        self.rows(&rows);
    }
}

/// Returns the ranks of some words, rising, given the number of all ranks. It takes time in proportion to
/// the ranks of the words.
fn union<'r>(words: impl Iterator<Item = &'r Vec<u32>>, count: usize) -> Vec<u32> {
    let mut ranks: Vec<u32> = words.flatten().copied().collect();
    if ranks.len() < count / DENSE {
        ranks.sort_unstable();
        ranks.dedup();
        return ranks;
    }
    let mut has = vec![false; count];
    for rank in ranks {
        if let Some(has) = has.get_mut(rank as usize) {
            *has = true;
        }
    }
    (0..).zip(has).filter_map(|(rank, has)| has.then_some(rank)).collect()
}

impl<'b> TagIndexView<'b> {
    /// Returns the prompts with a word that holds this text; `None` if only the words say it, since the
    /// text is longer than a gram or few words hold it.
    ///
    /// # Errors
    ///
    /// As for [`crate::Bundle::prompt`].
    pub fn gram(&self, text: &[u8]) -> Result<Option<Postings<'b>>, Corrupt> {
        let Some(key) = key(text) else { return Ok(None) };
        let wrong = |what| Corrupt::Record { section: Kind::TagGrams.name(), what };
        let rows = self.bundle.reader.section(Kind::TagGrams)?;
        let rows = <[Gram]>::ref_from_bytes(rows).map_err(|_| wrong("length"))?;
        let Ok(place) = rows.binary_search_by_key(&key, |row| row.key.get()) else {
            return Ok(None);
        };
        let row = rows.get(place).ok_or(wrong("place"))?;
        let (start, length) = (row.postings.get() as usize, row.length.get() as usize);
        self.postings_at(Kind::TagGramPostings, start, length).map(Some)
    }
}
