//! A bundle -> what its tag index says.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, RANK_BLOCK, RankBlock, TagIndexView};

/// So many bytes are asked for.
pub(crate) const BUDGETS: [usize; 4] = [0, 1, 100, 8192];

/// A tag index, decoded. A rank is a prompt's place in the order of selection.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    /// The indexes of the prompts, by rank.
    pub(crate) order: Vec<usize>,
    /// Where the prompts of each priority end, for 10 down to 1.
    pub(crate) ends: [usize; 10],
    /// The ranks of the prompts that have each word.
    pub(crate) words: BTreeMap<String, BTreeSet<usize>>,
    /// How many bodies fit each of [`BUDGETS`] at most.
    pub(crate) fitting: [usize; 4],
    pub(crate) covered_bytes: usize,
}

/// Reads all of the tag index that `bundle` holds: an absent index is that of an empty list of
/// prompts.
pub(crate) fn tags(bundle: &Bundle) -> Result<Tags, Corrupt> {
    let Some(index) = bundle.tag_index()? else { return Ok(Tags::default()) };
    let count = index.rank_count();
    let order = (0..count).map(|rank| index.prompt_at(rank)).collect::<Result<Vec<_>, _>>()?;
    for (rank, prompt) in order.iter().enumerate() {
        assert_eq!(bundle.prompt(*prompt)?.rank(), Ok(Some(rank)), "the order is read both ways");
    }
    let mut words = BTreeMap::new();
    for number in 0..index.word_count() {
        let ranks = ranks(&index, number, count)?;
        words.insert(word(&index, number), ranks);
    }
    assert_eq!(index.word(index.word_count()), None, "after the last word");
    Ok(Tags {
        order,
        ends: std::array::from_fn(|place| index.end_of(10 - place as u8)),
        words,
        fitting: BUDGETS.map(|bytes| index.fitting_max(bytes)),
        covered_bytes: index.covered_bytes(),
    })
}

fn word(index: &TagIndexView<'_>, number: usize) -> String {
    let (start, end) = index.word(number).expect("an index that was opened has all its words");
    assert_eq!(index.text()[end], b'\n');
    String::from_utf8_lossy(&index.text()[start..end]).into_owned()
}

/// The ranks of a word, except those beyond the prompts: a wrong build may write such.
fn ranks(
    index: &TagIndexView<'_>,
    number: usize,
    prompts: usize,
) -> Result<BTreeSet<usize>, Corrupt> {
    let mut ranks = BTreeSet::new();
    for (block, postings) in index.postings(number)?.enumerate() {
        let places: Vec<usize> = match postings {
            RankBlock::Bitmap(bytes) => (0..bytes.len() * 8)
                .filter(|place| bytes[place / 8] >> (place % 8) & 1 == 1)
                .collect(),
            RankBlock::List(list) => {
                list.iter().map(|place| u16::from_le_bytes(*place).into()).collect()
            }
        };
        ranks.extend(places.into_iter().map(|place| block * RANK_BLOCK + place));
    }
    ranks.retain(|rank| *rank < prompts);
    Ok(ranks)
}
