//! The reader against the KDL parser itself: every document means the same to both.

use kdl::{KdlDocument, KdlEntry, KdlNode, KdlValue};
use proptest::prelude::*;

use super::super::node::{Node, Property, Scalar, Value};
use super::scalar::plain;
use super::token::{Tokens, first_forbidden, is_allowed};
use crate::diagnostic::Diagnostics;
use crate::source::{Files, Listed, ReadError, Sources, Spanned};

struct One<'t>(&'t str);

impl Files for One<'_> {
    fn read(&self, _: &str) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.into())
    }

    fn list(&self, _: &str) -> Result<Vec<Listed>, ReadError> {
        Ok(Vec::new())
    }
}

/// Reads a document; the messages of its faults if it has any.
fn read(text: &str) -> Result<Vec<Node>, Vec<String>> {
    let files = One(text);
    let sources = Sources::new(&files, "a.kdl");
    let file = sources.load("a.kdl").expect("it is there");
    let mut out = Diagnostics::new(false);
    let nodes = super::parse(file, text.as_bytes(), &mut out);
    let faults = || out.sorted().iter().map(|report| report.diagnostic.to_string()).collect();
    nodes.ok_or_else(faults)
}

fn same(ours: &[Node], theirs: &[KdlNode]) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours.name.value, theirs.name().value());
        let (at, span) = (ours.name.at, theirs.name().span());
        assert_eq!(
            (at.start as usize, at.end as usize),
            (span.offset(), span.offset() + span.len())
        );
        same_annotation(ours.annotation.as_deref(), theirs.ty());
        let of = |named: bool| theirs.entries().iter().filter(move |e| e.name().is_some() == named);
        assert_eq!(ours.arguments.len(), of(false).count());
        assert_eq!(ours.properties.len(), of(true).count());
        for (ours, theirs) in ours.arguments.iter().zip(of(false)) {
            same_value(ours, theirs);
        }
        for (Property { name, value }, theirs) in ours.properties.iter().zip(of(true)) {
            assert_eq!(Some(name.value.as_str()), theirs.name().map(|name| name.value()));
            same_value(value, theirs);
        }
        assert_eq!(ours.children.is_some(), theirs.children().is_some());
        let children = theirs.children().map_or(&[][..], |children| children.nodes());
        same(ours.children.as_deref().unwrap_or_default(), children);
    }
}

fn same_annotation(ours: Option<&Spanned<String>>, theirs: Option<&kdl::KdlIdentifier>) {
    assert_eq!(ours.map(|name| name.value.as_str()), theirs.map(|name| name.value()));
}

fn same_value(ours: &Value, theirs: &KdlEntry) {
    same_annotation(ours.annotation.as_deref(), theirs.ty());
    let span = theirs.span();
    assert_eq!(ours.at.end as usize, span.offset() + span.len(), "{ours:?}");
    match (&ours.scalar, theirs.value()) {
        (Scalar::Text(ours), KdlValue::String(theirs)) => assert_eq!(ours, theirs),
        (Scalar::Integer(ours), KdlValue::Integer(theirs)) => assert_eq!(ours, theirs),
        (Scalar::Boolean(ours), KdlValue::Bool(theirs)) => assert_eq!(ours, theirs),
        (Scalar::Float(_), KdlValue::Float(_)) | (Scalar::Null, KdlValue::Null) => {}
        (ours, theirs) => panic!("{ours:?} is not {theirs:?}"),
    }
}

/// Pieces of documents, good and bad; those that join others come more often.
fn piece() -> impl Strategy<Value = &'static str> {
    let often = ["a", " ", " ", "\n", "{", "}", "b=1", "\"x\"", ";"];
    let seldom = [
        "=",
        "(t)",
        "(",
        ")",
        "/-",
        "/- ",
        "//",
        "// c\n",
        "/* c */",
        "/*",
        "*/",
        "\\",
        "\\\n",
        "\\ // c\n",
        "\"",
        "#\"r\"#",
        "##\"r\"#\"##",
        "#\"a\\b\"#",
        "#\"\"a\"#",
        "#\"a\u{b}b\"#",
        "##\"a\"#",
        "#",
        "\"\"\"\n t\n \"\"\"",
        "\"\"\"",
        "#\"\"\"\nr\n\"\"\"#",
        "\"a\\nb\"",
        "\"\\r\\t\\s\\b\\f\\\\\\\"\"",
        "\"\\\"\"",
        "\"\\/\"",
        "\"a\\\n  b\"",
        "\"\\u{e9}\"",
        "\"\\q\"",
        "#true",
        "#null",
        "#inf",
        "#nope",
        "true",
        "1",
        "-1",
        "+2",
        "3.0",
        "1e3",
        "0x1F",
        "0b12",
        "0o7",
        "1_0",
        ".5",
        "5.",
        "-",
        "-a",
        ".",
        "--",
        "é",
        "日",
        "[",
        "]",
        "/",
        ",",
        "<",
        "\r\n",
        "\r",
        "\u{c}",
        "\u{b}",
        "\u{85}",
        "\u{2028}",
        "\t",
        "\u{a0}",
        "\u{3000}",
        "key=\"v\"",
        "\"k\"=",
        "k = 2",
        "x y",
        "{}",
        "{ c; }",
        "12345678901234567890",
    ];
    prop_oneof![3 => proptest::sample::select(often.to_vec()), 2 => proptest::sample::select(seldom.to_vec())]
}

proptest! {
    #[test]
    fn the_first_forbidden_character_is_found(
        plain in "[a\n ]{0,160}",
        rest in "[a\t\n\r\u{0}\u{1}\u{e}\u{7f}\u{e9}\u{200e}\u{feff}]{0,8}",
        after in "[a\n\u{7f}]{0,80}",
    ) {
        let text = plain + &rest + &after;
        let first = text.char_indices().find(|(_, c)| !is_allowed(*c));
        prop_assert_eq!(first_forbidden(&text), first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_document_means_what_the_kdl_parser_says(pieces in prop::collection::vec(piece(), 0..24)) {
        let text = pieces.concat();
        match (read(&text), KdlDocument::parse_v2(&text)) {
            (Ok(ours), Ok(theirs)) => same(&ours, theirs.nodes()),
            (Err(_), Err(_)) => {}
            // After a `/-` the parser takes no `;`, and needs no end of a node with children.
            _ if text.contains("/-") => {}
            // A comma is a part of a word of KDL, and here an error: its author meant two words. Likewise
            // `---` on the first line is a name of KDL, and here the start of another format.
            (Err(faults), Ok(_))
                if faults.iter().any(|fault| {
                    fault.starts_with("no comma ") || fault.starts_with("the document is YAML")
                }) => {}
            (Ok(ours), Err(error)) => prop_assert!(false, "only ours reads {text:?}: {ours:?} {error:?}"),
            (Err(faults), Ok(_)) => prop_assert!(false, "only theirs reads {text:?}: {faults:?}"),
        }
    }
}

/// Pieces of the lines of a string.
fn line_piece() -> impl Strategy<Value = &'static str> {
    let pieces = [
        "\n",
        "\n",
        "\n  ",
        "\n  ",
        "\n\t",
        " ",
        "\t",
        "a",
        "b c",
        "é",
        "\"",
        "\"\"",
        "\"\"\"",
        "#",
        "\\n",
        "\\\"",
        "\\\\",
        "\\",
        "\\s",
        "\\q",
        "\\u{e9}",
        "\\u{0}",
        "\\u{20 }",
        "\\u{}",
        "\\u{d800}",
        "\\u{+1}",
        "\\u{0000041}",
        "\r\n",
        "\r",
        "\u{85}",
        "\u{2028}",
        "\u{a0}",
        "\u{3000}",
        "\u{feff}",
        "\u{1}",
    ];
    proptest::sample::select(pieces.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8192))]

    #[test]
    fn a_string_of_several_lines_is_read_as_by_the_kdl_parser(
        hashes in 0..3usize,
        indent in proptest::sample::select(vec!["", "  ", "\t", "\u{a0}"]),
        pieces in prop::collection::vec(line_piece(), 0..12),
    ) {
        let hashes = "#".repeat(hashes);
        let lines = pieces.concat();
        for written in [
            format!("{hashes}\"\"\"\n{indent}{lines}\n{indent}\"\"\"{hashes}").replace('\n', "\r\n"),
            format!("{hashes}\"\"\"\n{indent}{lines}\n{indent}\"\"\"{hashes}"),
            format!("{hashes}\"\"\"{lines}\"\"\"{hashes}"),
        ] {
            // A text that holds its end is no single token, and the tree asks for tokens.
            let mut tokens = Tokens::new(&written);
            if tokens.next().is_none_or(|(_, _, first)| first != written) {
                continue;
            }
            let theirs = KdlEntry::parse(&written).ok();
            let theirs = theirs.and_then(|it| it.value().as_string().map(str::to_owned));
            match plain(&written) {
                // kdl 6.7 refuses a raw text of one quote, which KDL allows.
                Some(Scalar::Text(ours)) if ours == "\"" && !hashes.is_empty() => {}
                Some(Scalar::Text(ours)) => prop_assert_eq!(Some(ours), theirs, "{:?}", written),
                Some(ours) => prop_assert!(false, "{ours:?}"),
                None => {}
            }
        }
    }
}

#[test]
fn usual_strings_of_several_lines_need_no_kdl_parser() {
    for (written, text) in [
        ("\"\"\"\na\n\"\"\"", "a"),
        ("\"\"\"\n\n\"\"\"", ""),
        (
            "\"\"\"\n    # Rules\n\n    Say \"yes\" – or\tnot.\n      - more \n    \"\"\"",
            "# Rules\n\nSay \"yes\" – or\tnot.\n  - more ",
        ),
        ("\"\"\"\n  a\\nb \\\\ \\\"\n  \"\"\"", "a\nb \\ \""),
        ("\"\"\"\r\n  a\r\n\r\n  b\r\n  \"\"\"", "a\n\nb"),
        ("##\"\"\"\n\ta\\nb \"\"#\n\t\"\"\"##", "a\\nb \"\"#"),
    ] {
        assert_eq!(plain(written), Some(Scalar::Text(text.to_owned())), "{written}");
        assert_eq!(KdlEntry::parse(written).expect("KDL").value().as_string(), Some(text));
    }
}

fn names(text: &str) -> Vec<String> {
    read(text).expect("it is KDL").into_iter().map(|node| node.name.value).collect()
}

#[test]
fn a_slashdash_takes_the_next_node_entry_or_block() {
    assert_eq!(names("/-a {\n b }\nc"), ["c"]);
    assert_eq!(names("/- // why\n a; b"), ["b"]);
    let nodes = read("a /-1 /-b=2 3 /-{ c } { d } /-{ e }").expect("it is KDL");
    let [a] = &nodes[..] else { panic!("{nodes:?}") };
    assert!(matches!(&a.arguments[..], [Value { scalar: Scalar::Integer(3), .. }]));
    assert!(a.properties.is_empty());
    assert!(matches!(a.children.as_deref(), Some([d]) if d.name.value == "d"));
    assert_eq!(read("a /-").expect_err("nothing follows"), ["a value is expected here"]);
}

#[test]
fn a_document_is_read_in_linear_time_whatever_it_holds() {
    let kinds = [
        "}", "{", "(", "#\"", "\"\"\"", "/-", "/*", "a{", "/-{", "\\", "a /- ", "=\n", "\r{",
        "\u{c}{", "\"\\\n{", "#", "##x ",
    ];
    for kind in kinds {
        // The parser would need minutes or all of the stack for some of these.
        assert!(read(&kind.repeat(100_000 / kind.len())).is_err(), "{kind:?}");
    }
}

#[test]
fn a_missing_brace_is_reported_where_it_was_opened() {
    let text = "a {\n    b {\n        c\n    d {\n    }\n}\n";
    let files = One(text);
    let sources = Sources::new(&files, "a.kdl");
    let file = sources.load("a.kdl").expect("it is there");
    let mut out = Diagnostics::new(false);
    assert!(super::parse(file, text.as_bytes(), &mut out).is_none());
    let places: Vec<_> = out.sorted().iter().map(|report| sources.place(report.at).line).collect();
    assert_eq!(places, [2]);
}
