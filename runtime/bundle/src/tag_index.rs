//! The tag index: which prompts have a word in their summary or chapters.
//!
//! A tag without white space can only match inside one word, so a search in the distinct words
//! and a union of their postings finds exactly what a search in every text would find. Prompts
//! are numbered by *rank*: priority falling, then name, the order in which equal scores come.
//!
//! Postings are the ranks of a word's prompts, in blocks of 65,536 ranks: a u16 with their count,
//! then the lower half of each; or, where that is shorter, the u16 0xffff, then a bitmap of the
//! block's ranks. Behind the last block that has any nothing is written. Numbers of one size are
//! read several times faster than the shortest there are, and a tag may have many.
//!
//! This is what is written; `view/tag_index.rs` reads it.

use std::cmp::Reverse;
use std::collections::HashMap;

use zerocopy::IntoBytes;

use crate::contents::Prompt;
use crate::record;

/// Postings come in blocks of so many ranks.
pub const RANK_BLOCK: usize = 1 << 16;

/// The version of Unicode by which this build lower-cases.
pub const UNICODE: (u8, u8, u8) = char::UNICODE_VERSION;

/// Lower-cases a text as tags and the texts that they are searched in are compared.
///
/// Each character by itself, by Unicode's full mapping, which no language and no neighbour
/// changes; a final sigma counts as a sigma. So a part of a text lower-cases to a part of the
/// lower-cased text, whatever it is cut from.
#[must_use]
pub fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

/// The sections of an index.
#[derive(Default)]
pub(crate) struct TagIndex {
    pub(crate) facts: Vec<u8>,
    pub(crate) order: Vec<u8>,
    pub(crate) words: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) postings: Vec<u8>,
}

/// Returns the indexes of `prompts` in the order of their ranks. The prompts are sorted by name.
pub(crate) fn order(prompts: &[Prompt]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).take(prompts.len()).collect();
    let priority =
        |index: &u32| Reverse(prompts.get(*index as usize).map_or(0, |prompt| prompt.priority));
    // Stable: prompts of one priority stay in the order of their names.
    order.sort_by_key(priority);
    order
}

/// Builds the index of `prompts`, given their order and the bytes of each one's body.
pub(crate) fn build(prompts: &[Prompt], order: &[u32], body_bytes: &[u32]) -> TagIndex {
    let mut out = TagIndex::default();
    if prompts.is_empty() {
        return out;
    }
    let ranked = || order.iter().filter_map(|index| prompts.get(*index as usize));
    let mut words: HashMap<Box<str>, Vec<u32>> = HashMap::new();
    let mut covered = 0;
    for (rank, prompt) in (0..).zip(ranked()) {
        for text in prompt.summary.iter().chain(&prompt.chapters) {
            covered += text.len();
            for word in lower_case(text).split_whitespace() {
                match words.get_mut(word) {
                    Some(ranks) if ranks.last() == Some(&rank) => {}
                    Some(ranks) => ranks.push(rank),
                    None => drop(words.insert(word.into(), vec![rank])),
                }
            }
        }
    }
    let mut words: Vec<(Box<str>, Vec<u32>)> = words.into_iter().collect();
    words.sort_unstable();
    for (text, ranks) in &words {
        out.word();
        out.text.extend_from_slice(text.as_bytes());
        // No word has white space in it, so no match spans two words.
        out.text.push(b'\n');
        out.postings(ranks, prompts.len());
    }
    out.word();
    out.order = order.iter().flat_map(|index| index.to_le_bytes()).collect();
    let ends = std::array::from_fn(|place| {
        let lowest = 10 - place;
        number(ranked().filter(|prompt| usize::from(prompt.priority) >= lowest).count())
    });
    let others = prompts.iter().zip(body_bytes).filter(|(prompt, _)| prompt.priority < 10);
    let (empty, filled): (Vec<u32>, Vec<u32>) =
        others.map(|(_, bytes)| *bytes).partition(|bytes| *bytes == 0);
    let (major, minor, update) = UNICODE;
    let facts = record::TagIndex {
        empty_bodies: number(empty.len()),
        body_bytes_min: filled.into_iter().min().unwrap_or(0).into(),
        covered_bytes: number(covered),
        unicode: [major, minor, update, 0],
        ends,
    };
    out.facts = facts.as_bytes().to_vec();
    out
}

impl TagIndex {
    /// Appends the record of the word that begins here.
    fn word(&mut self) {
        let (text, postings) = (number(self.text.len()), number(self.postings.len()));
        self.words.extend_from_slice(record::TagWord { text, postings }.as_bytes());
    }

    /// Appends the postings of one word, among so many prompts.
    fn postings(&mut self, ranks: &[u32], prompts: usize) {
        let block_of = |rank: &u32| *rank as usize / RANK_BLOCK;
        let mut rest = ranks;
        for block in 0..=ranks.last().map_or(0, block_of) {
            let (ranks, behind) =
                rest.split_at(rest.partition_point(|rank| block_of(rank) <= block));
            rest = behind;
            let bitmap_bytes = bitmap_bytes(prompts.saturating_sub(block * RANK_BLOCK));
            match u16::try_from(ranks.len()) {
                Ok(count) if 2 * ranks.len() <= bitmap_bytes => {
                    self.postings.extend(count.to_le_bytes());
                    for rank in ranks {
                        let [low, high, ..] = rank.to_le_bytes();
                        self.postings.extend([low, high]);
                    }
                }
                _ => {
                    self.postings.extend(record::POSTINGS_BITMAP.to_le_bytes());
                    self.postings.extend(bitmap(ranks, bitmap_bytes));
                }
            }
        }
    }
}

/// Returns the bytes of the bitmap of a block, given how many ranks there are from it on.
pub(crate) fn bitmap_bytes(ranks: usize) -> usize {
    ranks.min(RANK_BLOCK).div_ceil(8)
}

fn bitmap(ranks: &[u32], bytes: usize) -> Vec<u8> {
    let mut bitmap = vec![0; bytes];
    for rank in ranks {
        let place = *rank as usize % RANK_BLOCK;
        if let Some(byte) = bitmap.get_mut(place / 8) {
            *byte |= 1 << (place % 8);
        }
    }
    bitmap
}

// A section over 4 GiB is refused by `encode` before its offsets matter.
fn number(value: usize) -> zerocopy::little_endian::U32 {
    u32::try_from(value).unwrap_or(u32::MAX).into()
}
