//! Tags: which words are tags, and which are refused.

use relay_engine::select::{TAG_CHARS_MAX, TAGS_LIMIT, TagError, Tags};

#[test]
fn tags_are_trimmed_lower_cased_and_unique() {
    let check = |given: &[&str], expected: &[&str]| {
        let tags = Tags::new(given, 10).unwrap();
        assert_eq!(tags.as_slice(), expected, "{given:?}");
        assert_eq!(tags.iter().collect::<Vec<_>>(), expected);
        assert_eq!(tags.is_empty(), expected.is_empty());
    };
    check(&[], &[]);
    check(&["VPN", " vpn\t", "firewall", "Vpn\u{a0}"], &["vpn", "firewall"]);
    check(&["", " ", "\u{3000}\n\u{85}"], &[]);
    check(&["zigbee", "a", "zigbee"], &["zigbee", "a"]);
    // Inside, white space stays as it is.
    check(&["Home  Assistant", "home assistant"], &["home  assistant", "home assistant"]);
    // A zero-width space differs from white space.
    check(&["\u{200b}a"], &["\u{200b}a"]);
    check(&["ΟΔΟΣ", "οδος", "İ", "ẞ"], &["οδοσ", "i\u{307}", "ß"]);
    // Composed and decomposed letters are equal.
    check(&["CAFE\u{301}", "caf\u{e9}"], &["caf\u{e9}"]);
}

#[test]
fn too_many_or_too_long_tags_are_rejected_with_help() {
    let many = |count: usize, max| Tags::new(&vec!["a"; count], max);
    assert!(many(10, 10).is_ok());
    // Repeats and empty ones are counted: what came is what is judged.
    let error = many(11, 10).unwrap_err();
    assert_eq!(error, TagError::TooMany { count: 11, max: 10 });
    assert_eq!(error.to_string(), "11 tags are too many: send at most 10, the most specific ones");
    assert!(Tags::new(&[""; 11], 10).is_err());
    assert!(many(32, 32).is_ok());
    assert_eq!(many(1, 0), Err(TagError::TooMany { count: 1, max: 0 }));
    assert_eq!(many(300, 1000), Err(TagError::TooMany { count: 300, max: TAGS_LIMIT }));

    let long = "ß".repeat(TAG_CHARS_MAX);
    assert!(Tags::new(&[&long], 10).is_ok());
    let over = format!("{long}s");
    let error = Tags::new(&["vpn", &over], 10).unwrap_err();
    assert_eq!(error, TagError::TooLong { place: 2, max: 200 });
    assert_eq!(
        error.to_string(),
        "tag 2 is over 200 characters: send one or two words for each topic"
    );
    // White space counts: nothing is done with a text before its length is known.
    assert!(Tags::new(&[" ".repeat(201)], 10).is_err());
    assert!(Tags::new(&["x".repeat(1 << 20)], 10).is_err());
}
