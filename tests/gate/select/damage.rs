//! A tag index of a wrong build under a good signature: an answer or an error, and soon.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select as one_of};
use relay_bundle::{Contents, Corrupt, Kind, Prompt, encode};
use relay_engine::select::{Limits, select};
use relay_engine::sent::Sent;

use super::{all, prompt, tags};
use crate::bundle::raw::Raw;
use crate::bundle::sample;

#[test]
fn an_index_that_points_nowhere_is_reported() {
    let with = |kind: Kind, byte: u8| {
        let mut bad = raw();
        bad.row(kind).data.fill(byte);
        selected(&bad)
    };
    let rank = Corrupt::Record { section: "prompts", what: "rank" };
    assert_eq!(with(Kind::TagOrder, 0xff), Err(rank));
    let place = Corrupt::Record { section: "tag-words", what: "first or last place" };
    assert_eq!(with(Kind::TagWords, 0), Err(place));
    let end = Corrupt::Record { section: "tag-index", what: "end of a priority" };
    assert_eq!(with(Kind::TagIndex, 0xff), Err(end));
    let mut bad = raw();
    bad.row(Kind::TagOrder).data.truncate(4);
    assert_eq!(selected(&bad), Err(Corrupt::Record { section: "tag-order", what: "count" }));
    let mut bad = raw();
    // Each is longer than all postings.
    bad.row(Kind::TagGrams).data.chunks_mut(12).for_each(|row| row[8..].fill(0x7f));
    assert_eq!(selected(&bad), Err(Corrupt::Page { section: "tag-gram-postings", offset: 0 }));
    // Without its row, a gram is searched in the words.
    let mut bad = raw();
    bad.row(Kind::TagGrams).data.truncate(0);
    assert_eq!(selected(&bad), selected(&raw()));
    // Ranks beyond the prompts are harmless.
    for byte in [0, 0x7f, 0x80, 0xff] {
        assert!(with(Kind::TagPostings, byte).is_ok());
        assert!(with(Kind::TagGramPostings, byte).is_ok());
        let mut bad = raw();
        bad.row(Kind::TagIndex).data[..16].fill(byte);
        assert!(selected(&bad).is_ok(), "what bounds the search is no end of a priority");
    }
    assert!(selected(&raw()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_index_makes_a_selection_panic(
        edits in vec((one_of(KINDS), any::<Index>(), any::<u8>()), 1..12),
    ) {
        let mut bad = raw();
        for (kind, at, byte) in edits {
            let data = &mut bad.row(kind).data;
            let at = at.index(data.len());
            data[at] = byte;
        }
        let _ = selected(&bad);
    }
}

const KINDS: &[Kind] = &[
    Kind::TagIndex,
    Kind::TagOrder,
    Kind::TagWords,
    Kind::TagText,
    Kind::TagPostings,
    Kind::TagGrams,
    Kind::TagGramPostings,
    Kind::Prompts,
];

fn raw() -> Raw {
    let word = |number: usize| ["vpn", "Home assistant", "a", "firewall rules"][number % 4];
    let numbered = |number: usize| {
        let summary = format!("{} {number}", word(number));
        prompt(&format!("p{number:03}"), (number % 10 + 1) as u8, Some(&summary), number)
    };
    let prompts: Vec<Prompt> = (0..400).map(numbered).collect();
    Raw::of(&encode(&Contents { prompts, ..sample::tiny() }).unwrap())
}

fn selected(raw: &Raw) -> Result<usize, Corrupt> {
    let bundle = sample::open(&raw.sealed()).unwrap();
    let tags = tags(&["vpn", "home ass", "a", "1", "wall r", "nowhere"]);
    let sent = Sent::from_indexes([3, 4, 199, u32::MAX]);
    let selection = select(
        &crate::support::view(&bundle),
        &tags,
        &sent,
        Limits { entries_max: 20, ..all(900) },
    )?;
    let mut all = [selection.full, selection.index, selection.names].concat();
    assert!(all.iter().all(|index| *index < bundle.prompt_count()), "{all:?}");
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a prompt comes twice: {all:?}");
    Ok(count)
}
