//! The tag index: finds the prompts with a word in their summary or chapters.
//!
//! A one-word tag can only match inside one word, so a search in the distinct words and a union of
//! their postings finds exactly the results of a search in every text. Prompts are numbered by
//! *rank*: priority falling, then name, the order of equal scores. Ranks and the index hold only
//! prompts that briefings may send.
//!
//! Postings are the ranks of a word's prompts, in blocks of 65,536 ranks: a u16 with their count,
//! then the lower half of each; or, if shorter, the u16 0xffff, then a bitmap of the block's ranks.
//! Nothing follows the last block with a rank. Numbers of one size are read several times faster
//! than variable-length ones, and a tag may have many.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::lower_case::{UNICODE, lower_case};
use crate::part::Part;
use crate::prompt::Prompt;
use crate::row::row;
use crate::section::Kind;
use crate::writer::{Writer, number};

/// Ranks in one block of postings.
pub const RANK_BLOCK: usize = 1 << 16;

row! {
    /// The facts of the index.
    Facts of TagIndex {
        /// For the prompts below priority 10: the number of empty bodies, and the length of the
        /// shortest other body. Both together limit the number of bodies that fit a budget.
        empty_bodies: U32,
        body_bytes_min: U32,
        /// The length of the covered summaries and chapters in bytes.
        covered_bytes: U32,
        /// The version of Unicode used for the words: major, minor, update, 0.
        unicode: [u8; 4],
        /// The end of the prompts of each priority in `TagOrder`, for 10 down to 1.
        ends: [U32; 10],
    }
}

row! {
    /// A distinct word. The last row only marks the end of the others.
    Word of TagWords {
        /// The offset of its text in `TagText`.
        text: U32,
        /// The offset of its postings in `TagPostings`.
        postings: U32,
    }
}

/// A count in postings that marks a bitmap.
const POSTINGS_BITMAP: u16 = u16::MAX;

/// The order of selection: the indexes of the prompts that briefings may send, by their ranks.
struct Order {
    indexes: Vec<u32>,
    /// The number of prompts with this priority or a higher one, for 10 down to 1.
    ends: [usize; 10],
}

impl Order {
    /// Returns the order of prompts sorted by name, from the priority of each; absent for a prompt
    /// that only people run.
    fn of(priorities: impl Iterator<Item = Option<u8>>) -> Self {
        let ranked = (0..).zip(priorities);
        let mut ranked: Vec<(u32, u8)> =
            ranked.filter_map(|(index, priority)| Some((index, priority?))).collect();
        // The stable sort keeps prompts of one priority in the order of their names.
        ranked.sort_by_key(|(_, priority)| Reverse(*priority));
        let ends = std::array::from_fn(|place| {
            ranked.partition_point(|(_, priority)| usize::from(*priority) >= 10 - place)
        });
        Self { indexes: ranked.into_iter().map(|(index, _)| index).collect(), ends }
    }

    /// Returns the rank of each of `count` prompts, if any.
    fn ranks(&self, count: usize) -> Vec<Option<u32>> {
        let mut ranks = vec![None; count];
        for (rank, index) in (0..).zip(&self.indexes) {
            if let Some(slot) = ranks.get_mut(*index as usize) {
                *slot = Some(rank);
            }
        }
        ranks
    }
}

/// The indexed texts of a prompt, with related sizes.
struct Indexed {
    /// In lower case, like the texts.
    name: String,
    /// Summary and chapters.
    texts: Vec<String>,
    /// The length of summary and chapters as written.
    covered_bytes: usize,
    /// The length of the text in briefings.
    body_bytes: u32,
}

impl Indexed {
    fn of(prompt: &Prompt, body_bytes: u32) -> Self {
        let texts = || prompt.summary.iter().chain(&prompt.chapters).map(|text| &text.value);
        Self {
            name: lower_case(&prompt.name),
            texts: texts().map(|text| lower_case(text)).collect(),
            covered_bytes: texts().map(String::len).sum(),
            body_bytes,
        }
    }
}

/// Returns the priority of a prompt, if briefings may send it.
fn ranked(prompt: &Prompt) -> Option<u8> {
    prompt.briefing.value.then_some(prompt.priority.value)
}

/// The prompts, their order of selection, and the index over them.
impl Part for Vec<Prompt> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.prompts().map(|view| view?.to_owned()).collect()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        let order = Order::of(self.iter().map(ranked));
        let ranks = order.ranks(self.len());
        // Most prompts render one text, which is their body.
        out.reserve_bodies(self.iter().map(|prompt| prompt.body.value.len()).sum());
        let indexed = self.iter().zip(ranks).map(|(prompt, rank)| out.indexed(prompt, rank));
        let indexed = indexed.collect();
        out.prompt_indexes(order, indexed);
        Ok(())
    }

    /// Memory holds one prompt at a time.
    fn write_again(
        bundle: &Bundle,
        _: Kind,
        out: &mut Writer<'_>,
        seen: &mut dyn FnMut(Self) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let mut priorities = Vec::new();
        for prompt in bundle.prompts() {
            let prompt = prompt?;
            priorities.push(prompt.is_briefed().then_some(prompt.priority()));
        }
        let order = Order::of(priorities.into_iter());
        let ranks = order.ranks(bundle.prompt_count());
        let mut indexed = Vec::with_capacity(ranks.len());
        for (prompt, rank) in bundle.prompts().zip(ranks) {
            let prompt = prompt?.to_owned()?;
            indexed.push(out.indexed(&prompt, rank));
            seen(vec![prompt])?;
        }
        out.prompt_indexes(order, indexed);
        Ok(())
    }
}

impl Writer<'_> {
    /// Writes a prompt; returns its data for the indexes.
    fn indexed(&mut self, prompt: &Prompt, rank: Option<u32>) -> Indexed {
        Indexed::of(prompt, self.prompt(prompt, rank))
    }

    /// Writes the indexes of the prompts, which were written before.
    fn prompt_indexes(&mut self, order: Order, prompts: Vec<Indexed>) {
        self.tag_index(&prompts, &order);
        // Prompts are also found by tags, which are in lower case.
        self.name_index(Kind::PromptIndex, prompts.iter().map(|prompt| &prompt.name));
        let Order { indexes, ends: [always, ..] } = order;
        (self.always, self.order) = (always, indexes);
    }

    /// Writes the index of summaries and chapters.
    fn tag_index(&mut self, prompts: &[Indexed], order: &Order) {
        if prompts.is_empty() {
            return;
        }
        let Order { indexes, ends } = order;
        let in_order = || indexes.iter().filter_map(|index| prompts.get(*index as usize));
        let mut words: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut covered = 0;
        for (rank, prompt) in (0..).zip(in_order()) {
            covered += prompt.covered_bytes;
            for text in &prompt.texts {
                for word in text.split_whitespace() {
                    let ranks = words.entry(word).or_default();
                    if ranks.last() != Some(&rank) {
                        ranks.push(rank);
                    }
                }
            }
        }
        let mut words: Vec<(&str, Vec<u32>)> = words.into_iter().collect();
        words.sort_unstable();
        for (text, ranks) in &words {
            self.tag_word();
            self.bytes(Kind::TagText, text.as_bytes());
            // Words hold no white space, so each match lies within one word.
            self.bytes(Kind::TagText, b"\n");
            self.tag_postings(Kind::TagPostings, ranks, indexes.len());
        }
        self.tag_word();
        self.tag_grams(&words, indexes.len());
        let numbers: Vec<U32> = indexes.iter().map(|index| (*index).into()).collect();
        self.records(Kind::TagOrder, &numbers);
        let [always, ..] = *ends;
        let others = in_order().skip(always).map(|prompt| prompt.body_bytes);
        let (empty, filled): (Vec<u32>, Vec<u32>) = others.partition(|bytes| *bytes == 0);
        let (major, minor, update) = UNICODE;
        self.rows(&[Facts {
            empty_bodies: number(empty.len()),
            body_bytes_min: filled.into_iter().min().unwrap_or(0).into(),
            covered_bytes: number(covered),
            unicode: [major, minor, update, 0],
            ends: ends.map(number),
        }]);
    }

    /// Appends the row of the word that begins here.
    fn tag_word(&mut self) {
        let text = number(self.bytes(Kind::TagText, &[]));
        let postings = number(self.bytes(Kind::TagPostings, &[]));
        self.rows(&[Word { text, postings }]);
    }

    /// Appends the postings of one word or gram, given the number of all ranks.
    pub(crate) fn tag_postings(&mut self, kind: Kind, ranks: &[u32], count: usize) {
        let block_of = |rank: &u32| *rank as usize / RANK_BLOCK;
        let mut rest = ranks;
        for block in 0..=ranks.last().map_or(0, block_of) {
            let (ranks, later) =
                rest.split_at(rest.partition_point(|rank| block_of(rank) <= block));
            rest = later;
            let bitmap_bytes = bitmap_bytes(count.saturating_sub(block * RANK_BLOCK));
            match u16::try_from(ranks.len()) {
                Ok(count) if 2 * ranks.len() <= bitmap_bytes => {
                    let low = |rank: &u32| (*rank % RANK_BLOCK as u32) as u16;
                    let list = ranks.iter().flat_map(|rank| low(rank).to_le_bytes());
                    let list: Vec<u8> = count.to_le_bytes().into_iter().chain(list).collect();
                    self.bytes(kind, &list);
                }
                _ => {
                    self.bytes(kind, &POSTINGS_BITMAP.to_le_bytes());
                    self.bytes(kind, &bitmap(ranks, bitmap_bytes));
                }
            }
        }
    }
}

/// Returns the length of the bitmap of a block, given the number of ranks from it on.
fn bitmap_bytes(ranks: usize) -> usize {
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

/// The tag index, in place. Words are numbered from 0; prompts by rank.
#[derive(Clone, Copy)]
pub struct TagIndexView<'b> {
    pub(crate) bundle: &'b Bundle,
    facts: &'b Facts,
    /// The words, and an end mark.
    words: &'b [Word],
    text: &'b [u8],
}

/// The prompts with a word, one block of ranks after the other, up to the last block with a rank.
/// Malformed postings end at the first error.
///
/// A check of every rank would cost more than its use, so ranks are unchecked: a faulty build may
/// have them out of order, or beyond the prompts. Readers ignore those.
#[derive(Debug, Clone)]
pub struct Postings<'b> {
    rest: &'b [u8],
    /// The number of ranks from the next block on.
    ranks: usize,
}

/// The ranks of one block with a word, counted from the block's first.
#[derive(Debug, Clone, Copy)]
pub enum RankBlock<'b> {
    /// One bit a rank, the lowest first.
    Bitmap(&'b [u8]),
    /// The ranks, rising, little-endian.
    List(&'b [[u8; 2]]),
}

impl Postings<'_> {
    /// Returns whether all blocks are read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'b> Iterator for Postings<'b> {
    type Item = RankBlock<'b>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (count, rest) = self.rest.split_first_chunk()?;
        let count = u16::from_le_bytes(*count);
        let is_bitmap = count == POSTINGS_BITMAP;
        let bytes = if is_bitmap { bitmap_bytes(self.ranks) } else { 2 * usize::from(count) };
        let (ranks, rest) = rest.split_at_checked(bytes).unwrap_or_default();
        self.rest = rest;
        self.ranks = self.ranks.saturating_sub(RANK_BLOCK);
        let (list, _) = ranks.as_chunks();
        Some(if is_bitmap { RankBlock::Bitmap(ranks) } else { RankBlock::List(list) })
    }
}

impl Bundle {
    /// Returns the tag index, if there are prompts.
    ///
    /// The first call reads the records of all words and checks that they are consistent; later
    /// calls skip this.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn tag_index(&self) -> Result<Option<TagIndexView<'_>>, Corrupt> {
        if self.prompt_count() == 0 {
            return Ok(None);
        }
        let reader = &self.reader;
        let words = <[Word]>::ref_from_bytes(reader.section(Kind::TagWords)?)
            .map_err(|_| wrong(Kind::TagWords, "length"))?;
        let text = reader.section(Kind::TagText)?;
        let index = TagIndexView { bundle: self, facts: reader.row(0)?, words, text };
        if !self.tag_index_fits.load(Ordering::Relaxed) {
            index.check()?;
            self.tag_index_fits.store(true, Ordering::Relaxed);
        }
        Ok(Some(index))
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> TagIndexView<'b> {
    /// Returns the number of words.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.words.len().saturating_sub(1)
    }

    /// Returns the text of all words, each followed by a line feed.
    #[must_use]
    pub fn text(&self) -> &'b [u8] {
        self.text
    }

    /// Returns the start of a word in [`Self::text`], and the position of the line feed after it;
    /// `None` only for an unused number.
    #[must_use]
    pub fn word(&self, number: usize) -> Option<(usize, usize)> {
        let start = self.words.get(number)?.text.get() as usize;
        let end = self.words.get(number + 1)?.text.get() as usize;
        Some((start, end.checked_sub(1)?))
    }

    /// Returns the prompts with a word.
    #[inline]
    pub fn postings(&self, number: usize) -> Result<Postings<'b>, Corrupt> {
        let (start, length) = self.postings_of(number).ok_or(wrong(Kind::TagWords, "postings"))?;
        self.postings_at(Kind::TagPostings, start, length)
    }

    /// Returns the postings in these bytes of a section.
    #[inline]
    pub(crate) fn postings_at(
        &self,
        kind: Kind,
        start: usize,
        length: usize,
    ) -> Result<Postings<'b>, Corrupt> {
        let bytes = self.bundle.reader.bytes(kind, start, length)?;
        Ok(Postings { rest: bytes, ranks: self.rank_count() })
    }

    /// Returns the number of ranks, one for each prompt that briefings may send.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.end_of(1)
    }

    /// Returns the index of the prompt with this rank, in the order of the names.
    pub fn prompt_at(&self, rank: usize) -> Result<usize, Corrupt> {
        let index: &U32 = self.bundle.reader.record(Kind::TagOrder, rank)?;
        let index = index.get() as usize;
        if self.bundle.prompt(index)?.stored_rank() == rank {
            Ok(index)
        } else {
            Err(wrong(Kind::TagOrder, "index"))
        }
    }

    /// Returns the rank after the last prompt of this priority, 1 to 10, or a higher one.
    #[must_use]
    pub fn end_of(&self, priority: u8) -> usize {
        let place = usize::from(10u8.saturating_sub(priority));
        self.facts.ends.get(place).map_or(0, |end| end.get() as usize)
    }

    /// Returns the largest number of prompts below priority 10 whose bodies together fit this many
    /// bytes.
    #[must_use]
    pub fn fitting_max(&self, bytes: usize) -> usize {
        let empty = self.facts.empty_bodies.get() as usize;
        let shortest = self.facts.body_bytes_min.get() as usize;
        empty.saturating_add(bytes.checked_div(shortest).unwrap_or(0))
    }

    /// Returns the length of the covered summaries and chapters in bytes.
    #[must_use]
    pub fn covered_bytes(&self) -> usize {
        self.facts.covered_bytes.get() as usize
    }

    /// Returns the version of Unicode used for the words.
    #[must_use]
    pub fn unicode(&self) -> (u8, u8, u8) {
        let [major, minor, update, _] = self.facts.unicode;
        (major, minor, update)
    }

    /// Checks the consistency of the sections: digests prove only their bytes.
    fn check(&self) -> Result<(), Corrupt> {
        let bundle = self.bundle;
        let ranks = self.rank_count();
        if bundle.reader.count(Kind::TagIndex) != 1 {
            return Err(wrong(Kind::TagIndex, "count"));
        }
        let ends = self.facts.ends.map(|end| end.get() as usize);
        if !ends.is_sorted() || ranks > bundle.prompt_count() {
            return Err(wrong(Kind::TagIndex, "end of a priority"));
        }
        if bundle.reader.count(Kind::TagOrder) != ranks {
            return Err(wrong(Kind::TagOrder, "count"));
        }
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else {
            return Err(wrong(Kind::TagWords, "count"));
        };
        let places = |word: &Word| (word.text.get() as usize, word.postings.get() as usize);
        let end = (self.text.len(), bundle.reader.section_bytes(Kind::TagPostings).unwrap_or(0));
        if places(first) != (0, 0) || places(last) != end {
            return Err(wrong(Kind::TagWords, "first or last place"));
        }
        // Every block is at most as long as its bitmap.
        let postings_max = 2 * ranks.div_ceil(RANK_BLOCK) + ranks.div_ceil(8);
        (0..self.word_count()).try_for_each(|number| self.check_word(number, postings_max))
    }

    fn check_word(&self, number: usize, postings_max: usize) -> Result<(), Corrupt> {
        // Every word is non-empty, and the line feed keeps a match from spanning two words.
        let text = self.word(number);
        if !text.is_some_and(|(start, end)| start < end && self.text.get(end) == Some(&b'\n')) {
            return Err(wrong(Kind::TagWords, "text"));
        }
        // The postings of a word hold a count and at least one prompt.
        let postings = self.postings_of(number);
        if !postings.is_some_and(|(_, length)| 2 < length && length <= postings_max) {
            return Err(wrong(Kind::TagWords, "postings"));
        }
        Ok(())
    }

    /// Returns the start and the length of a word's postings.
    #[inline]
    fn postings_of(&self, number: usize) -> Option<(usize, usize)> {
        let start = self.words.get(number)?.postings.get() as usize;
        let end = self.words.get(number + 1)?.postings.get() as usize;
        Some((start, end.checked_sub(start)?))
    }
}

fn wrong(section: Kind, what: &'static str) -> Corrupt {
    Corrupt::Record { section: section.name(), what }
}
