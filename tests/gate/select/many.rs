//! More prompts than one block of the walk holds.

use relay_bundle::{Bundle, Prompt};
use relay_engine::select::{Limits, Tags, select};
use relay_engine::sent::Sent;

use super::{all, bundle, model, prompt};
use crate::bundle::sample;

const PROMPTS: usize = 70_000;

/// Some are in most summaries, some in a few: postings of both kinds.
const WORDS: &[&str] = &[
    "network",
    "Home",
    "assistant",
    "zigbee",
    "lights",
    "firewall",
    "vpn",
    "Ωmega",
    "backup",
    "restore",
    "policy",
    "network-policy",
    "日本語",
    "quarterly",
    "ab",
    "b",
];

#[test]
fn many_prompts_are_selected_from_as_the_model_does() {
    let prompts = prompts();
    let bundle = bundle(prompts.clone());
    let index = bundle.tag_index().unwrap().unwrap();
    let has_gram = |text: &str| index.gram(text.as_bytes()).unwrap().is_some();
    // The others lie in few words, or are too long.
    let grams = ["ra", "7", "ab", "b", "rar", ""].map(has_gram);
    assert_eq!(grams, [true, true, false, false, false, false]);
    let texts: Vec<_> = prompts.iter().map(model::texts).collect();
    let sent: Vec<u32> = (0..PROMPTS as u32).step_by(7).collect();
    let tag_sets: &[&[&str]] = &[
        &[],
        &["network"],
        &["e"],
        &["n", "o", "s", "t", "a"],
        &["VPN", "firewall", "日本", "quarter", "ωm"],
        &["rare-1", "rare-69790", "nowhere", "P69999"],
        &["p00003"],
        &["ra", "-1", "7", "é", "zz"],
        &["re", "ar", "e-", "bb", "日"],
        &["home assistant", "work home", "b b", "policy net", "network  home"],
    ];
    for given in tag_sets {
        let question = Question::new(&prompts, &texts, given);
        for (budget_bytes, entries_max) in [(8_192, 50), (0, 0), (8_192, usize::MAX)] {
            let limits = Limits { entries_max, ..all(budget_bytes) };
            question.check(&bundle, &[], limits);
            question.check(&bundle, &[], Limits { named_in_full: true, ..limits });
        }
        question.check(&bundle, &sent, Limits { entries_max: 1024, ..all(1 << 20) });
    }
}

/// Long after there are more matches than are wanted.
#[test]
fn a_match_that_is_better_by_one_point_comes_first() {
    let many = |number| prompt(&format!("p{number:03}"), 9, Some("vpn"), 1);
    let mut prompts: Vec<Prompt> = (0..200).map(many).collect();
    prompts.push(prompt("q", 5, Some("vpn, firewall"), 1));
    let tags = Tags::new(&["vpn", "firewall"], 10).unwrap();
    let limits = Limits { entries_max: 3, ..all(0) };
    let selection =
        select(&crate::support::view(&bundle(prompts)), &tags, &Sent::default(), limits).unwrap();
    assert_eq!((selection.index, selection.index_omitted), (vec![200, 0, 1], 198));
}

#[test]
fn thirty_two_tags_are_counted() {
    let mut prompts = prompts();
    prompts.truncate(1_000);
    let mut given: Vec<String> = ('a'..='z').map(String::from).collect();
    given.extend(["et", "tw", "wo", "or", "rk", "ne"].map(String::from));
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    assert_eq!(given.len(), 32);
    prompts[999].summary = Some(sample::made(given.concat()));
    let bundle = bundle(prompts.clone());
    let texts: Vec<_> = prompts.iter().map(model::texts).collect();
    let question = Question::new(&prompts, &texts, &given);
    question.check(&bundle, &[], Limits { entries_max: 100, ..all(8_192) });
}

/// Tags, with what the model says of them.
struct Question<'p> {
    tags: Tags,
    model: model::Question<'p>,
}

impl<'p> Question<'p> {
    fn new(prompts: &'p [Prompt], texts: &[Vec<String>], given: &[&str]) -> Self {
        let tags = Tags::new(given, 32).unwrap();
        let given: Vec<String> = given.iter().map(|tag| (*tag).to_owned()).collect();
        Self { tags, model: model::Question::new(prompts, texts, &given) }
    }

    fn check(&self, bundle: &Bundle, sent: &[u32], limits: Limits) {
        let sent_before = Sent::from_indexes(sent.iter().copied());
        let found =
            select(&crate::support::view(bundle), &self.tags, &sent_before, limits).unwrap();
        let expected = self.model.select(sent, limits);
        assert!(found == expected, "{:?} {limits:?}", self.tags);
    }
}

fn prompts() -> Vec<Prompt> {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut all = Vec::new();
    for number in 0..PROMPTS {
        // The lower the number of a word, the more often it occurs.
        let mut word = || {
            let most = random(WORDS.len()) + 1;
            WORDS[random(most)]
        };
        let mut summary = format!("{} {} {}", word(), word(), word());
        if number % 997 == 0 || number % 89 == 0 {
            summary += &format!(" rare-{number}");
        }
        let priority = if number % 5_000 == 7 { 10 } else { 1 + random(9) as u8 };
        let bytes = [40, 700, 0, 300][random(400).min(3)];
        all.push(prompt(&format!("p{number:05}"), priority, Some(&summary), bytes));
    }
    all
}
