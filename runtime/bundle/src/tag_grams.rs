//! The grams of the tag index: one or two bytes that many words hold, each with its prompts.
//!
//! A tag of one or two letters lies in thousands of words. To unite their postings took longer than the
//! rest of a selection, so the union is made when the bundle is built. A gram of few words has no row:
//! a search in the words finds it soon.

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
/// The gram of the last row, which only marks the end of the others.
const END: u32 = u32::MAX;

row! {
    /// A gram. Rows rise by it.
    Gram of TagGrams {
        /// Its length, then its bytes; see [`key`].
        key: U32,
        /// The offset of its postings in `TagGramPostings`.
        postings: U32,
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
        let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, (word, _)) in words.iter().enumerate() {
            let grams = (1..=BYTES_MAX).flat_map(|length| word.as_bytes().windows(length));
            for gram in grams.filter_map(key) {
                let places = holders.entry(gram).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        holders.retain(|_, places| places.len() >= WORDS_MIN);
        if holders.is_empty() {
            return;
        }
        let mut holders: Vec<(u32, Vec<usize>)> = holders.into_iter().collect();
        holders.sort_unstable();
        let mut has = vec![false; count];
        for (gram, places) in holders {
            has.fill(false);
            for rank in places.iter().filter_map(|place| words.get(*place)).flat_map(|(_, it)| it) {
                if let Some(has) = has.get_mut(*rank as usize) {
                    *has = true;
                }
            }
            let ranks = (0..).zip(&has).filter_map(|(rank, has)| has.then_some(rank));
            self.tag_gram(gram);
            self.tag_postings(Kind::TagGramPostings, &ranks.collect::<Vec<u32>>(), count);
        }
        self.tag_gram(END);
    }

    /// Appends the row of the gram whose postings begin here.
    fn tag_gram(&mut self, key: u32) {
        let postings = number(self.bytes(Kind::TagGramPostings, &[]));
        self.rows(&[Gram { key: key.into(), postings }]);
    }
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
        let offset = |place: usize| rows.get(place).map(|row| row.postings.get() as usize);
        let (Some(start), Some(end)) = (offset(place), offset(place + 1)) else {
            return Err(wrong("end"));
        };
        let length = end.checked_sub(start).ok_or(wrong("postings"))?;
        self.postings_at(Kind::TagGramPostings, start, length).map(Some)
    }
}
