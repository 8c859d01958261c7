//! The walk over all ranks: finds the prompts that tags match, and the best of them.

use std::ops::Range;

use relay_bundle::{Corrupt, RANK_BLOCK, TagIndexView, lower_case};

use super::best::Best;
use super::count::{Bits, Counts, NO_BITS, between, ones};
use super::tag::Tags;
use super::word::Search;
use crate::view::{Ranks, View};

/// The prompts that tags match, except those of priority 10 and those already sent.
pub(super) struct Matched {
    /// The ranks of the best, in order; all of them if at most the wanted number match.
    pub(super) ranks: Vec<u32>,
    /// The number of all of them.
    pub(super) count: usize,
    /// The positions of the tags that miss every prompt, of any priority, sent ones included.
    pub(super) unmatched: Vec<usize>,
}

/// Finds the prompts that tags match, the best `wanted` of them by rank.
///
/// `named` has the ranks of the prompts named by each tag; `sent` is sorted.
pub(super) fn matched(
    view: &View<'_>,
    index: &TagIndexView<'_>,
    tags: &Tags,
    named: &[Vec<usize>],
    sent: &[usize],
    wanted: usize,
) -> Result<Matched, Corrupt> {
    let mut best = Best::new(wanted);
    let mut count = 0;
    let mut walk = Walk {
        view,
        seen: view.ranks()?,
        index,
        searches: tags.iter().zip(named).map(|(tag, named)| TagSearch::new(tag, named)).collect(),
        counts: Counts::new(tags.iter().len()),
        live: NO_BITS,
    };
    let first = index.end_of(10);
    let end = if tags.is_empty() { 0 } else { index.rank_count() };
    for start in (0..end).step_by(RANK_BLOCK) {
        let ranks = start..end.min(start + RANK_BLOCK);
        walk.revive(&ranks, first, sent);
        walk.count(&ranks)?;
        count += walk.take(&ranks, &mut best);
    }
    let searches = walk.searches.iter().enumerate();
    let unmatched = searches.filter(|(_, search)| !search.matches).map(|(place, _)| place);
    Ok(Matched { ranks: best.into_ranks(), count, unmatched: unmatched.collect() })
}

/// The search for one tag.
struct TagSearch<'a, 'b> {
    tag: &'a str,
    words: Search<'a, 'b>,
    /// The ranks of the prompts with this name.
    named: &'a [usize],
    /// Whether it matched a prompt in the blocks so far.
    matches: bool,
}

impl<'a> TagSearch<'a, '_> {
    fn new(tag: &'a str, named: &'a [usize]) -> Self {
        Self { tag, words: Search::new(tag), named, matches: false }
    }

    /// Adds the prompts named by it to those of a block that have its words.
    fn complete(&mut self, ranks: &Range<usize>, seen: Ranks<'_>, bits: &mut Bits) {
        for rank in self.named.iter().filter(|rank| ranks.contains(rank)) {
            let place = rank - ranks.start;
            if let Some(word) = bits.get_mut(place / 64) {
                *word |= 1 << (place % 64);
            }
        }
        if !self.matches {
            let words = (ranks.start..).step_by(64).zip(&*bits);
            let counts = |start| between(start, 0, ranks.end) & seen.word(start);
            self.matches = words.into_iter().any(|(start, word)| word & counts(start) != 0);
        }
    }
}

struct Walk<'a, 'b> {
    view: &'a View<'b>,
    seen: Ranks<'b>,
    index: &'a TagIndexView<'b>,
    searches: Vec<TagSearch<'a, 'b>>,
    counts: Counts,
    /// The selectable ranks of the block.
    live: Bits,
}

impl Walk<'_, '_> {
    /// Marks the selectable ranks of a block.
    fn revive(&mut self, ranks: &Range<usize>, first: usize, sent: &[usize]) {
        for (start, word) in (ranks.start..).step_by(64).zip(&mut self.live) {
            *word = between(start, first, ranks.end) & self.seen.word(start);
        }
        let place = |rank: usize| sent.partition_point(|sent| *sent < rank);
        for rank in sent.get(place(ranks.start)..place(ranks.end)).unwrap_or_default() {
            let place = rank - ranks.start;
            if let Some(word) = self.live.get_mut(place / 64) {
                *word &= !(1 << (place % 64));
            }
        }
    }

    /// Counts the tags that match each prompt of a block.
    fn count(&mut self, ranks: &Range<usize>) -> Result<(), Corrupt> {
        self.counts.clear();
        let mut bits = NO_BITS;
        let mut uncertain = Vec::new();
        for (place, search) in self.searches.iter_mut().enumerate() {
            search.words.block(self.index, &mut bits)?;
            if search.words.exact() {
                search.complete(ranks, self.seen, &mut bits);
                self.counts.add(&mut bits);
            } else {
                uncertain.push((place, search.tag, Box::new(bits)));
            }
        }
        if !uncertain.is_empty() {
            self.verify(ranks, &mut uncertain)?;
        }
        for (place, _, mut bits) in uncertain {
            if let Some(search) = self.searches.get_mut(place) {
                search.complete(ranks, self.seen, &mut bits);
            }
            self.counts.add(&mut bits);
        }
        Ok(())
    }

    /// Clears the bits of the prompts whose texts lack the tag. Each prompt is read once, so this
    /// costs at most as much as a search of all texts.
    fn verify(
        &self,
        ranks: &Range<usize>,
        uncertain: &mut [(usize, &str, Box<Bits>)],
    ) -> Result<(), Corrupt> {
        for (word, start) in (ranks.start..ranks.end).step_by(64).enumerate() {
            let bits = |bits: &Bits| bits.get(word).copied().unwrap_or(0);
            let any = uncertain.iter().fold(0, |any, (_, _, tag)| any | bits(tag));
            for place in ones(any & between(start, 0, ranks.end) & self.seen.word(start)) {
                let rank = start + place as usize;
                let prompt = self.view.prompt(self.index.prompt_at(rank)?)?;
                let texts = prompt.summary()?.into_iter().chain(prompt.chapters()?);
                let texts: Vec<String> = texts.map(lower_case).collect();
                for (_, tag, bits) in &mut *uncertain {
                    let Some(bits) = bits.get_mut(word) else { continue };
                    if *bits >> place & 1 == 1 && !texts.iter().any(|text| text.contains(*tag)) {
                        *bits &= !(1 << place);
                    }
                }
            }
        }
        Ok(())
    }

    /// Offers the matches of a block to `best`; returns their number.
    fn take(&self, ranks: &Range<usize>, best: &mut Best) -> usize {
        let mut count = 0;
        let mut from = ranks.start;
        for priority in (1..10).rev() {
            // The lowest priority takes all remaining ranks.
            let end = if priority > 1 { self.index.end_of(priority) } else { ranks.end };
            let to = end.clamp(from, ranks.end);
            count += self.take_priority(ranks.start, from..to, priority, best);
            from = to;
        }
        count
    }

    fn take_priority(
        &self,
        start: usize,
        ranks: Range<usize>,
        priority: u8,
        best: &mut Best,
    ) -> usize {
        if ranks.is_empty() {
            return 0;
        }
        let tags = self.searches.len();
        let mut least = best.least(priority, tags);
        let mut count = 0;
        let words = (ranks.start - start) / 64..(ranks.end - start).div_ceil(64);
        for (word, live) in self.live.iter().enumerate().take(words.end).skip(words.start) {
            let first = start + word * 64;
            let counts = self.counts.word(word);
            let any = counts.any() & live & between(first, ranks.start, ranks.end);
            count += any.count_ones() as usize;
            let Some(matching) = least.filter(|_| any != 0) else { continue };
            for place in ones(any & counts.at_least(matching)) {
                let rank = u32::try_from(first).unwrap_or(u32::MAX).saturating_add(place);
                best.keep(counts.of(place), priority, rank);
            }
            if best.settle() {
                least = best.least(priority, tags);
            }
        }
        count
    }
}
