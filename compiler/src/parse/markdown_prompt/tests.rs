//! Markdown files as authors write them, and the reports on them.

#![expect(clippy::string_slice, reason = "a test ends by panicking")]

use super::*;
use crate::ast::OnError;
use crate::diagnostic::Diagnostics;
use crate::source::{Files, Listed, ReadError, Sources};
use Kind::{Command, Folder};
use OnError::{Fail, Repair, Skip};

struct OneFile<'b>(&'b [u8]);

impl Files for OneFile<'_> {
    fn read(&self, _: &str) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.into())
    }

    fn list(&self, _: &str) -> Result<Vec<Listed>, ReadError> {
        Ok(Vec::new())
    }
}

/// Returns the prompt and the reports: severity, code, place, the text there, message
/// and help.
fn read(bytes: &[u8], kind: Kind, on_error: OnError) -> (Option<MarkdownPrompt>, Vec<String>) {
    read_by(bytes, Reading { kind, rule: FrontMatterRule::Required, on_error })
}

fn read_by(bytes: &[u8], reading: Reading) -> (Option<MarkdownPrompt>, Vec<String>) {
    let files = OneFile(bytes);
    let sources = Sources::new(&files, "a.md");
    let file = sources.load("a.md").unwrap();
    let mut found = Alike::default();
    let prompt = markdown_prompt(file, &sources.file(file), reading, &mut found);
    let mut out = Diagnostics::new(false);
    found.report(&mut out);
    let mut reports: Vec<_> = out.sorted();
    let others: Vec<_> = reports.iter().flat_map(|report| &report.others).collect();
    reports.extend(others);
    reports.sort_by_key(|report| (report.at, report.code()));
    let reported = reports.into_iter().map(|report| {
        let severity = if report.is_error() { "error" } else { "warning" };
        let (at, diagnostic) = (report.at, &report.diagnostic);
        let written = String::from_utf8_lossy(&bytes[at.start as usize..at.end as usize]);
        let place = sources.place(at);
        let help = diagnostic.help().unwrap().to_string();
        // The option that answers a kind of fault is that of a folder.
        let help = help.split("; `on-error").next().unwrap().split("; `front-m").next().unwrap();
        assert!(diagnostic.labels().unwrap().any(|label| Span::from(*label.inner()) == at));
        format!(
            "{severity} {} {}:{} «{written}» {diagnostic}; {help}",
            report.code(),
            place.line,
            place.column
        )
    });
    (prompt, reported.collect())
}

/// Checks that a file is refused in all three modes, repaired or as it is.
fn refused(text: &str, kind: Kind, expected: &[&str]) {
    for (on_error, severity, prefix) in
        [(Fail, "error ", ""), (Repair, "error ", ""), (Skip, "warning ", "skipped: ")]
    {
        let (prompt, reported) = read(text.as_bytes(), kind, on_error);
        let expected: Vec<_> = expected
            .iter()
            .map(|line| format!("{severity}{}", line.replace("» ", &format!("» {prefix}"))))
            .collect();
        assert_eq!(reported, expected, "{text}");
        assert!(prompt.is_none(), "{text}");
    }
}

/// Checks the one slip of a front matter: that of a command is corrected as proposed, that of a
/// project's own prompt is an error.
fn corrected(yaml: &str, place: &str, message: &str, line: &str) {
    let text = format!("---\n{yaml}\n---\nbody");
    let said = |first| format!("front_matter::yaml {place} {first}{message}; write it as: {line}");
    for on_error in [Fail, Skip, Repair] {
        let (prompt, reported) = read(text.as_bytes(), Command, on_error);
        assert_eq!(reported, [format!("warning {}", said("repaired: "))], "{text}");
        assert!(prompt.is_some(), "{text}");
    }
    let (prompt, reported) = read(text.as_bytes(), Folder, Fail);
    assert!(reported.contains(&format!("error {}", said(""))), "{text} {reported:?}");
    assert!(prompt.is_none(), "{text}");
}

fn good(text: &str, kind: Kind) -> MarkdownPrompt {
    let (prompt, reported) = read(text.as_bytes(), kind, Fail);
    assert_eq!(reported, [""; 0], "{text}");
    prompt.unwrap()
}

#[test]
fn command() {
    let text = "---\ntitle: Plan\ndescription: >\n  Make\n  a plan\nmodel: opus\nhandoffs:\n  - \
                label: Build\n    agent: sp.do\n    send: true\n    icon: x\n---\n\n# Plan\n";
    let prompt = good(text, Command);
    assert_eq!(prompt.description.as_ref().unwrap().value, "Make a plan");
    assert_eq!(prompt.title.unwrap().value, "Plan");
    let meta =
        r#"{"handoffs":[{"agent":"sp.do","icon":"x","label":"Build","send":true}],"model":"opus"}"#;
    assert_eq!(Json::Object(prompt.meta).to_string(), meta);
    assert_eq!(prompt.body, "\n# Plan\n");
    assert_eq!(&text[prompt.body_start..], "\n# Plan\n");
}

#[test]
fn folder() {
    let text = "---\ndescription: d\npriority: 10\nsummary: s\nchapters: [A, 'B: c']\n---\n";
    let prompt = good(text, Folder);
    let chapters: Vec<_> = prompt.chapters.iter().flatten().collect();
    assert_eq!(prompt.priority.unwrap().value, 10);
    assert_eq!(chapters.iter().map(|c| &c.value).collect::<Vec<_>>(), ["A", "B: c"]);
    let at = chapters[1].at;
    assert_eq!(&text[at.start as usize..at.end as usize], "'B: c'");
    assert!(prompt.meta.is_empty() && prompt.body.is_empty());
}

#[test]
fn hints() {
    for (yaml, hint) in [
        ("[a]", Some("[a]")),
        ("[feature, --fast]", Some("[feature, --fast]")),
        ("[a,\n  'b'] # why", Some("[a, 'b']")),
        ("\n  - a\n  - b: 1", Some("[a, b: 1]")),
        ("{name}", Some("{name}")),
        ("\"[a] [b]\"", Some("[a] [b]")),
        ("<a> | <b>", Some("<a> | <b>")),
        ("5", Some("5")),
        ("", None),
        ("''", None),
    ] {
        let prompt = good(&format!("---\ndescription: d\nargument-hint: {yaml}\n---\n"), Command);
        assert_eq!(prompt.argument_hint.as_ref().map(|hint| hint.value.as_str()), hint, "{yaml}");
        assert_eq!(prompt.meta.get("argument-hint").and_then(Json::as_str), hint, "{yaml}");
    }
}

#[test]
fn scalars_are_yaml_1_2() {
    for (yaml, json) in [
        ("yes", r#""yes""#),
        ("True", "true"),
        ("~", "null"),
        ("012", "12"),
        ("0o17", "15"),
        ("0x1F", "31"),
        ("0x+1", r#""0x+1""#),
        ("-7", "-7"),
        ("1_000", r#""1_000""#),
        ("18446744073709551616", r#""18446744073709551616""#),
        ("1.5e3", "1500.0"),
        ("1.2.3", r#""1.2.3""#),
        (".inf", r#"".inf""#),
        ("2026-01-06", r#""2026-01-06""#),
        ("12:30", r#""12:30""#),
        ("!!str 5", r#""5""#),
        ("\"a\\u00e9\"", r#""aé""#),
        ("|\r\n  a\r\n  ---\r\n  b", r#""a\n---\nb\n""#),
        ("&a [1]\n2: *a", "[1]"),
    ] {
        let prompt = good(&format!("---\ndescription: d\nx: {yaml}\n---\n"), Command);
        assert_eq!(prompt.meta["x"].to_string(), json, "{yaml}");
    }
}

#[test]
fn marks_and_line_ends() {
    for (text, body, start) in [
        ("---\ndescription: a --- b\n---\nx\n---\ny: z\n---\n", "x\n---\ny: z\n---\n", 29),
        ("---\r\ndescription: d\r\n---\r\na\r\nb\r\n", "a\nb\n", 26),
        ("\u{feff}---\ndescription: d\n---\nx", "x", 26),
        ("---\ndescription: d\n---", "", 22),
    ] {
        let prompt = good(text, Command);
        assert_eq!((&*prompt.body, prompt.body_start), (body, start), "{text}");
        let at = prompt.description.as_ref().unwrap().at;
        let written = &text[at.start as usize..at.end as usize];
        assert_eq!(written, prompt.description.as_ref().unwrap().value, "{text}");
    }
}

#[test]
fn no_front_matter() {
    let begin = "begin the file with a line `---`, a line `description: …` and a line `---`";
    let missing = |at: &str, help: &str| {
        format!("front_matter::missing {at} the file has no front matter; {help}")
    };
    for (text, at) in
        [("", "1:1 «»"), ("# Plan\n", "1:1 «# Plan»"), ("\n---\n", "1:1 «»"), ("\0", "1:1 «\0»")]
    {
        refused(text, Command, &[&missing(at, begin)]);
    }
    let unclosed = "front_matter::unclosed 1:1 «---» the front matter has no end; end it with \
                    a line that is exactly `---`";
    for text in ["---", "---\n", "---\ndescription: d\n ---\n", "---\r\na: b\r\n----\r\n"] {
        refused(text, Command, &[unclosed]);
    }
}

#[test]
fn spaces_beside_the_marks() {
    let spaces = |severity: &str, place: &str, prefix: &str| {
        format!(
            "{severity} front_matter::spaces {place} {prefix}the line has spaces beside `---`; write exactly `---`"
        )
    };
    let text = "---  \ndescription: d\n--- \nx\n";
    let (prompt, reported) = read(text.as_bytes(), Command, Fail);
    let [first, last] =
        ["1:1 «---  »", "3:1 «--- »"].map(|place| spaces("warning", place, "repaired: "));
    assert_eq!(reported, [first, last]);
    let prompt = prompt.unwrap();
    assert_eq!((prompt.description.unwrap().value.as_str(), &*prompt.body), ("d", "x\n"));
    // A line of a value is indented.
    assert_eq!(good("---\ndescription: |\n  a\n  --- \n---\nx", Command).body, "x");
    let (prompt, reported) = read(text.as_bytes(), Folder, Fail);
    assert_eq!(reported.first(), Some(&spaces("error", "1:1 «---  »", "")));
    assert!(prompt.is_none());
}

#[test]
fn front_matter_is_optional() {
    let optional = |text: &str, kind| {
        read_by(text.as_bytes(), Reading { kind, rule: FrontMatterRule::Optional, on_error: Fail })
    };
    for text in [
        "",
        "Text.\n",
        "---\n---\nText.\n",
        "---\ntitle: t\n---\nx",
        "---\ndescription:\n---\nx",
        "\n\nText\n---\nx: y\n---\n",
    ] {
        for kind in [Command, Folder] {
            let (prompt, reported) = optional(text, kind);
            assert_eq!(reported, [""; 0], "{text}");
            assert!(prompt.unwrap().description.is_none(), "{text}");
        }
    }
    // The whole file is text.
    for (text, place) in [
        ("\n---\ndescription: d\n---\nx", "2:1 «---» front matter after a blank line"),
        ("<!-- a\nb -->\n---\ndescription: d\n---\nx", "3:1 «---» front matter after a comment"),
        (
            "```markdown\n---\ndescription: d\n---\n```\n",
            "2:1 «---» front matter inside a fence of code",
        ),
        ("+++\ndescription = \"d\"\n+++\nx", "1:1 «+++» front matter between `+++`"),
        (
            "---yaml\ndescription: d\n---\nx",
            "1:1 «---yaml» front matter after a line that is not exactly `---`",
        ),
        (
            "---\n\n# Title\n\n`code` text\n\n---\n\nMore.\n",
            "1:1 «---» the file begins with `---`, which opens front matter, and no `key: value` line follows: the file",
        ),
        (
            "---\n# Title: a\n---\nMore.\n",
            "1:1 «---» the file begins with `---`, which opens front matter, and no `key: value` line follows: the file",
        ),
        (
            "---\nSee https://example.com\n",
            "1:1 «---» the file begins with `---`, which opens front matter, and no `key: value` line follows: the file",
        ),
    ] {
        let (prompt, reported) = optional(text, Command);
        let [reported] = &reported[..] else { panic!("{text} {reported:?}") };
        assert!(reported.starts_with("warning front_matter::"), "{reported}");
        assert!(reported.contains(place) && reported.contains("is sent as text"), "{reported}");
        assert_eq!(prompt.unwrap().body, text);
    }
    // A rule, a fence or a table is plain text.
    for text in
        ["***\na: b\n***\n", "```\n---\n```\n", "\n---\n\nText\n", "----\na: b\n---\n", "+++\n"]
    {
        let (prompt, reported) = optional(text, Command);
        assert_eq!((reported, &*prompt.unwrap().body), (Vec::new(), text));
    }
}

#[test]
fn quoted_text_over_lines() {
    for (text, value) in [
        ("---\ndescription: \"first line\nsecond line\"\n---\nx", "first line second line"),
        ("---\nname: x\ndescription: 'a\n\nb\nc'\ntitle: t\n---\nx", "a\nb c"),
    ] {
        let (prompt, reported) = read(text.as_bytes(), Command, Fail);
        let [reported] = &reported[..] else { panic!("{reported:?}") };
        assert!(reported.contains("a line of the value in quotes is not indented"), "{reported}");
        assert_eq!(prompt.unwrap().description.unwrap().value, value);
    }
}

#[test]
fn a_lone_cr_ends_a_line() {
    let prompt = good("---\rdescription: d\r---\ra\rb\r\nc", Command);
    assert_eq!((prompt.description.unwrap().value.as_str(), &*prompt.body), ("d", "a\nb\nc"));
    assert_eq!(prompt.body_start, 23);
}

#[test]
fn comments_of_used_keys_are_reported() {
    let text = "---\ndescription: Fix #12\nclusters:\n  - a  # A\nmodel: x # why\n---\n";
    let (prompt, reported) = read(text.as_bytes(), Command, Fail);
    assert!(prompt.is_some());
    let [reported] = &reported[..] else { panic!("{reported:?}") };
    assert!(reported.starts_with("warning front_matter::comment 2:18 «#12»"), "{reported}");
}

#[test]
fn keys_of_clients_and_their_misspellings() {
    let text = "---\ndescription: d\nlicense: MIT\nagent: x\nalowed-tools: Bash\nversion: 1\n---\n";
    let unknown: Vec<_> = good(text, Command).unknown_keys;
    let unknown: Vec<_> =
        unknown.iter().map(|unknown| (unknown.key.value.as_str(), unknown.near)).collect();
    assert_eq!(unknown, [("alowed-tools", Some("allowed-tools")), ("version", None)]);
}

#[test]
fn lists_colons_and_tabs() {
    corrected(
        "description: d\nargument-hint: [a] [b] # two",
        "3:16 «[a] [b]»",
        "the value of `argument-hint` starts with `[` but is not one list",
        "argument-hint: \"[a] [b]\" # two",
    );
    corrected(
        "description: Plan: what \"to\" do\r\ntitle: t",
        "2:14 «Plan: what \"to\" do»",
        "the value of `description` holds a colon that ends no key",
        "description: 'Plan: what \"to\" do'",
    );
    let tabs = "the line is indented with a tab";
    corrected(
        "description: d\nhandoffs:\n\t- label: x\n  \tagent: y",
        "4:1 «\t»",
        tabs,
        "  - label: x",
    );
}

#[test]
fn quotes_and_spaces() {
    let meaning =
        |c| format!("the value of `x` starts with `{c}`, which has a meaning of its own in YAML");
    for first in [
        "@a", "`a`", "%a", "*.md", "* b", "& a", "!a b", "| a", "> a", "- a", "? a", ", a", "] a",
        "} a", "{a} b", "{{a}}",
    ] {
        let c = first.chars().next().unwrap();
        corrected(
            &format!("x: {first}\ndescription: d"),
            &format!("2:4 «{first}»"),
            &meaning(c),
            &format!("x: \"{first}\""),
        );
    }
    let unclosed = "the value of `x` starts with a quote that is not closed";
    let goes_on = "the value of `x` goes on after its closing quote";
    for (value, message, quoted) in [
        ("\"a", unclosed, "\"a\""),
        ("'a", unclosed, "'a'"),
        ("[a", "the value of `x` starts with `[` but is not one list", "\"[a\""),
        (
            "[a] 'b' \"c\"",
            "the value of `x` starts with `[` but is not one list",
            "\"[a] 'b' \\\"c\\\"\"",
        ),
        ("\"a\" b", goes_on, "'\"a\" b'"),
        ("'it's'", goes_on, "\"it's\""),
        ("\"a \"b\" c\"", goes_on, "'a \"b\" c'"),
        ("\"a\" or \"b\"", goes_on, "'\"a\" or \"b\"'"),
        ("\"\\d\"", "the value of `x` holds a `\\` that means nothing in double quotes", "'\\d'"),
        ("a: b:", "the value of `x` holds a colon that ends no key", "\"a: b:\""),
    ] {
        for yaml in [format!("x: {value}\ndescription: d"), format!("description: d\nx: {value}")] {
            let line = if yaml.starts_with('x') { 2 } else { 3 };
            corrected(&yaml, &format!("{line}:4 «{value}»"), message, &format!("x: {quoted}"));
        }
    }
    for (yaml, line) in [
        ("description:d", 2),
        ("description:d\nx: y", 2),
        ("x: y\ndescription:d", 3),
        ("x: y\ndescription:d\nz: a", 3),
    ] {
        corrected(
            yaml,
            &format!("{line}:1 «description:d»"),
            "there is no space after `description:`",
            "description: d",
        );
    }
    corrected(
        "description: d\nh:\n  - [a] b\n",
        "4:5 «[a] b»",
        "the list item starts with `[` but is not one list",
        "  - \"[a] b\"",
    );
    corrected(
        "description: d\nh:\n  - a: \"b\n    c: d\n    e: f\n",
        "4:8 «\"b»",
        "the value of `a` starts with a quote that is not closed",
        "  - a: \"b\"",
    );
}
#[test]
fn several_faults_in_one_run() {
    let text = "---\ntitle: a: é\nx:\n\t- 1\nargument-hint: [a] [b]\ntitle: *b\npriority: @\n---\n";
    let (prompt, reported) = read(text.as_bytes(), Command, Repair);
    assert!(prompt.is_none());
    let codes: Vec<_> = reported.iter().map(|line| line.split(" skip").next().unwrap()).collect();
    let places = codes.iter().map(|line| line.split('»').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(
        places,
        [
            "error front_matter::no_description 1:1 «---",
            "warning front_matter::yaml 2:8 «a: é",
            "warning front_matter::yaml 4:1 «\t",
            "warning front_matter::yaml 5:16 «[a] [b]",
            "error front_matter::duplicate_key 6:1 «title",
            "warning front_matter::yaml 6:8 «*b",
            "warning front_matter::yaml 7:11 «@",
        ]
    );
    // A fault after a corrected slip is reported too, even if it lacks a correction.
    let (_, reported) = read(b"---\nx: a: b\ny:\n  - a\n b\n---\n", Command, Repair);
    assert!(reported[0].starts_with("warning front_matter::yaml 2:4 «a: b»"), "{reported:?}");
    assert!(reported[1].starts_with("error front_matter::yaml 5:"), "{reported:?}");
    assert_eq!(reported.len(), 2);
}

#[test]
fn faults_without_correction() {
    let help = "check the quotes, colons and indentation up to here";
    let copied = "what `*` repeats is too much in all";
    let inside = "`*` is inside what it repeats";
    let deep = "lists and groups nest too deep";
    let second = "a second YAML document begins here";
    let excess = [copied, inside, deep, second];
    let mut bomb = "a0: &a0 [lol, lol, lol, lol]\n".to_string();
    for level in 1..30 {
        let inner = format!("*a{}, ", level - 1).repeat(10);
        bomb += &format!("a{level}: &a{level} [{inner}]\n");
    }
    let chain: String = (1..100).map(|n| format!("a{n}: &a{n} [*a{}]\n", n - 1)).collect();
    for (yaml, reason) in [
        ("x: \u{0}", "the control character U+0000 is not allowed here"),
        ("a: &a [1]\n*a : b", "a key must be plain text"),
        ("a: &a [*a]", inside),
        ("a: b\n...\nc: d", second),
        (bomb.as_str(), copied),
        (&format!("a0: &a0 []\n{chain}"), deep),
        (&format!("a:\n  {}b", "- ".repeat(40)), deep),
        (&format!("a: {}{}", "[".repeat(40), "]".repeat(40)), deep),
        (&format!("a: {}{}", "[".repeat(40_000), "]".repeat(40_000)), deep),
    ] {
        for (on_error, severity, prefix) in
            [(Fail, "error", ""), (Repair, "error", ""), (Skip, "warning", "skipped: ")]
        {
            let text = format!("---\n{yaml}\n---\n");
            let (prompt, reported) = read(text.as_bytes(), Command, on_error);
            let shown = yaml.chars().take(40).collect::<String>();
            assert!(prompt.is_none() && reported.len() == 1, "{shown} {reported:?}");
            let reported = &reported[0];
            assert!(
                reported.starts_with(&format!("{severity} front_matter::yaml ")),
                "{shown} {reported}"
            );
            assert!(reported.contains(&format!("» {prefix}{reason}")), "{reported}");
            assert!(excess.contains(&reason) != reported.ends_with(help), "{reported}");
        }
    }
}

#[test]
fn descriptions() {
    let add = "add a line `description: …` that says what the prompt is for";
    let absent = format!(
        "front_matter::no_description 1:1 «---» the front matter has no `description`; {add}"
    );
    for text in ["---\n---\n", "---\n# a\ntitle: t\n---\n", "---\ntitle: t\n---\n"] {
        refused(text, Command, &[&absent]);
        refused(text, Folder, &[&absent]);
    }
    for value in ["", " ~", " ''", " \" \"", " # d"] {
        let written = if value.ends_with('d') { "" } else { value };
        let written = if written.is_empty() { "" } else { &format!(":{written}") };
        let empty = format!(
            "front_matter::no_description 2:1 «description{written}» `description` is empty; \
             say in a sentence what the prompt is for"
        );
        refused(&format!("---\ndescription:{value}\n---\n"), Command, &[&empty]);
    }
    for (value, found, help) in [
        ("5.0", "the number 5.0", "write it as: description: \"5.0\""),
        ("true", "`true`", "write it as: description: \"true\""),
        ("[a]", "a list", "write it as one text"),
        ("{a: b}", "a group of keys", "write it as one text"),
    ] {
        let expected = format!(
            "front_matter::wrong_type 2:14 «{value}» `description` must be text, but is \
             {found}; {help}"
        );
        refused(&format!("---\ndescription: {value}\n---\n"), Folder, &[&expected]);
    }
}

#[test]
fn keys() {
    let text = "---\ndescription: d\ntitle: [a]\npriority: 11\nsummary:\nchapters: [a, 1]\n\
                chaptres: b\ntags: [c]\nsummary: s\n---\n";
    refused(
        text,
        Folder,
        &[
            "front_matter::wrong_type 3:8 «[a]» `title` must be text, but is a list; write it as \
         one text",
            "front_matter::wrong_type 4:11 «11» `priority` must be a number from 1 to 10, but is \
         the number 11; 1 is reference, 5 the default, and 10 is always sent",
            "front_matter::wrong_type 5:8 «» `summary` must be text, but is nothing; give it a \
         text, or remove the line",
            "front_matter::wrong_type 6:15 «1» a chapter must be text, but is the number 1; write \
         it as: \"1\"",
            "front_matter::unknown_key 7:1 «chaptres» unknown key `chaptres`; did you mean \
         `chapters`?",
            "front_matter::unknown_key 8:1 «tags» unknown key `tags`; remove the line, and write its \
             words into `summary` or `chapters`: an agent's keywords are searched there",
            "front_matter::duplicate_key 9:1 «summary» `summary` is given twice; keep one of them",
        ],
    );
    for priority in ["0", "-1", "1.5", "'5'", "high", "256"] {
        let text = format!("---\ndescription: d\npriority: {priority}\n---\n");
        let (_, reported) = read(text.as_bytes(), Folder, Fail);
        assert!(reported[0].starts_with("error front_matter::wrong_type 3:11"), "{reported:?}");
    }
    refused(
        "---\ndescription: d\nbriefing: yes\n---\n",
        Folder,
        &[
            "front_matter::wrong_type 3:11 «yes» `briefing` must be `true` or `false`, but is text; \
         write `briefing: true` or `briefing: false`",
        ],
    );
    refused(
        "---\ndescription: d\nx: {a: 1, b: {'c': 1, c: 2}, a: 3}\n---\n",
        Command,
        &[
            "front_matter::duplicate_key 3:23 «c» `c` is given twice; keep one of them",
            "front_matter::duplicate_key 3:30 «a» `a` is given twice; keep one of them",
        ],
    );
}

#[test]
fn handoffs() {
    let help = "a handoff has a `label` that people read and the `agent` that goes on";
    let shape = "write each as `- label: …` and below it `agent: …`";
    for (yaml, expected) in [
        ("x", format!("wrong_type 3:11 «x» `handoffs` must be a list, but is text; {shape}")),
        ("[x]", format!("wrong_type 3:12 «x» a handoff must be a group of keys, but is text; {shape}")),
        ("[{label: l}]", format!("handoff 3:12 «{{label: l}}» a handoff has no `agent`; {help}")),
        ("[{label: '', agent: a}]", format!("handoff 3:12 «{{label: '', agent: a}}» a handoff has no `label`; {help}")),
        ("[{label: l, agent: a, send: yes}]", "wrong_type 3:39 «yes» `send` must be `true` or `false`, but is text; without it a handoff is not sent".into()),
        ("[{label: l, agent: 1}]", "wrong_type 3:30 «1» `agent` must be text, but is the number 1; write it as: agent: \"1\"".into()),
        ("[{label: l, agent: a, prompt: [p]}]", "wrong_type 3:41 «[p]» `prompt` must be text, but is a list; write it as one text".into()),
    ] {
        let text = format!("---\ndescription: d\nhandoffs: {yaml}\n---\n");
        refused(&text, Command, &[&format!("front_matter::{expected}")]);
    }
}

#[test]
fn size() {
    let head = "---\ndescription: d\n---\n";
    let fitting = format!("{head}{}", "a".repeat(100_000 - head.len()));
    assert_eq!(good(&fitting, Command).body.len(), 100_000 - head.len());
    let expected = "markdown::too_large 4:99978 «» the file has 100001 bytes, over the limit \
                    of 100000; shorten it, or split it into several prompts";
    refused(&format!("{fitting}a"), Command, &[expected]);
}

#[test]
fn latin_1() {
    let bytes = b"---\ndescription: caf\xE9\ntitle: a: b\n---\n\xFC $ARGUMENTS\r\n\0";
    let not_utf8 = |first: &str| {
        format!(
            "{first}the file is not UTF-8: byte 0xE9 is not part of any character; save the \
             file as UTF-8"
        )
    };
    for (on_error, first) in [
        (Fail, "error markdown::not_utf8 2:17 «\u{fffd}» "),
        (Skip, "warning markdown::not_utf8 2:17 «\u{fffd}» skipped: "),
    ] {
        let (prompt, reported) = read(bytes, Command, on_error);
        assert_eq!((prompt.is_none(), reported), (true, vec![not_utf8(first)]));
    }
    let (prompt, reported) = read(bytes, Command, Repair);
    let prompt = prompt.unwrap();
    assert_eq!(reported[0], not_utf8("warning markdown::not_utf8 2:17 «\u{fffd}» repaired: "));
    assert!(
        reported[1].starts_with("warning front_matter::yaml 3:8 «a: b» repaired: "),
        "{reported:?}"
    );
    assert_eq!(prompt.description.as_ref().unwrap().value, "café");
    assert_eq!(prompt.body, "ü $ARGUMENTS\n\0");
    assert_eq!(&bytes[prompt.body_start..], b"\xFC $ARGUMENTS\r\n\0");
    let at = prompt.title.unwrap().at;
    assert_eq!(&bytes[at.start as usize..at.end as usize], b"a: b");
}

#[test]
fn arguments() {
    let literal = |text: &str| Segment::Literal(text.into());
    for (body, expected) in [
        ("", vec![]),
        ("a $1 {{ x }} !`b` @c $ARGUMENT", vec![literal("a $1 {{ x }} !`b` @c $ARGUMENT")]),
        ("$ARGUMENTS", vec![Segment::Slot(3)]),
        (
            "a $ARGUMENTS$ARGUMENTS_2",
            vec![literal("a "), Segment::Slot(3), Segment::Slot(3), literal("_2")],
        ),
        ("$ARGUMENTS[0] or $ARGUMENTS[12]", vec![literal("$ARGUMENTS[0] or $ARGUMENTS[12]")]),
        (
            "$ARGUMENTS[a] $ARGUMENTS[]",
            vec![Segment::Slot(3), literal("[a] "), Segment::Slot(3), literal("[]")],
        ),
    ] {
        assert_eq!(slots(&body.into(), 3), expected, "{body}");
        assert_eq!(has_slot(body), expected.contains(&Segment::Slot(3)), "{body}");
    }
}
