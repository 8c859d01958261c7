//! Places of a text's bytes in its KDL string.

use super::super::offsets::Offsets;

/// Returns the parts of a string for parts of its text.
fn written<'s>(string: &'s str, text: &str, parts: &[&str]) -> Vec<&'s str> {
    let offsets = Offsets::new(string, text).expect("a place for each character");
    let found = parts.iter().map(|part| {
        let start = text.find(part).expect("a part of the text");
        string.get(offsets.written(&(start..start + part.len()))).expect("a part of the string")
    });
    found.collect()
}

#[test]
fn every_form_of_a_string_has_a_place_for_each_character() {
    let plain = written("\"a {{ b }}\"", "a {{ b }}", &["b", "a {{"]);
    assert_eq!(plain, ["b", "a {{"]);
    let raw = written("##\"a \\n \"# b\"##", "a \\n \"# b", &["\\n", "\"# b"]);
    assert_eq!(raw, ["\\n", "\"# b"]);
    let string = r#""Say \"ü\"\n\u{1f600}: \    {{ b }}.""#;
    let text = "Say \"ü\"\n😀: {{ b }}.";
    let parts = ["\"ü\"", "b", "\n", "😀", "😀: {{", "ü"];
    let found = written(string, text, &parts);
    assert_eq!(
        found,
        [r#"\"ü\""#, "b", r"\n", r"\u{1f600}", r"\u{1f600}: \    {{", "ü"],
        "{string}"
    );
    let string = "\"\"\"\n    a \\\"b\\\"\n\n      c {{ d }}\n    \"\"\"";
    let found = written(string, "a \"b\"\n\n  c {{ d }}", &["d", "b", "\"b\"", "c {{", "  c"]);
    assert_eq!(found, ["d", "b", "\\\"b\\\"", "c {{", "  c"]);
    let raw = written("#\"\"\"\r\n  \\a\r\n  b\r\n  \"\"\"#", "\\a\nb", &["\\a", "b"]);
    assert_eq!(raw, ["\\a", "b"]);
}

#[test]
fn a_string_of_another_text_has_no_places() {
    for (string, text) in [
        ("\"a\"", "b"),
        ("\"a\"", "ab"),
        ("\"ab\"", "a"),
        ("\"\\q\"", "q"),
        ("\"\\u{110000}\"", "a"),
        ("\"", "a"),
        ("#\"", "a"),
        ("\"\"\"", "a"),
        ("\"\"\"a\"\"\"", "a"),
        ("\"\"\"\n a\n  \"\"\"", "a"),
        ("bare", "bare"),
        ("", ""),
    ] {
        assert_eq!(Offsets::new(string, text), None, "{string}");
    }
}
