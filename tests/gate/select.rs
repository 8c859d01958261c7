//! Selection by tags, beside a model that lower-cases and searches every text.

mod any;
mod damage;
mod examples;
mod many;
mod model;
mod tags;

use std::collections::BTreeSet;

use proptest::prelude::*;
use relay_bundle::{Bundle, Contents, Prompt, encode};
use relay_engine::select::{HitPlace, Limits, Score, Selection, Tags, hits, score, select};
use relay_engine::sent::Sent;

use crate::bundle::sample;

/// A prompt with a body of so many bytes.
fn prompt(name: &str, priority: u8, summary: Option<&str>, body_bytes: usize) -> Prompt {
    Prompt {
        priority: sample::made(priority),
        summary: summary.map(|summary| sample::made(summary.to_owned())),
        ..sample::prompt(name, sample::says(&"x".repeat(body_bytes)))
    }
}

/// The prompts, in any order, as a bundle.
fn bundle(mut prompts: Vec<Prompt>) -> Bundle {
    prompts.sort_by(|a, b| a.name.cmp(&b.name));
    let contents = Contents { prompts, ..sample::tiny() };
    sample::open(&encode(&contents).unwrap()).unwrap()
}

fn tags(given: &[&str]) -> Tags {
    Tags::new(given, 255).unwrap()
}

fn all(budget_bytes: usize) -> Limits {
    Limits { budget_bytes, entries_max: usize::MAX, named_in_full: false }
}

/// The names of the prompts with these indexes.
fn names(bundle: &Bundle, indexes: &[usize]) -> Vec<String> {
    indexes.iter().map(|index| bundle.prompt(*index).unwrap().name().unwrap().into()).collect()
}

#[test]
fn nothing_is_selected_without_prompts() {
    let bundle = bundle(Vec::new());
    let selection =
        select(&crate::support::view(&bundle), &tags(&["vpn"]), &Sent::default(), all(10)).unwrap();
    assert_eq!(selection, Selection { unmatched: vec![0], ..Selection::default() });
}

/// Cases outside the model: a budget that is over already, and the prompt that ended the filling.
#[test]
fn an_empty_body_always_fits_and_the_first_that_does_not_is_reported() {
    let bundle = bundle(vec![
        prompt("always", 10, None, 9),
        prompt("b-empty", 5, Some("vpn"), 0),
        prompt("c-long", 5, Some("vpn"), 4),
        prompt("d-short", 5, Some("vpn"), 1),
    ]);
    let selected = |budget| {
        select(&crate::support::view(&bundle), &tags(&["vpn"]), &Sent::default(), all(budget))
            .unwrap()
    };
    let over = selected(8);
    assert_eq!((over.full, over.index, over.bytes), (vec![0, 1], vec![2, 3], 9));
    let cut = over.cut.unwrap();
    assert_eq!((cut.prompt, cut.bytes, cut.left), (2, 4, 0));
    let three_left = selected(12);
    assert_eq!((three_left.full, three_left.index), (vec![0, 1], vec![2, 3]));
    assert_eq!(three_left.cut.unwrap().left, 3);
    let enough = selected(14);
    assert_eq!((enough.full, enough.bytes, enough.cut), (vec![0, 1, 2, 3], 14, None));
    // Reported also where only full prompts are wanted, and as many as could fit did.
    let same = ["a", "b", "c", "d"].map(|name| prompt(name, 5, Some("vpn"), 4));
    let same = self::bundle(same.into());
    let limits = Limits { entries_max: 0, ..all(8) };
    let selection =
        select(&crate::support::view(&same), &tags(&["vpn"]), &Sent::default(), limits).unwrap();
    assert_eq!((selection.full, selection.index_omitted), (vec![0, 1], 2));
    assert_eq!(selection.cut.unwrap().prompt, 2);
}

#[test]
fn hits_name_every_place() {
    let mut prompts = vec![prompt("a", 7, Some("The VPN of the house"), 1)];
    prompts[0].chapters =
        ["VPN, vpn", "Rules", "A vpn"].map(|text| sample::made(text.into())).to_vec();
    let bundle = bundle(prompts);
    let tags = tags(&["rule", "VPN", "nothing", "of the"]);
    let prompt = bundle.prompt(0).unwrap();
    let found: Vec<_> =
        hits(&prompt, &tags).unwrap().into_iter().map(|hit| (hit.tag, hit.place)).collect();
    let expected = [
        ("rule", HitPlace::Chapter("Rules")),
        ("vpn", HitPlace::Summary),
        ("vpn", HitPlace::Chapter("VPN, vpn")),
        ("vpn", HitPlace::Chapter("A vpn")),
        ("of the", HitPlace::Summary),
    ];
    assert_eq!(found, expected);
    assert_eq!(score(&prompt, &tags), Ok(Score::Points { matching: 3, priority: 7 }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_project_is_selected_from_as_the_model_does(case in any::case()) {
        let any::Case { prompts, given, sent, limits } = case;
        let tags = Tags::new(&given, 32).unwrap();
        let bundle = bundle(prompts.clone());
        let sent_before = Sent::from_indexes(sent.iter().copied());
        let selection = select(&crate::support::view(&bundle), &tags, &sent_before, limits).unwrap();
        let texts: Vec<_> = prompts.iter().map(model::texts).collect();
        let question = model::Question::new(&prompts, &texts, &given);
        prop_assert_eq!(&selection, &question.select(&sent, limits));

        let matched: BTreeSet<usize> = selection.full.iter().chain(&selection.index).copied().collect();
        for (index, prompt) in prompts.iter().enumerate() {
            let view = bundle.prompt(index).unwrap();
            let expected = model::score(prompt, &given);
            prop_assert_eq!(score(&view, &tags), Ok(expected));
            if matched.contains(&index) {
                prop_assert!(expected.points() != Some(0));
            }
            let found = hits(&view, &tags).unwrap();
            prop_assert_eq!(found.len(), model::places(prompt, &given));
        }
    }
}
