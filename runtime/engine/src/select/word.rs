//! A tag -> the prompts that have its words, from the tag index.
//!
//! A tag of one word lies inside one word, so it matches exactly the prompts of all words that
//! contain it. A tag of several words runs from the end of one word over whole words to the
//! beginning of another; a prompt with all of these words may have them in other places.

use std::cmp::Reverse;

use memchr::memmem;
use relay_bundle::{Corrupt, Kind, Postings, RankBlock, TagIndexView};

use super::count::{Bits, NO_BITS};

/// The most words of a tag that are searched in the index, longest first; the texts of the prompts
/// decide the rest.
const PIECES_MAX: usize = 4;

/// The search for one tag, block by block.
pub(super) struct Search<'t, 'b> {
    pieces: Vec<Piece<'t, 'b>>,
    exact: bool,
}

/// A part of a tag that lies inside one word.
struct Piece<'t, 'b> {
    text: &'t str,
    /// Whether the piece must be at the beginning, and at the end, of its word.
    begins: bool,
    ends: bool,
    /// The postings that reach past the finished blocks; absent before the first block.
    rest: Option<Vec<Postings<'b>>>,
}

impl<'t, 'b> Search<'t, 'b> {
    pub(super) fn new(tag: &'t str) -> Self {
        let texts: Vec<&str> = tag.split_whitespace().collect();
        let last = texts.len().saturating_sub(1);
        let piece = |(number, text): (usize, &'t str)| Piece {
            text,
            begins: number > 0,
            ends: number < last,
            rest: None,
        };
        let mut pieces: Vec<_> = texts.into_iter().enumerate().map(piece).collect();
        pieces.sort_by_key(|piece| Reverse(piece.text.len()));
        pieces.truncate(PIECES_MAX);
        Self { pieces, exact: last == 0 }
    }

    /// Returns whether every prompt that it finds matches the tag; otherwise the texts must confirm
    /// it.
    pub(super) fn exact(&self) -> bool {
        self.exact
    }

    /// Returns the prompts of the next block of ranks, in `bits`.
    pub(super) fn block(
        &mut self,
        index: &TagIndexView<'b>,
        bits: &mut Bits,
    ) -> Result<(), Corrupt> {
        *bits = NO_BITS;
        let mut pieces = self.pieces.iter_mut();
        if let Some(piece) = pieces.next() {
            piece.block(index, bits)?;
        }
        for piece in pieces {
            let mut more = NO_BITS;
            piece.block(index, &mut more)?;
            for (word, more) in bits.iter_mut().zip(&more) {
                *word &= more;
            }
        }
        Ok(())
    }
}

impl<'b> Piece<'_, 'b> {
    /// Sets the bits of the prompts of a block that have a word with this piece.
    fn block(&mut self, index: &TagIndexView<'b>, bits: &mut Bits) -> Result<(), Corrupt> {
        let Some(rest) = &mut self.rest else {
            self.rest = Some(self.first_block(index, bits)?);
            return Ok(());
        };
        rest.retain_mut(|postings| set(postings, bits));
        Ok(())
    }

    /// Finds the words, and returns the postings that reach past the block.
    fn first_block(
        &self,
        index: &TagIndexView<'b>,
        bits: &mut Bits,
    ) -> Result<Vec<Postings<'b>>, Corrupt> {
        if !self.begins
            && !self.ends
            && let Some(mut postings) = index.gram(self.text.as_bytes())?
        {
            return Ok(if set(&mut postings, bits) { vec![postings] } else { Vec::new() });
        }
        let wrong = Corrupt::Record { section: Kind::TagWords.name(), what: "text" };
        let mut rest = Vec::new();
        let (mut number, mut past) = (0, 0);
        for at in memmem::find_iter(index.text(), self.text) {
            if at < past {
                // The piece occurs in the same word again.
                continue;
            }
            number = word_at(index, number, at);
            let (start, end) = index.word(number).ok_or(wrong.clone())?;
            let word = index.text().get(start..end).unwrap_or_default();
            if !(start..end).contains(&at) {
                return Err(wrong);
            }
            past = end;
            if self.fits(word) {
                let mut postings = index.postings(number)?;
                if set(&mut postings, bits) {
                    rest.push(postings);
                }
            }
        }
        Ok(rest)
    }

    /// Returns whether the piece is at the required end of a word that contains it.
    fn fits(&self, word: &[u8]) -> bool {
        let piece = self.text.as_bytes();
        match (self.begins, self.ends) {
            (false, false) => true,
            (true, false) => word.starts_with(piece),
            (false, true) => word.ends_with(piece),
            (true, true) => word == piece,
        }
    }
}

/// Returns the number of the word at a position of the text, which is `from` or a later one.
///
/// Hits come by rising position, so the word is most often near: the steps double.
fn word_at(index: &TagIndexView<'_>, from: usize, at: usize) -> usize {
    let begins = |number| index.word(number).is_some_and(|(start, _)| start <= at);
    let (mut low, mut step) = (from, 1);
    while begins(low + step) {
        low += step;
        step *= 2;
    }
    let mut high = low + step;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if begins(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Sets the bits of the ranks of the next block; returns whether there are more.
#[inline]
fn set(postings: &mut Postings<'_>, bits: &mut Bits) -> bool {
    match postings.next() {
        None => {}
        Some(RankBlock::List(list)) => {
            for rank in list {
                let rank = usize::from(u16::from_le_bytes(*rank));
                if let Some(word) = bits.get_mut(rank / 64) {
                    *word |= 1 << (rank % 64);
                }
            }
        }
        Some(RankBlock::Bitmap(bitmap)) => {
            let (words, tail) = bitmap.as_chunks();
            for (slot, word) in bits.iter_mut().zip(words) {
                *slot |= u64::from_le_bytes(*word);
            }
            if let Some(slot) = bits.get_mut(words.len()) {
                *slot |= tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
        }
    }
    !postings.is_empty()
}
