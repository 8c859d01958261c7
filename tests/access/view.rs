//! A view of an audience equals a bundle of the visible rows alone.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use relay_bundle::{Audience, Bundle, Contents, List, encode};
use relay_engine::resource;
use relay_engine::select::{Limits, TAGS_LIMIT, Tags, select};
use relay_engine::sent::Sent;
use relay_engine::view::View;
use serde_json::Value;

use crate::bundle::{random, sample};

/// The bundle that has only what an audience sees.
fn without_the_rest(contents: &Contents, audience: &Audience) -> Bundle {
    let mut kept = contents.clone();
    let mut row = 0..;
    kept.prompts.retain(|_| audience.prompts.rows.contains(row.next().unwrap()));
    let mut row = 0..;
    kept.resources.retain(|_| audience.resources.rows.contains(row.next().unwrap()));
    let mut row = 0..;
    kept.templates.retain(|_| audience.templates.rows.contains(row.next().unwrap()));
    let mut row = 0..;
    kept.tools.retain(|_| audience.tools.rows.contains(row.next().unwrap()));
    kept.audiences = None;
    sample::open(&encode(&kept).unwrap()).unwrap()
}

fn names(view: &View<'_>, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|row| view.prompt(*row).unwrap().name().unwrap().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_and_look_ups_are_those_of_a_bundle_without_the_rest(
        contents in random::with_audiences(),
        number in any::<Index>(),
    ) {
        let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
        let audiences = contents.audiences.as_ref().unwrap();
        let number = number.index(audiences.list.len());
        let audience = &audiences.list[number];
        let view = View::of_audience(&bundle, number).unwrap();
        let rest = without_the_rest(&contents, audience);
        let kept = View::of_audience(&rest, 0).unwrap();
        for list in List::ALL {
            let rows: Vec<usize> = view.rows(list).unwrap().collect();
            prop_assert_eq!(view.count(list), kept.count(list));
            prop_assert_eq!(rows.len(), kept.count(list));
            let mut entries: Vec<Value> = Vec::new();
            for page in 0..view.page_count(list) {
                let page = view.page(list, page).unwrap();
                let held: Vec<Value> = serde_json::from_str(&page.json).unwrap();
                prop_assert_eq!(held.len(), page.count as usize);
                entries.extend(held);
            }
            // An entry of these pages is the row that it describes.
            let listed: Vec<usize> =
                entries.iter().map(|it| it.as_object().unwrap().values().next().unwrap().as_u64().unwrap() as usize).collect();
            prop_assert_eq!(listed, rows);
        }
        for prompt in &contents.prompts {
            let found = |view: &View<'_>| {
                let prompt = view.find_prompt(&prompt.name).unwrap();
                prompt.map(|prompt| prompt.to_owned().unwrap())
            };
            prop_assert_eq!(found(&view), found(&kept));
            prop_assert_eq!(view.hides_prompt(&prompt.name), found(&kept).is_none());
        }
        for held in &contents.resources {
            let found = |view: &View<'_>| match resource::find(view, &held.uri).unwrap() {
                Some(resource::Found::Resource(found)) => found.uri().unwrap().to_owned(),
                Some(resource::Found::Template(found, _)) => found.uri_template().unwrap().to_owned(),
                None => String::new(),
            };
            prop_assert_eq!(found(&view), found(&kept));
        }
        let tools = |view: &View<'_>| -> Vec<String> {
            view.tools().unwrap().map(|tool| tool.name.clone()).collect()
        };
        prop_assert_eq!(tools(&view), tools(&kept));
    }

    #[test]
    fn a_selection_is_that_of_a_bundle_without_the_rest(
        contents in random::with_audiences(),
        number in any::<Index>(),
        tags in vec(random::topic(), 0..5),
        sent in vec(any::<Index>(), 0..3),
        budget_bytes in 0..40usize,
        entries_max in prop_oneof![Just(usize::MAX), 0..4usize],
        named_in_full in any::<bool>(),
    ) {
        let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
        let audiences = contents.audiences.as_ref().unwrap();
        let number = number.index(audiences.list.len());
        let view = View::of_audience(&bundle, number).unwrap();
        let rest = without_the_rest(&contents, &audiences.list[number]);
        let kept = View::of_audience(&rest, 0).unwrap();
        let Ok(tags) = Tags::new(&tags, TAGS_LIMIT) else { return Ok(()) };
        let limits = Limits { budget_bytes, entries_max, named_in_full };
        let seen: Vec<usize> = view.rows(List::Prompts).unwrap().collect();
        let places: Vec<u32> = sent
            .iter()
            .filter(|_| !seen.is_empty())
            .map(|index| index.index(seen.len()) as u32)
            .collect();
        let places = Sent::from_indexes(places);
        let sent = view.rows_of(&places).unwrap();
        prop_assert_eq!(&view.places_of(&sent).unwrap(), &places);
        let found = select(&view, &tags, &sent, limits).unwrap();
        let wanted = select(&kept, &tags, &places, limits).unwrap();
        prop_assert_eq!(names(&view, &found.full), names(&kept, &wanted.full));
        prop_assert_eq!(names(&view, &found.index), names(&kept, &wanted.index));
        prop_assert_eq!(names(&view, &found.names), names(&kept, &wanted.names));
        prop_assert_eq!(
            (found.bytes, found.index_omitted, found.names_omitted, &found.unmatched),
            (wanted.bytes, wanted.index_omitted, wanted.names_omitted, &wanted.unmatched)
        );
        prop_assert_eq!(
            found.cut.map(|cut| (names(&view, &[cut.prompt]), cut.bytes, cut.left)),
            wanted.cut.map(|cut| (names(&kept, &[cut.prompt]), cut.bytes, cut.left))
        );
    }
}
