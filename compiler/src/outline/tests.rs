use proptest::prelude::*;

use super::*;

/// Pieces of markdown whose meaning depends on their neighbours.
const PIECES: [&str; 48] = [
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "\n\n\n",
    "\r\n\r\n",
    " ",
    "  ",
    "    ",
    "\t",
    "# ",
    "## ",
    "#",
    "#tag",
    "===",
    "---",
    "-",
    "=",
    "- ",
    "1. ",
    "* ",
    "> ",
    "> [!NOTE]\n",
    "```",
    "~~~",
    "`",
    "<!--",
    "-->",
    "<pre>",
    "</pre>",
    "<div>",
    "[a]",
    "[a]: /b",
    "[^a]",
    "[^a]: ",
    "![a](b)",
    "]:",
    "|a|b|",
    "|-|-|",
    "**",
    "_",
    "~~",
    "\\",
    "a.",
    "Word one. ",
    "two",
    "é",
    "[ ] ",
];

fn parts(outline: &Outline, wanted: Wanted) -> (Option<String>, Vec<String>, bool) {
    let text = |run: &Run| format!("{} {:?}", run.text, run.code);
    let paragraph = outline.paragraph.as_ref().filter(|_| wanted.paragraph).map(text);
    let headings = outline.headings.iter().filter(|_| wanted.headings).cloned().collect();
    (paragraph, headings, outline.cut && wanted.headings)
}

fn check(text: &str) {
    for (paragraph, headings) in [(true, true), (true, false), (false, true)] {
        let wanted = Wanted { paragraph, headings };
        let (found, whole) = (Outline::of(text, wanted), Outline::read(text, wanted));
        assert_eq!(parts(&found, wanted), parts(&whole, wanted), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_part_is_read_as_the_whole_is(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60),
    ) {
        check(&pieces.concat());
    }

    #[test]
    fn the_rest_of_a_long_text_is_left_unread(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..30),
        more in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..10),
    ) {
        let filling = "Some words, and others.\n\n".repeat(100);
        check(&[&pieces.concat(), &*filling, &more.concat()].concat());
    }
}

#[test]
fn the_end_of_what_is_read_is_after_the_last_heading() {
    for (text, expected) in [
        ("# A\n\nb\n\nc\n\nd", "# A\n\n"),
        ("A\n---\nb\n\nc - d\n\ne", "A\n---\nb\n\n"),
        ("\n\na\nb\n\nc", "\n\na\nb\n\n"),
        ("a\n\n[b] and\n\n[b]: /c", "a\n\n[b] and\n\n[b]: /c"),
        ("a #1\n\nb", "a #1\n\n"),
        ("a\n\nb\n-  \t\n\nc", "a\n\nb\n-  \t\n\n"),
    ] {
        assert_eq!(beginning(text, last_heading(text)), expected, "{text:?}");
    }
}
