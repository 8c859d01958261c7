//! The tag index, in place.

use std::sync::atomic::Ordering;

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
///
/// To check every rank would cost more than to use it, so nobody does: a wrong build may have
/// ranks that do not rise, and ranks that no prompt has. Who reads them leaves those out.
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
    /// The first call reads the records of all words and checks that they fit each other, so that
    /// no search has to.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn tag_index(&self) -> Result<Option<TagIndexView<'_>>, Corrupt> {
        if self.prompt_count() == 0 {
            return Ok(None);
        }
        let facts = self.record(Kind::TagIndex, 0)?;
        let words = <[record::TagWord]>::ref_from_bytes(self.section(Kind::TagWords)?)
            .map_err(|_| wrong(Kind::TagWords, "length"))?;
        let index = TagIndexView { bundle: self, facts, words, text: self.section(Kind::TagText)? };
        if !self.tag_index_fits.load(Ordering::Relaxed) {
            index.check()?;
            self.tag_index_fits.store(true, Ordering::Relaxed);
        }
        Ok(Some(index))
    }

    fn section(&self, kind: Kind) -> Result<&[u8], Corrupt> {
        self.bytes(kind, 0, self.section_bytes(kind).unwrap_or(0))
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

    /// Returns where in [`Self::text`] a word begins, and where the line feed behind it stands;
    /// `None` only for a number that no word has.
    #[must_use]
    pub fn word(&self, number: usize) -> Option<(usize, usize)> {
        let start = self.words.get(number)?.text.get() as usize;
        let end = self.words.get(number + 1)?.text.get() as usize;
        Some((start, end.checked_sub(1)?))
    }

    /// Returns which prompts have a word.
    #[inline]
    pub fn postings(&self, number: usize) -> Result<Postings<'b>, Corrupt> {
        let (start, length) = self.postings_of(number).ok_or(wrong(Kind::TagWords, "postings"))?;
        let bytes = self.bundle.bytes(Kind::TagPostings, start, length)?;
        Ok(Postings { rest: bytes, ranks: self.bundle.prompt_count() })
    }

    /// Returns the index of the prompt with this rank, in the order of the names.
    pub fn prompt_at(&self, rank: usize) -> Result<usize, Corrupt> {
        let index: &U32 = self.bundle.record(Kind::TagOrder, rank)?;
        let index = index.get() as usize;
        let prompt: &record::Prompt = self.bundle.record(Kind::Prompts, index)?;
        if prompt.rank.get() as usize == rank {
            Ok(index)
        } else {
            Err(wrong(Kind::TagOrder, "index"))
        }
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

    /// Checks what digests cannot tell: that the sections fit each other.
    fn check(&self) -> Result<(), Corrupt> {
        let bundle = self.bundle;
        let prompts = bundle.prompt_count();
        if bundle.count(Kind::TagIndex) != 1 {
            return Err(wrong(Kind::TagIndex, "count"));
        }
        if bundle.count(Kind::TagOrder) != prompts {
            return Err(wrong(Kind::TagOrder, "count"));
        }
        let ends = self.facts.ends.map(|end| end.get() as usize);
        if !ends.is_sorted() || ends.last() != Some(&prompts) {
            return Err(wrong(Kind::TagIndex, "end of a priority"));
        }
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else {
            return Err(wrong(Kind::TagWords, "count"));
        };
        let places =
            |word: &record::TagWord| (word.text.get() as usize, word.postings.get() as usize);
        let end = (self.text.len(), bundle.section_bytes(Kind::TagPostings).unwrap_or(0));
        if places(first) != (0, 0) || places(last) != end {
            return Err(wrong(Kind::TagWords, "first or last place"));
        }
        // No block is longer than its bitmap would be.
        let postings_max = 2 * prompts.div_ceil(RANK_BLOCK) + prompts.div_ceil(8);
        (0..self.word_count()).try_for_each(|number| self.check_word(number, postings_max))
    }

    fn check_word(&self, number: usize, postings_max: usize) -> Result<(), Corrupt> {
        // No word is empty, and the line feed keeps a match from spanning two words.
        let text = self.word(number);
        if !text.is_some_and(|(start, end)| start < end && self.text.get(end) == Some(&b'\n')) {
            return Err(wrong(Kind::TagWords, "text"));
        }
        // A word has a prompt, and what tells it stands behind a count.
        let postings = self.postings_of(number);
        if !postings.is_some_and(|(_, length)| 2 < length && length <= postings_max) {
            return Err(wrong(Kind::TagWords, "postings"));
        }
        Ok(())
    }

    /// Returns where a word's postings begin, and their length.
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
