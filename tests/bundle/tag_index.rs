//! The tag index against a naive one: what is read from it, its bytes, and what becomes of a
//! wrong one under a good signature.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use relay_bundle::{Contents, Corrupt, Kind, OpenError, Prompt, encode};

use super::raw::Raw;
use super::structure::accepted;
use super::tags::{BUDGETS, Tags};
use super::{random, sample, tags};

/// Returns the index that these prompts must have, by the meaning of each of its parts.
pub(crate) fn expected(prompts: &[Prompt]) -> Tags {
    if prompts.is_empty() {
        return Tags::default();
    }
    let briefed = || prompts.iter().filter(|prompt| prompt.briefing.value);
    let mut order: Vec<usize> =
        (0..prompts.len()).filter(|index| prompts[*index].briefing.value).collect();
    order.sort_by_key(|index| (10 - prompts[*index].priority.value, &prompts[*index].name));
    let texts = |prompt: &'_ Prompt| -> Vec<String> {
        prompt.summary.iter().chain(&prompt.chapters).map(|text| text.value.clone()).collect()
    };
    let mut words: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (rank, index) in order.iter().enumerate() {
        for text in texts(&prompts[*index]) {
            for word in lower_case(&text).split(char::is_whitespace).filter(|word| !word.is_empty())
            {
                words.entry(word.into()).or_default().insert(rank);
            }
        }
    }
    let at_least = |priority| briefed().filter(|prompt| prompt.priority.value >= priority).count();
    let (empty, shortest) = bodies(prompts);
    Tags {
        order,
        ends: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(at_least),
        words,
        fitting: BUDGETS.map(|bytes| empty + bytes.checked_div(shortest).unwrap_or(0)),
        covered_bytes: briefed().flat_map(texts).map(|text| text.len()).sum(),
    }
}

fn lower_case(text: &str) -> String {
    let lower = |letter: char| match letter {
        'Σ' | 'ς' => "σ".into(),
        letter => letter.to_lowercase().to_string(),
    };
    text.chars().map(lower).collect()
}

/// Below priority 10: how many bodies are empty, and the bytes of the shortest of the others.
fn bodies(prompts: &[Prompt]) -> (usize, usize) {
    let others =
        || prompts.iter().filter(|prompt| prompt.priority.value != 10 && prompt.briefing.value);
    let bytes = || others().map(|prompt| prompt.body.value.len());
    let shortest = bytes().filter(|bytes| *bytes > 0).min();
    (bytes().filter(|bytes| *bytes == 0).count(), shortest.unwrap_or(0))
}

/// The five sections of an index, written from their description; empty ones are left out.
fn written(prompts: &[Prompt], tags: &Tags) -> Vec<(Kind, Vec<u8>)> {
    if prompts.is_empty() {
        return Vec::new();
    }
    let (mut words, mut text, mut postings) = (Vec::new(), Vec::new(), Vec::new());
    for (word, ranks) in &tags.words {
        words.extend([text.len(), postings.len()]);
        text.extend(word.as_bytes());
        text.push(b'\n');
        postings.extend(blocks(ranks, tags.order.len()));
    }
    words.extend([text.len(), postings.len()]);
    let (empty, shortest) = bodies(prompts);
    let (major, minor, update) = char::UNICODE_VERSION;
    let facts = [
        numbers(&[empty, shortest, tags.covered_bytes]),
        vec![major, minor, update, 0],
        numbers(&tags.ends),
    ];
    let sections = [
        (Kind::TagIndex, facts.concat()),
        (Kind::TagOrder, numbers(&tags.order)),
        (Kind::TagWords, numbers(&words)),
        (Kind::TagText, text),
        (Kind::TagPostings, postings),
    ];
    sections.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
}

/// The postings of a word: up to the last block that has any, a list unless a bitmap is shorter.
fn blocks(ranks: &BTreeSet<usize>, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for first in (0..=*ranks.last().unwrap()).step_by(65_536) {
        let end = count.min(first + 65_536);
        let mut bitmap = vec![0; (end - first).div_ceil(8)];
        let mut list = Vec::new();
        for place in ranks.range(first..end).map(|rank| rank - first) {
            bitmap[place / 8] |= 1 << (place % 8);
            list.extend((place as u16).to_le_bytes());
        }
        if bitmap.len() < list.len() {
            bytes.extend([0xff, 0xff]);
            bytes.extend(bitmap);
        } else {
            bytes.extend((list.len() as u16 / 2).to_le_bytes());
            bytes.extend(list);
        }
    }
    bytes
}

fn numbers(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()).collect()
}

/// Compares what is written for these prompts, and what is read of it, with the naive index.
pub(crate) fn check(bytes: &[u8], prompts: &[Prompt]) {
    let expected = expected(prompts);
    let sections: Vec<_> = Raw::of(bytes)
        .rows
        .into_iter()
        .filter_map(|row| Some((Kind::from_number(row.kind)?, row.data)))
        .filter(|(kind, _)| (Kind::TagIndex..=Kind::TagPostings).contains(kind))
        .collect();
    assert_eq!(sections, written(prompts, &expected), "a second writer");
    let bundle = sample::open(bytes).unwrap();
    assert_eq!(tags::tags(&bundle).as_ref(), Ok(&expected));
    let unicode = bundle.tag_index().unwrap().map(|index| index.unicode());
    assert!(unicode.is_none_or(|unicode| unicode == relay_bundle::UNICODE));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_index_is_the_naive_one(prompts in prompts()) {
        let contents = Contents { prompts, ..Contents::default() };
        check(&encode(&contents).unwrap(), &contents.prompts);
    }

    #[test]
    fn lower_case_is_by_letter(text in random::topic()) {
        prop_assert_eq!(relay_bundle::lower_case(&text), lower_case(&text));
    }

    /// So a tag that is cut from a text matches it, at any cut between composed letters.
    #[test]
    fn a_part_of_a_text_stays_one_in_lower_case(text in random::topic(), at in any::<[prop::sample::Index; 2]>()) {
        let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let [from, to] = at.map(|at| borders[at.index(borders.len())]);
        let part = &text[from.min(to)..from.max(to)];
        prop_assert!(relay_bundle::lower_case(&text).contains(&relay_bundle::lower_case(part)));
    }
}

/// Enough prompts that bitmaps of several bytes meet lists.
fn prompts() -> impl Strategy<Value = Vec<Prompt>> {
    let standing = (1..=10u8, prop::bool::weighted(0.9));
    let prompt = (standing, prop::option::of(random::topic()), vec(random::topic(), 0..4));
    let prompt = prompt.prop_map(|((priority, briefing), summary, chapters)| Prompt {
        priority: sample::made(priority),
        briefing: sample::made(briefing),
        summary: summary.map(sample::made),
        chapters: chapters.into_iter().map(sample::made).collect(),
        ..sample::prompt("", sample::says("Body."))
    });
    btree_map("[a-c]{0,3}", prompt, 0..40).prop_map(|prompts| {
        prompts.into_iter().map(|(name, prompt)| Prompt { name, ..prompt }).collect()
    })
}

/// As many prompts of one priority, each with the words that `words` gives for its rank.
fn ranked(count: usize, words: impl Fn(usize) -> String) -> Vec<Prompt> {
    let prompt = |rank| Prompt {
        summary: Some(sample::made(words(rank))),
        ..sample::prompt(&format!("p{rank:06}"), sample::says("Body."))
    };
    (0..count).map(prompt).collect()
}

/// The bytes of the postings of all words, in the order of the index, after comparing all of it.
fn postings(prompts: Vec<Prompt>) -> Vec<u8> {
    let contents = Contents { prompts, ..Contents::default() };
    let bytes = encode(&contents).unwrap();
    check(&bytes, &contents.prompts);
    let row = |row: &super::raw::Row| row.kind == Kind::TagPostings.number();
    Raw::of(&bytes).rows.into_iter().find(row).map(|row| row.data).unwrap_or_default()
}

#[test]
fn prompts_without_words_have_an_index() {
    assert_eq!(postings(Vec::new()), b"", "nothing at all");
    assert_eq!(postings(ranked(3, |_| String::new())), b"");
    assert_eq!(postings(ranked(3, |_| " \t\u{3000}".into())), b"");
    let silent = vec![sample::prompt("silent", Vec::new())];
    assert_eq!(postings(silent.clone()), b"");
    let contents = Contents { prompts: silent, ..Contents::default() };
    let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
    let index = bundle.tag_index().unwrap().unwrap();
    assert_eq!((index.word_count(), index.text()), (0, &b""[..]));
    assert_eq!(index.fitting_max(usize::MAX), 1, "there is one, and it is empty");
}

/// A bitmap only where it is shorter.
#[test]
fn a_bitmap_replaces_a_longer_list() {
    let first = |count| move |rank| if rank < count { "word".into() } else { String::new() };
    // Up to 8 prompts: a bitmap has one byte, a list of one rank has two.
    assert_eq!(postings(ranked(1, first(1))), [0xff, 0xff, 1]);
    assert_eq!(postings(ranked(8, first(1))), [0xff, 0xff, 1]);
    assert_eq!(postings(ranked(8, first(8))), [0xff, 0xff, 0xff]);
    // 9 prompts: two bytes.
    assert_eq!(postings(ranked(9, first(1))), [1, 0, 0, 0]);
    assert_eq!(postings(ranked(9, first(2))), [0xff, 0xff, 0b11, 0]);
    assert_eq!(postings(ranked(9, first(9))), [0xff, 0xff, 0xff, 1], "a word in every prompt");
    // 25 prompts: four bytes.
    assert_eq!(postings(ranked(25, first(2))), [2, 0, 0, 0, 1, 0]);
    assert_eq!(postings(ranked(25, first(3))), [0xff, 0xff, 0b111, 0, 0, 0]);
}

#[test]
fn postings_come_in_blocks() {
    const PROMPTS: usize = 65_540;
    let prompts = ranked(PROMPTS, |rank| {
        let has = [
            ("all", true),
            ("beyond", rank == 65_537),
            ("both", [3, 65_535, 65_536].contains(&rank)),
            ("listed", rank < 4_096),
            ("mapped", rank < 4_097),
        ];
        has.into_iter().filter(|(_, has)| *has).map(|(word, _)| word).collect::<Vec<_>>().join(" ")
    });
    let map = |set: usize| -> Vec<u8> {
        let byte =
            |byte: usize| (0..8).fold(0, |bits, bit| bits | u8::from(byte * 8 + bit < set) << bit);
        [0xff, 0xff].into_iter().chain((0..8_192).map(byte)).collect()
    };
    let expected = [
        map(65_536),
        vec![0xff, 0xff, 0b1111],
        vec![0, 0, 0xff, 0xff, 0b10],
        vec![2, 0, 3, 0, 0xff, 0xff, 0xff, 0xff, 0b1],
        // 4,096 ranks are as long as a bitmap.
        [0, 0x10].into_iter().chain((0..4_096u16).flat_map(u16::to_le_bytes)).collect(),
        map(4_097),
    ];
    assert!(postings(prompts) == expected.concat());
}

#[test]
fn letters_are_compared_without_their_case() {
    let words = |summary: &str| {
        let summary = Some(sample::made(summary.into()));
        let prompt = Prompt { summary, ..sample::prompt("p", Vec::new()) };
        expected(&[prompt]).words.into_keys().collect::<Vec<_>>()
    };
    let check = |summary: &str, expected: &[&str]| {
        assert_eq!(words(summary), expected);
        let contents = ranked(1, |_| summary.into());
        postings(contents);
    };
    check("ΟΔΟΣ οδός οδόσ", &["οδοσ", "οδόσ"]);
    check("STRASSE Straße STRAẞE", &["strasse", "straße"]);
    check("İstanbul istanbul", &["istanbul", "i\u{307}stanbul"]);
    check("Kelvin kelvin \u{212a}", &["k", "kelvin"]);
    check("a\u{a0}b\u{85}c\u{3000}d\u{200b}e", &["a", "b", "c", "d\u{200b}e"]);
}

/// 36 prompts, so a bitmap has 5 bytes with 4 bits to spare: `all` and `most` have one; `few`,
/// `one` and `two` have lists.
fn tagged() -> Vec<Prompt> {
    let mut prompts = ranked(36, |rank| match rank {
        0 => "all few".into(),
        7 => "all few most one".into(),
        34 => "all most two".into(),
        rank if rank > 30 => "all most".into(),
        _ => "all".into(),
    });
    for prompt in &mut prompts[..5] {
        prompt.priority = sample::made(10);
    }
    prompts
}

/// Edits the good index of `tagged` and reads all of it.
fn edited(edit: impl FnOnce(&mut Raw)) -> Result<Tags, Corrupt> {
    let contents = Contents { prompts: tagged(), ..Contents::default() };
    let mut raw = Raw::of(&encode(&contents).unwrap());
    edit(&mut raw);
    let bundle = accepted(&raw.sealed());
    let tags = tags::tags(&bundle);
    assert_eq!(tags::tags(&bundle), tags, "what is remembered of it changes no answer");
    tags
}

/// Overwrites the number at this place, counted in numbers of 32 bits.
fn set(kind: Kind, place: usize, number: u32) -> impl FnOnce(&mut Raw) {
    move |raw| {
        raw.row(kind).data[place * 4..place * 4 + 4].copy_from_slice(&number.to_le_bytes());
    }
}

fn without(kind: Kind) -> impl FnOnce(&mut Raw) {
    move |raw| raw.rows.retain(|row| row.kind != kind.number())
}

fn length(kind: Kind, bytes: usize) -> impl FnOnce(&mut Raw) {
    move |raw| raw.row(kind).data.resize(bytes, 0)
}

#[test]
fn the_index_to_damage_is_as_the_tests_below_assume() {
    let tags = edited(|_| {}).unwrap();
    assert_eq!(tags, expected(&tagged()));
    let sections = written(&tagged(), &tags);
    let bytes = |kind| sections.iter().find(|(other, _)| *other == kind).unwrap().1.clone();
    assert_eq!(bytes(Kind::TagText), b"all\nfew\nmost\none\ntwo\n");
    let words = [0, 0, 4, 7, 8, 13, 13, 20, 17, 24, 21, 28];
    assert_eq!(bytes(Kind::TagWords), numbers(&words));
    let postings: [&[u8]; 5] = [
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[2, 0, 0, 0, 7, 0],
        &[0xff, 0xff, 0x80, 0, 0, 0x80, 0x0f],
        &[1, 0, 7, 0],
        &[1, 0, 34, 0],
    ];
    assert_eq!(bytes(Kind::TagPostings), postings.concat());
    assert_eq!(tags.ends, [5, 5, 5, 5, 5, 36, 36, 36, 36, 36]);
}

#[test]
fn a_wrong_index_is_refused() {
    use Kind::{TagIndex, TagOrder, TagPostings, TagText, TagWords};
    let refused = |edit: Box<dyn FnOnce(&mut Raw)>, expected: Corrupt| {
        assert_eq!(edited(edit), Err(expected));
    };
    let record = |kind: Kind, what| Corrupt::Record { section: kind.name(), what };
    let page = |section, offset| Corrupt::Page { section, offset };
    let max = u32::MAX;

    // The facts: 4 numbers, then the ends of the priorities from 10 down to 1.
    refused(Box::new(without(TagIndex)), page("tag-index", 0));
    refused(Box::new(length(TagIndex, 2 * 56)), record(TagIndex, "count"));
    for (place, end) in [(4, 6), (4, max), (9, 4), (9, 37), (13, 37), (13, max)] {
        let edit = set(TagIndex, place, end);
        refused(Box::new(edit), record(TagIndex, "end of a priority"));
    }

    // The order: a permutation of the prompts that have a rank.
    refused(Box::new(set(TagIndex, 13, 35)), record(TagIndex, "end of a priority"));
    refused(Box::new(without(TagOrder)), record(TagOrder, "count"));
    refused(Box::new(length(TagOrder, 35 * 4)), record(TagOrder, "count"));
    refused(Box::new(length(TagOrder, 37 * 4)), record(TagOrder, "count"));
    refused(Box::new(set(TagOrder, 3, 36)), page("prompts", 36 * 108));
    refused(Box::new(set(TagOrder, 3, max)), page("prompts", u64::from(max) * 108));
    refused(Box::new(set(TagOrder, 3, 4)), record(TagOrder, "index"));
    refused(Box::new(set(Kind::Prompts, 25, 1)), record(TagOrder, "index"));
    refused(Box::new(set(Kind::Prompts, 25, max)), record(TagOrder, "index"));

    // The words: pairs of places, one more than there are words.
    refused(Box::new(without(TagWords)), record(TagWords, "count"));
    let place = record(TagWords, "first or last place");
    refused(Box::new(length(TagWords, 5 * 8)), place.clone());
    refused(Box::new(length(TagWords, 7 * 8)), place.clone());
    for (number, value) in [(0, 1), (1, 1), (10, 20), (10, max), (11, 27), (11, 29), (11, max)] {
        refused(Box::new(set(TagWords, number, value)), place.clone());
    }
    // The second word: it begins before, at and inside the first, after the next, and far away.
    for value in [0, 1, 3, 5, 8, 9, 13, 21, 22, max] {
        refused(Box::new(set(TagWords, 2, value)), record(TagWords, "text"));
    }
    // Postings that end before they begin, have a count and nothing else, or are longer than the
    // bitmap of every prompt.
    let ends = [(3, 0), (3, 2), (3, 8), (3, max), (5, 6), (5, 9), (5, 15), (7, 15), (7, 22)];
    for (number, value) in ends.into_iter().chain([(9, 19), (9, 22), (9, 26), (9, max)]) {
        refused(Box::new(set(TagWords, number, value)), record(TagWords, "postings"));
    }

    // The text: a line feed after each word.
    refused(Box::new(without(TagText)), place.clone());
    refused(Box::new(length(TagText, 20)), place.clone());
    refused(Box::new(length(TagText, 22)), place.clone());
    let feed = |raw: &mut Raw| raw.row(TagText).data[7] = b' ';
    refused(Box::new(feed), record(TagWords, "text"));

    refused(Box::new(without(TagPostings)), place.clone());
    refused(Box::new(length(TagPostings, 27)), place.clone());
    refused(Box::new(length(TagPostings, 29)), place);
}

#[test]
fn half_a_record_does_not_open() {
    let contents = Contents { prompts: tagged(), ..Contents::default() };
    let good = Raw::of(&encode(&contents).unwrap());
    let whole = [(Kind::TagIndex, 56), (Kind::TagOrder, 4), (Kind::TagWords, 8)];
    for (kind, bytes) in whole {
        let mut raw = good.clone();
        let data = &mut raw.row(kind).data;
        data.truncate(data.len() - 1);
        let length = data.len() as u64;
        assert_ne!(length % bytes, 0);
        let expected = OpenError::SectionLength { kind: kind.number(), length };
        assert_eq!(sample::open(&raw.sealed()).unwrap_err(), expected);
    }
}

/// A prompt's rank and the order agree, in both directions.
#[test]
fn a_wrong_rank_is_refused() {
    let rank = |number: u32| {
        let contents = Contents { prompts: tagged(), ..Contents::default() };
        let mut raw = Raw::of(&encode(&contents).unwrap());
        set(Kind::Prompts, 25, number)(&mut raw);
        accepted(&raw.sealed()).prompt(0).unwrap().rank()
    };
    assert_eq!(rank(0), Ok(Some(0)));
    assert_eq!(rank(1), Err(Corrupt::Record { section: "prompts", what: "rank" }));
    assert_eq!(rank(36), Err(Corrupt::Page { section: "tag-order", offset: 36 * 4 }));
    // A missing rank means that briefings leave it out, which the order then contradicts.
    assert_eq!(rank(u32::MAX), Ok(None));
}

/// Ranks are unchecked. A wrong one ends the postings, or points beyond the prompts.
#[test]
fn wrong_postings_do_no_harm() {
    let check = |word: &str, start: usize, bytes: &[u8], ranks: &[usize]| {
        let edit = |raw: &mut Raw| {
            raw.row(Kind::TagPostings).data[start..start + bytes.len()].copy_from_slice(bytes);
        };
        let mut expected = expected(&tagged());
        expected.words.insert(word.into(), ranks.iter().copied().collect());
        assert_eq!(edited(edit), Ok(expected), "{bytes:?}");
    };
    // Ranks that fall, and ranks beyond the prompts.
    check("few", 7, &[2, 0, 7, 0, 0, 0], &[0, 7]);
    check("few", 7, &[2, 0, 7, 0, 7, 0], &[7]);
    check("few", 7, &[2, 0, 35, 0, 36, 0], &[35]);
    check("few", 7, &[2, 0, 0xff, 0xff, 7, 0], &[7]);
    check("most", 13, &[0xff, 0xff, 0x80, 0, 0, 0x80, 0xff], &[7, 31, 32, 33, 34, 35]);
    // Blocks that end inside themselves.
    check("few", 7, &[3, 0, 0, 0, 7, 0], &[]);
    check("few", 7, &[0xfe, 0xff, 0, 0, 7, 0], &[]);
    check("few", 7, &[0xff, 0xff, 1, 0, 7, 0], &[]);
    check("most", 13, &[2, 0, 7, 0, 34, 0, 0x0f], &[7, 34]);
    // Blocks after the last one, with ranks, too short and empty.
    check("few", 7, &[0, 0, 1, 0, 0, 0], &[]);
    check("few", 7, &[1, 0, 7, 0, 9, 0], &[7]);
    check("few", 7, &[0, 0, 0xff, 0xff, 0, 0], &[]);
    // Postings that begin and end elsewhere than they did.
    for (number, value) in [(3, 6), (9, 23), (9, 25)] {
        assert!(edited(set(Kind::TagWords, number, value)).is_ok());
    }
}
