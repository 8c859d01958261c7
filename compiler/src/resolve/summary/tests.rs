use std::time::{Duration, Instant};

use miette::SourceSpan;

use super::*;
use crate::outline::{CHAPTERS_MAX, SUMMARY_CHARS_MAX};
use crate::source::Span;

/// Completes a prompt whose name adds nothing.
fn of(text: &str) -> (Option<String>, Vec<String>) {
    let (summary, chapters) = complete("", text, None, None, None);
    assert!(summary.iter().chain(&chapters).all(|made| made.at.is_none()));
    let chapters = chapters.into_iter().map(|chapter| chapter.value).collect();
    (summary.map(|summary| summary.value), chapters)
}

fn check_summary(text: &str, expected: &str) {
    let summary = of(text).0;
    assert_eq!(summary.as_deref().unwrap_or("(none)"), expected, "{text:?}");
}

fn check_chapters(text: &str, expected: &[&str]) {
    assert_eq!(of(text).1, expected, "{text:?}");
}

fn named(name: &str, text: &str) -> Vec<String> {
    complete(name, text, None, None, None).1.into_iter().map(|chapter| chapter.value).collect()
}

fn written(text: &str) -> Spanned<String> {
    Spanned { value: text.into(), at: Span::from(SourceSpan::new(0.into(), 1)) }
}

const TWENTY: &str = "one two three four five six seven eight nine ten eleven twelve thirteen \
                      fourteen fifteen sixteen seventeen eighteen nineteen twenty";

#[test]
fn worked_examples() {
    for (text, summary) in [
        ("Use ISO dates. Always.", "Use ISO dates.".to_owned()),
        (&format!("{TWENTY} twentyone."), format!("{TWENTY}…")),
        ("- Never log secrets. Ever.\n- Second", "Never log secrets.".to_owned()),
    ] {
        assert_eq!(of(text), (Some(summary), Vec::new()), "{text:?}");
    }
}

#[test]
fn a_sentence_ends_where_white_space_follows() {
    check_summary("One! Two.", "One!");
    check_summary("One? Two.", "One?");
    check_summary("One\nline. Two.", "One line.");
    check_summary("No end", "No end");
    check_summary("Wait... what?", "Wait...");
    check_summary("Format 1.2 of zigbee.md is read. Not 1.1.", "Format 1.2 of zigbee.md is read.");
    check_summary(
        "See https://a.example/b.html?c=d now. Then go.",
        "See https://a.example/b.html?c=d now.",
    );
    check_summary("Rules:\n- one", "Rules:");
    check_summary("日付はISO形式で書く。必ず。", "日付はISO形式で書く。");
    check_summary("止まれ！今すぐ", "止まれ！");
    check_summary("何？ 何も", "何？");
}

#[test]
fn a_sentence_goes_on_after_an_abbreviation() {
    check_summary("Use tools, e.g. grep. Then read.", "Use tools, e.g. grep.");
    check_summary("Use tools (i.e. grep). Then read.", "Use tools (i.e. grep).");
    check_summary("Cf. the manual. Then read.", "Cf. the manual.");
    check_summary("Red vs. blue. Green.", "Red vs. blue.");
    check_summary("It takes approx. 5 minutes. Wait.", "It takes approx. 5 minutes.");
    check_summary("All of it, incl. tests. Done.", "All of it, incl. tests.");
    check_summary("Logs, metrics, etc. are kept. Here.", "Logs, metrics, etc. are kept.");
    check_summary("Logs, metrics, etc., are kept. Here.", "Logs, metrics, etc., are kept.");
    check_summary("Logs, metrics, etc. Then rest.", "Logs, metrics, etc.");
    check_summary("Look at the revs. then stop.", "Look at the revs.");
    check_summary("Ends with etc.", "Ends with etc.");
}

#[test]
fn a_summary_has_at_most_twenty_words() {
    check_summary(TWENTY, TWENTY);
    check_summary(&format!("{TWENTY}. More."), &format!("{TWENTY}."));
    check_summary(&format!("{TWENTY}\n\nMore."), TWENTY);
    check_summary(&format!("{TWENTY}, more."), &format!("{TWENTY},…"));
    let long = "x".repeat(100_000);
    let cut = of(&long).0.unwrap();
    assert_eq!(cut.chars().count(), SUMMARY_CHARS_MAX);
    assert!(cut.ends_with("x…"));
    assert_eq!(of(&"語".repeat(1000)).0.unwrap().chars().count(), SUMMARY_CHARS_MAX);
}

#[test]
fn a_summary_is_of_the_first_paragraph_that_is_text() {
    for before in [
        "# Heading",
        "Heading\n=======",
        "Heading\n---",
        "```\nlet code = 1.\n```",
        "    indented code",
        "| a | b |\n|---|---|\n| c. | d |",
        "<!-- a comment. -->",
        "<div>\nHTML. Yes.\n</div>",
        "---",
        "***",
        "![A picture. Really](a.png)",
        "[![build](b.svg)](https://ci.example)",
        "![a](a.png)\n![b](b.png)",
        "[id]: https://a.example \"Title. Yes\"",
        "[^1]: A note. Yes.",
        "<a name=\"top\"></a>",
        "-\n-",
        "> # Quoted heading",
        "- ```\n  code. yes\n  ```",
        "\n\n\n",
        "\u{a0}",
    ] {
        check_summary(&format!("{before}\n\nUse ISO dates. Always."), "Use ISO dates.");
        check_summary(before, "(none)");
    }
    for text in [
        "> Use ISO dates.\n> Always.",
        "> [!NOTE]\n> Use ISO dates. Always.",
        "1. Use ISO dates. Always.\n2. More.",
        "- [ ] Use ISO dates. Always.",
        "* Use ISO dates.\n\n  Always.\n* More.",
        "- - - Use ISO dates. Always.",
        "- > Use\n  > ISO dates. Always.",
        "- # Heading\n  Use ISO dates.",
        "Use ISO dates.\n***\nMore.",
        "<!-- a -->\n<!-- b -->\n\nUse ISO dates.",
    ] {
        check_summary(text, "Use ISO dates.");
    }
    check_summary("- Outer item\n  - Inner. Item", "Outer item");
    check_summary("- Outer item\n  ```\n  code\n  ```\n  More.", "Outer item");
    check_summary("- Outer item\n  > Quote.", "Outer item");
    check_summary("Text\n# Heading\nMore.", "Text");
    check_summary("Text\n```\ncode\n```", "Text");
}

#[test]
fn markup_is_no_part_of_a_summary() {
    check_summary("**Never** log _any_ ~~public~~ secrets. Ever.", "Never log any public secrets.");
    check_summary("**Never log secrets.** Ever.", "Never log secrets.");
    check_summary("Read [the manual](m.md \"title\"). Then go.", "Read the manual.");
    check_summary("Read [the manual][m]. Then go.\n\n[m]: m.md", "Read the manual.");
    check_summary("Read [the manual][m]. Then go.", "Read [the manual][m].");
    check_summary("Read <https://a.example>. Then go.", "Read https://a.example.");
    check_summary("Run `ls . -la` first. Then go.", "Run ls . -la first.");
    check_summary("Run `a.` Then go. End.", "Run a. Then go.");
    check_summary("Press ![the gear](g.png) now. Then go.", "Press now.");
    check_summary("A<br>b <b>bold</b> word. More.", "Ab bold word.");
    check_summary("A line  \nbroken\\\nhard. More.", "A line broken hard.");
    check_summary("Dates[^1] are ISO. Always.\n\n[^1]: Or not.", "Dates are ISO.");
    check_summary("Fish &amp; chips \\*raw\\*. More.", "Fish & chips *raw*.");
    check_summary("Roll {service} out. More.", "Roll {service} out.");
    check_summary("Spaces\u{a0}and\ttabs   are one. More.", "Spaces and tabs are one.");
    check_summary("Use\r\nISO dates.\r\n\r\nAlways.", "Use ISO dates.");
}

#[test]
fn chapters_are_the_headings() {
    check_chapters("# One\n\n## Two ##\ntext\n### Three\n", &["One", "Two", "Three"]);
    check_chapters("One\n===\n\nTwo\nlines\n---\n", &["One", "Two lines"]);
    check_chapters("# One\r\n\r\nTwo\r\n---\r\n", &["One", "Two"]);
    check_chapters("# Same\n# Other\n# Same\n", &["Same", "Other"]);
    check_chapters("# *Em* `code` [link](x) ![p](p.png) <b>b</b> &amp;\n", &["Em code link b &"]);
    check_chapters("#   Wide    spaces  \n", &["Wide spaces"]);
    check_chapters("# Roll out {service}\n", &["Roll out {service}"]);
    check_chapters("> # Quoted\n\n- # Listed\n", &["Quoted", "Listed"]);
    check_chapters("#\n\n# ![p](p.png)\n", &[]);
    check_chapters("```\n# code\n```\n\n~~~md\n## more\n~~~\n\n    # indented\n", &[]);
    check_chapters("```\n# never closed\n", &[]);
    check_chapters("<!--\n# comment\n-->\n", &[]);
    check_chapters("#hashtag\n\n####### seven\n\ntext # not one\n\n\\# escaped\n", &[]);
    check_chapters("- item\n---\n\n***\n", &[]);
    check_chapters("| # a |\n|---|\n| # b |\n", &[]);
    assert_eq!(of("# Only\n## Headings\n"), (None, vec!["Only".into(), "Headings".into()]));
}

#[test]
fn chapters_are_few_and_short() {
    let headings = |count: usize| -> String { (0..count).map(|n| format!("# H{n}\n")).collect() };
    assert_eq!(of(&headings(CHAPTERS_MAX)).1.len(), CHAPTERS_MAX);
    assert_eq!(of(&headings(CHAPTERS_MAX)).1.last().unwrap(), "H63");
    for text in [headings(10_000), format!("Text.\n{}", headings(10_000))] {
        let chapters = of(&text).1;
        assert_eq!(chapters.len(), CHAPTERS_MAX);
        assert_eq!(chapters[62..], ["H62", "…"]);
    }
    // A summary may follow after all headings.
    check_summary(&format!("{}\nUse ISO dates.", headings(10_000)), "Use ISO dates.");
    check_chapters(&format!("# {}", "ä".repeat(120)), &["ä".repeat(120).as_str()]);
    check_chapters(&format!("# {}", "ä".repeat(121)), &[format!("{}…", "ä".repeat(119)).as_str()]);
}

#[test]
fn words_of_the_name_are_chapters_where_nothing_was_written() {
    assert_eq!(named("common-mistakes", "Use ISO dates."), ["common", "mistakes"]);
    assert_eq!(named("iso-dates", "Use ISO dates."), Vec::<String>::new());
    assert_eq!(named("date", "# Updates\nText."), ["Updates"]);
    assert_eq!(named("net/VPN_setup.v2 x", "# Net\nText."), ["Net", "VPN", "setup", "v2"]);
    assert_eq!(named("a--b/a", "Quiet."), ["a", "b"]);
    assert_eq!(named("ΟΔΟΣ-Straße", "οδός οδοσ STRASSE"), ["Straße"]);
    // A word never spans two texts.
    assert_eq!(named("ab", "# b\nlast a"), ["b", "ab"]);
    assert_eq!(named("empty", ""), ["empty"]);
    assert_eq!(named("-_./ ", ""), Vec::<String>::new());
}

#[test]
fn what_was_written_stays() {
    let text = "# Heading\n\nA sentence. More.";
    let values = |settings: &[Setting<String>]| -> Vec<(String, bool)> {
        settings.iter().map(|each| (each.value.clone(), each.at.is_some())).collect()
    };
    let (summary, chapters) = complete("name", text, None, Some(written("  Mine ")), None);
    assert_eq!(values(&Vec::from_iter(summary)), [("  Mine ".into(), true)]);
    assert_eq!(values(&chapters), [("Heading".into(), false)]);
    let (summary, chapters) = complete("name", text, None, None, Some(vec![written("Mine")]));
    assert_eq!(values(&Vec::from_iter(summary)), [("A sentence.".into(), false)]);
    assert_eq!(values(&chapters), [("Mine".into(), true)]);
    let (summary, chapters) = complete("name", text, None, Some(written("")), Some(Vec::new()));
    assert_eq!(values(&Vec::from_iter(summary)), [(String::new(), true)]);
    assert!(chapters.is_empty());
}

#[test]
fn large_texts_take_linear_time() {
    let start = Instant::now();
    let word = "word ".repeat(20_000);
    for text in [
        word.clone(),
        "x".repeat(1 << 20),
        "`。` ".repeat(20_000),
        "`。`".repeat(20_000),
        "# h\n".repeat(50_000),
        "> ".repeat(10_000),
        "- ".repeat(10_000),
        "[".repeat(50_000),
        "*a ".repeat(50_000),
        "<!-- ".repeat(20_000),
        "| a ".repeat(20_000),
        "![a](b) ".repeat(20_000),
        "e.g. a ".repeat(20_000),
    ] {
        let (summary, chapters) = of(&text);
        assert!(summary.is_none_or(|summary| summary.chars().count() <= SUMMARY_CHARS_MAX));
        assert!(chapters.len() <= CHAPTERS_MAX);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_description_stands_in_for_a_summary() {
    let text = "The text itself.\n\n# Part";
    let (summary, chapters) = complete("deploy", text, Some("How to ship"), None, None);
    assert_eq!(summary.unwrap().value, "How to ship");
    let chapters: Vec<_> = chapters.into_iter().map(|chapter| chapter.value).collect();
    assert_eq!(chapters, ["Part", "deploy"]);
    let (summary, _) = complete("deploy", text, Some("How"), Some(written("Mine")), None);
    assert_eq!(summary.unwrap().value, "Mine");
}
