//! The tag index, in place.

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use super::Bundle;
use crate::error::Corrupt;
use crate::record;
use crate::section::Kind;
use crate::tag_index::{RANK_BLOCK, bitmap_bytes};

/// The tag index, in place. Words are numbered from 0; prompts by rank.
#[derive(Clone, Copy)]
pub struct TagIndexView<'b> {
    bundle: &'b Bundle,
    facts: &'b record::TagIndex,
    /// One more than there are words.
    words: &'b [record::TagWord],
    text: &'b [u8],
}

/// Which prompts have a word, a block of ranks after the other; nothing behind the last block
/// that has any. Postings that are none end where they go wrong.
#[derive(Debug, Clone)]
pub struct Postings<'b> {
    rest: &'b [u8],
    /// How many ranks are not yet passed.
    ranks: usize,
}

/// The ranks of one block that have a word, counted from the block's first.
#[derive(Debug, Clone, Copy)]
pub enum RankBlock<'b> {
    /// One bit a rank, the lowest first.
    Bitmap(&'b [u8]),
    /// The ranks, rising, little-endian.
    List(&'b [[u8; 2]]),
}

impl Postings<'_> {
    /// Returns whether no block is left.
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
        let is_bitmap = count == record::POSTINGS_BITMAP;
        let bytes = if is_bitmap { bitmap_bytes(self.ranks) } else { 2 * usize::from(count) };
        let (ranks, rest) = rest.split_at_checked(bytes).unwrap_or_default();
        self.rest = rest;
        self.ranks = self.ranks.saturating_sub(RANK_BLOCK);
        let (list, _) = ranks.as_chunks();
        Some(if is_bitmap { RankBlock::Bitmap(ranks) } else { RankBlock::List(list) })
    }
}

impl Bundle {
    /// Returns the tag index; `None` if there are no prompts.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn tag_index(&self) -> Result<Option<TagIndexView<'_>>, Corrupt> {
        if self.prompt_count() == 0 {
            return Ok(None);
        }
        let wrong = |what| Corrupt::Record { section: Kind::TagIndex.name(), what };
        let facts: &record::TagIndex = self.record(Kind::TagIndex, 0)?;
        let bytes = self.section_bytes(Kind::TagWords).unwrap_or(0);
        let words = <[record::TagWord]>::ref_from_bytes(self.bytes(Kind::TagWords, 0, bytes)?)
            .map_err(|_| wrong("words"))?;
        let text = self.section_bytes(Kind::TagText).unwrap_or(0);
        let text = self.bytes(Kind::TagText, 0, text)?;
        if self.count(Kind::TagOrder) != self.prompt_count() || words.is_empty() {
            return Err(wrong("count"));
        }
        Ok(Some(TagIndexView { bundle: self, facts, words, text }))
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> TagIndexView<'b> {
    /// Returns how many words there are.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.words.len().saturating_sub(1)
    }

    /// Returns the text of all words, each with a line feed behind it.
    #[must_use]
    pub fn text(&self) -> &'b [u8] {
        self.text
    }

    /// Returns where in [`Self::text`] a word begins, and where the line feed behind it stands.
    #[must_use]
    pub fn word(&self, number: usize) -> Option<(usize, usize)> {
        let start = self.words.get(number)?.text.get() as usize;
        let end = self.words.get(number + 1)?.text.get() as usize;
        Some((start, end.checked_sub(1)?))
    }

    /// Returns which prompts have a word.
    #[inline]
    pub fn postings(&self, number: usize) -> Result<Postings<'b>, Corrupt> {
        let wrong = Corrupt::Record { section: Kind::TagWords.name(), what: "postings" };
        let start = |number: usize| self.words.get(number).map(|word| word.postings.get() as usize);
        let (Some(start), Some(end)) = (start(number), start(number + 1)) else {
            return Err(wrong);
        };
        let length = end.checked_sub(start).ok_or(wrong)?;
        let bytes = self.bundle.bytes(Kind::TagPostings, start, length)?;
        Ok(Postings { rest: bytes, ranks: self.bundle.prompt_count() })
    }

    /// Returns the index of the prompt with this rank, in the order of the names.
    pub fn prompt_at(&self, rank: usize) -> Result<usize, Corrupt> {
        let index: &U32 = self.bundle.record(Kind::TagOrder, rank)?;
        Ok(index.get() as usize)
    }

    /// Returns the rank behind the last prompt of this priority, 1 to 10, or a higher one.
    #[must_use]
    pub fn end_of(&self, priority: u8) -> usize {
        let place = usize::from(10u8.saturating_sub(priority));
        self.facts.ends.get(place).map_or(0, |end| end.get() as usize)
    }

    /// Returns the most prompts below priority 10 whose bodies fit so many bytes together.
    #[must_use]
    pub fn fitting_max(&self, bytes: usize) -> usize {
        let empty = self.facts.empty_bodies.get() as usize;
        let shortest = self.facts.body_bytes_min.get() as usize;
        empty.saturating_add(bytes.checked_div(shortest).unwrap_or(0))
    }

    /// Returns the bytes of the summaries and chapters that the index covers.
    #[must_use]
    pub fn covered_bytes(&self) -> usize {
        self.facts.covered_bytes.get() as usize
    }

    /// Returns the version of Unicode by which the words were lower-cased.
    #[must_use]
    pub fn unicode(&self) -> (u8, u8, u8) {
        let [major, minor, update, _] = self.facts.unicode;
        (major, minor, update)
    }
}
