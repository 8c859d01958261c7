//! Contents that are written to a bundle are read from it unchanged.

use proptest::prelude::*;
use relay_bundle::{Contents, Kind, List, encode};

use super::{random, raw::Raw, sample, tag_index};

/// The tests of damage change every byte of this sample, and so every kind of section.
#[test]
fn the_rich_sample_has_every_section() {
    let bundle = sample::open(&encode(&sample::rich()).unwrap()).unwrap();
    let kinds: Vec<_> = bundle.sections().iter().filter_map(|info| info.kind).collect();
    assert_eq!(kinds, Kind::ALL);
    let small = |info: &relay_bundle::SectionInfo| info.length < 4096;
    assert!(bundle.sections().iter().all(small), "each in one page");
}

#[test]
fn every_value_is_read_back() {
    for contents in [Contents::default(), sample::tiny(), sample::rich(), sample::large()] {
        check(&contents);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_contents_are_read_back(contents in random::contents()) {
        check(&contents);
    }

    #[test]
    fn finding_is_a_linear_search(contents in random::contents(), strange in random::name()) {
        let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
        let prompts = contents.prompts.iter().map(|prompt| &prompt.name);
        let resources = contents.resources.iter().map(|resource| &resource.uri);
        for name in prompts.chain(resources).chain([&strange]) {
            let found = bundle.find_prompt(name).unwrap().map(|prompt| prompt.index());
            let expected = contents.prompts.iter().position(|prompt| prompt.name == *name);
            prop_assert_eq!(found, expected, "prompt {:?}", name);

            let found = bundle.find_resource(name).unwrap().map(|resource| resource.index());
            let expected = contents.resources.iter().position(|resource| resource.uri == *name);
            prop_assert_eq!(found, expected, "resource {:?}", name);
        }
    }
}

/// Writes the contents, checks every page, and compares all that is read; twice for the bytes.
fn check(contents: &Contents) {
    let bytes = encode(contents).expect("it fits the format");
    let bundle = sample::open(&bytes).expect("what was written opens");
    assert_eq!(bundle.check_all(), Ok(()));
    assert_eq!(bundle.contents().as_ref(), Ok(contents));
    assert_eq!(bundle.inconsistent(&mut ()), Ok(Vec::new()));
    let json = serde_json::to_string(contents).expect("contents are JSON");
    assert_eq!(serde_json::from_str::<Contents>(&json).expect("as written"), *contents);
    tag_index::check(&bytes, &contents.prompts);
    assert_eq!(bundle.epoch(), contents.epoch);
    assert_eq!(bundle.format(), (1, 0));
    assert_eq!(bundle.envelope_bytes(), b"", "it is not signed yet");
    assert_eq!(encode(contents).as_ref(), Ok(&bytes), "the same contents give the same bytes");
}

#[test]
fn a_second_writer_gives_the_same_bytes() {
    for contents in [sample::tiny(), sample::rich(), sample::large()] {
        let bytes = encode(&contents).unwrap();
        let bundle = sample::open(&bytes).unwrap();
        assert!(Raw::of(&bytes).content() == bundle.content_bytes(), "{contents:.0?}");
    }
}

#[test]
fn the_large_sample_has_a_tree_of_two_levels() {
    let bundle = sample::open(&encode(&sample::large()).unwrap()).unwrap();
    let bodies = bundle.sections().iter().find(|info| info.kind == Some(Kind::Bodies)).unwrap();
    assert!(bodies.length > 128 * 4096, "{} bytes", bodies.length);
}

#[test]
fn the_header_alone_gives_the_layout_of_the_file() {
    let bytes = encode(&sample::rich()).unwrap();
    let outline = relay_bundle::outline(&bytes[..relay_bundle::HEADER_BYTES]).unwrap();
    let bundle = sample::open(&bytes).unwrap();
    assert_eq!(outline.content_bytes, bundle.content_bytes().len() as u64);
    assert_eq!(relay_bundle::Digest::of(&bytes[..outline.front_bytes]), bundle.digest());
}

#[test]
fn unknown_names_are_not_found() {
    let bundle = sample::open(&encode(&sample::rich()).unwrap()).unwrap();
    assert!(bundle.prompt(bundle.prompt_count()).is_err());
    assert!(bundle.resource(usize::MAX).is_err());
    assert!(bundle.templates().get(1).is_err());
    assert!(bundle.list(List::Prompts).page(2).is_err());
    let rendering = bundle.find_prompt("deploy").unwrap().unwrap().rendering();
    assert!(rendering.messages(rendering.variant_count()).is_err());
}
