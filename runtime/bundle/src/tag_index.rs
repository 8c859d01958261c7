//! The tag index: which prompts have a word in their summary or chapters.
//!
//! A tag without white space can only match inside one word, so a search in the distinct words
//! and a union of their postings finds exactly what a search in every text would find. Prompts
//! are numbered by *rank*: priority falling, then name, the order in which equal scores come.
//!
//! Postings are the ranks of a word's prompts: a bitmap where that is shorter, else a list of
//! LEB128 numbers, each the distance from the rank after the one before. Words with a bitmap come
//! first; within each of the two kinds, words are sorted by their bytes.

use std::cmp::Reverse;
use std::collections::HashMap;

use zerocopy::IntoBytes;

use crate::contents::Prompt;
use crate::record;

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

/// The postings of one word while they grow.
#[derive(Default)]
struct Word {
    list: Vec<u8>,
    /// The rank after the last one.
    next: u32,
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
    let mut words: HashMap<Box<str>, Word> = HashMap::new();
    let mut covered = 0;
    for (rank, prompt) in (0..).zip(ranked()) {
        for text in prompt.summary.iter().chain(&prompt.chapters) {
            covered += text.len();
            for word in lower_case(text).split_whitespace() {
                match words.get_mut(word) {
                    Some(word) => word.add(rank),
                    None => words.entry(word.into()).or_default().add(rank),
                }
            }
        }
    }
    let bitmap_bytes = prompts.len().div_ceil(8);
    let mut words: Vec<(Box<str>, Word)> = words.into_iter().collect();
    let is_list = |word: &Word| word.list.len() <= bitmap_bytes;
    words.sort_unstable_by(|(a, a_word), (b, b_word)| {
        (is_list(a_word), a).cmp(&(is_list(b_word), b))
    });
    let dense = words.iter().take_while(|(_, word)| !is_list(word)).count();
    for (number, (text, word)) in words.iter().enumerate() {
        out.word();
        out.text.extend_from_slice(text.as_bytes());
        // No word has white space in it, so no match spans two words.
        out.text.push(b'\n');
        if number < dense {
            out.postings.extend(word.bitmap(bitmap_bytes));
        } else {
            out.postings.extend_from_slice(&word.list);
        }
    }
    out.word();
    out.order = order.iter().flat_map(|index| index.to_le_bytes()).collect();
    let ends = std::array::from_fn(|place| {
        let lowest = 10 - place;
        number(ranked().filter(|prompt| usize::from(prompt.priority) >= lowest).count())
    });
    let others = prompts.iter().zip(body_bytes).filter(|(prompt, _)| prompt.priority < 10);
    let (major, minor, update) = UNICODE;
    let facts = record::TagIndex {
        dense: number(dense),
        body_bytes_min: others.map(|(_, bytes)| *bytes).min().unwrap_or(0).into(),
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
}

impl Word {
    fn add(&mut self, rank: u32) {
        let Some(mut distance) = rank.checked_sub(self.next) else { return };
        loop {
            let [low, ..] = distance.to_le_bytes();
            distance >>= 7;
            if distance == 0 {
                self.list.push(low & 0x7f);
                break;
            }
            self.list.push(low | 0x80);
        }
        self.next = rank + 1;
    }

    fn bitmap(&self, bytes: usize) -> Vec<u8> {
        let mut bitmap = vec![0; bytes];
        for rank in Ranks::new(&self.list) {
            if let Some(byte) = bitmap.get_mut(rank as usize / 8) {
                *byte |= 1 << (rank % 8);
            }
        }
        bitmap
    }
}

/// The ranks of a posting list, in order. A list that is no LEB128 ends where it goes wrong.
#[derive(Debug, Clone)]
pub struct Ranks<'b> {
    rest: std::slice::Iter<'b, u8>,
    next: u32,
}

impl<'b> Ranks<'b> {
    pub(crate) fn new(list: &'b [u8]) -> Self {
        Self { rest: list.iter(), next: 0 }
    }
}

impl Iterator for Ranks<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let mut byte = *self.rest.next()?;
        let mut distance = u32::from(byte & 0x7f);
        let mut shift = 7;
        while byte & 0x80 != 0 && shift < 32 {
            byte = *self.rest.next()?;
            distance |= u32::from(byte & 0x7f) << shift;
            shift += 7;
        }
        let rank = self.next.checked_add(distance)?;
        self.next = rank.checked_add(1)?;
        Some(rank)
    }
}

// A section over 4 GiB is refused by `encode` before its offsets matter.
fn number(value: usize) -> zerocopy::little_endian::U32 {
    u32::try_from(value).unwrap_or(u32::MAX).into()
}
