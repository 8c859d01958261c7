//! Texts of an author that try to break a form, and so to show a reviewer something else.

use std::fs;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use relay_bundle::{
    ArgumentKind, Bundle, Content, Contents, MessagePiece, PartContent, Segment, Setting, encode,
};

use super::copies;
use crate::cli::Sandbox;

/// In each hostile text: it may be in code and nowhere else.
const TOKEN: &str = "PWNED";

const TEXTS: [&str; 19] = [
    "PWNED",
    "PWNED `x` `` ``` ```` PWNED",
    "PWNED\n```\n</details>\n\n# PWNED\n\n@PWNED/team",
    "```diff\n- PWNED\n```\n\n[PWNED](https://pwned.example)",
    "~~~\nPWNED\n~~~\n\n***PWNED***",
    "<!-- PWNED --> <b>PWNED</b> --> PWNED",
    "</details></sub><details><summary>PWNED",
    "<script>PWNED</script>\n\n<details open>\n\nPWNED",
    "::error::PWNED\n::stop-commands::PWNED\r\n::add-mask::PWNED",
    "%0A::error::PWNED ##[add-mask]PWNED",
    "Water at six in the morning.\n  ::stop-commands::PWNED\n\nOther words.",
    "PWNED | PWNED \\| PWNED \\\\| PWNED\n|---|---|\n| PWNED |",
    "PWNED\u{202e}DENWP\u{2066}PWNED\u{2028}PWNED\u{2029}# PWNED\u{85}PWNED\u{61c}",
    "PWNED\u{200b}P\u{200d}W\u{feff}N\u{ad}E\u{e0050}\u{e0057}\u{3164}D\u{fe0f}\u{2060}",
    "\u{1b}[2J\u{1b}]0;PWNED\u{7}PWNED\u{9b}31m",
    "[PWNED]: https://pwned.example\n\n[PWNED] ![PWNED](x) #1 GH-1 $PWNED$ [^PWNED]",
    "    PWNED\n\n> PWNED\n\n1. PWNED\n\nPWNED\n===\n\n---",
    "\\`PWNED\\` \\",
    "`",
];

/// Compares `a.relay` with `b.relay`, and asserts that nothing of B steers a form.
#[track_caller]
fn assert_harmless(sandbox: &Sandbox, sides: &str) {
    let run = |form: &str| sandbox.relay(&format!("diff {sides} --format {form}")).ends(0);
    assert_markdown(&run("markdown").stdout);
    let short = sandbox.relay(&format!("diff {sides} --format markdown --max-chars 3000")).ends(0);
    assert!(short.stdout.encode_utf16().count() <= 3_000, "{}", short.stdout);
    assert_markdown(&short.stdout);
    let github = run("github").stdout;
    for line in github.lines() {
        let is_ours = ["::error ", "::warning ", "::notice "].iter().any(|it| line.starts_with(it));
        assert!(is_ours, "{line}");
        let (properties, message) = line[2..].split_once("::").expect("a message");
        assert!(!properties.contains(['\r', '\n']) && !message.contains(['\r', '\n']), "{line}");
    }
    assert!(github.lines().count() <= 30, "{github}");
    assert_visible(&github);
    let human = run("human").stdout;
    assert_visible(&human);
    assert_no_command(&human);
    for result in run("sarif").json()["runs"][0]["results"].as_array().expect("results") {
        let text = result["message"]["text"].as_str().expect("a text");
        assert!(!text.contains("]("), "{text}");
        assert_visible(text);
    }
    run("json").json();
}

/// Asserts that GitHub Actions takes all lines for text when a step prints it.
#[track_caller]
fn assert_no_command(text: &str) {
    let is_command =
        |line: &str| line.trim_start().strip_prefix("::").is_some_and(|line| line.contains("::"));
    assert!(!text.lines().any(is_command), "{text}");
    assert!(!text.contains("##["), "{text}");
}

/// Asserts that a reader sees every character.
#[track_caller]
fn assert_visible(text: &str) {
    assert_eq!(relay_engine::invisible::search(text), [], "{text:?}");
}

/// Asserts that an author's text is in code alone, and that every element is ours and is closed.
#[track_caller]
fn assert_markdown(text: &str) {
    assert_visible(text);
    assert_no_command(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH;
    let (mut is_in_code, mut headings, mut html, mut cells) = (false, 0, String::new(), Vec::new());
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                assert!(["diff", "text"].contains(&&*info), "{info}:\n{text}");
                is_in_code = true;
            }
            Event::End(TagEnd::CodeBlock) => is_in_code = false,
            Event::Start(Tag::Heading { .. }) => headings += 1,
            Event::Start(Tag::TableRow | Tag::TableHead) => cells.push(0),
            Event::Start(Tag::TableCell) => *cells.last_mut().expect("a row") += 1,
            Event::Start(Tag::Paragraph | Tag::Strong | Tag::HtmlBlock | Tag::Table(_)) => {}
            Event::Start(other) => panic!("{other:?}:\n{text}"),
            Event::Text(words) if !is_in_code => {
                assert!(!words.contains(TOKEN), "{words}:\n{text}")
            }
            Event::Html(element) | Event::InlineHtml(element) => html.push_str(&element),
            Event::Text(_) | Event::Code(_) | Event::End(_) | Event::SoftBreak => {}
            other => panic!("{other:?}:\n{text}"),
        }
    }
    assert_eq!(headings, 1, "{text}");
    assert!(cells.iter().all(|count| *count == 4), "{cells:?}:\n{text}");
    let (marker, mut rest) = html.split_once('\n').expect("a marker");
    let name = marker.strip_prefix("<!-- relay-diff ").and_then(|it| it.strip_suffix(" -->"));
    let name = name.expect("a marker");
    assert!(!name.contains("--") && !name.contains(['<', '>', ' ', '`']), "{marker}");
    let mut open = Vec::new();
    while let Some((_, at)) = rest.split_once('<') {
        let (element, after) = at.split_once('>').expect("an end");
        match element.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{text}"),
            None if element == "br" => {}
            None => {
                assert!(["details", "summary", "sub"].contains(&element), "<{element}>:\n{text}");
                open.push(element);
            }
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}:\n{text}");
    assert!(!html.replacen(TOKEN, "", marker.matches(TOKEN).count()).contains(TOKEN), "{html}");
}

/// Writes `hostile` over every text and name of the project, as no compiler would.
fn overwrite(contents: &mut Contents, hostile: &str) {
    let set = |setting: &mut Setting<String>| {
        setting.value = hostile.into();
        if let Some(place) = &mut setting.at {
            place.file = hostile.into();
        }
    };
    let Contents { manifest, messages, prompts, resources, .. } = contents;
    set(&mut manifest.project);
    [&mut manifest.version, &mut manifest.title, &mut manifest.owner]
        .into_iter()
        .flatten()
        .for_each(set);
    messages.session_greeting.value = vec![MessagePiece::Literal(hostile.into())];
    for prompt in &mut *prompts {
        [&mut prompt.title, &mut prompt.description, &mut prompt.summary]
            .into_iter()
            .flatten()
            .chain(&mut prompt.chapters)
            .for_each(set);
        prompt.at.file = hostile.into();
        for argument in &mut prompt.rendering.arguments {
            argument.name = format!("{}{hostile}", argument.name);
            argument.description = Some(hostile.into());
            if let ArgumentKind::Choice(choices) = &mut argument.kind {
                choices.iter_mut().for_each(|choice| *choice = format!("{hostile}{choice}"));
            }
        }
        for part in prompt.rendering.variants.iter_mut().flatten().flat_map(|it| &mut it.parts) {
            if let PartContent::Text(segments) = &mut part.content {
                segments.insert(0, Segment::Literal(hostile.into()));
            }
        }
    }
    if let Some(first) = prompts.first_mut() {
        first.name = hostile.into();
    }
    prompts.sort_by(|a, b| a.name.cmp(&b.name));
    for resource in resources {
        resource.uri = hostile.into();
        set(&mut resource.name);
        set(&mut resource.mime);
        resource.content.value = Content::Text(hostile.into());
        resource.at.file = hostile.into();
    }
}

#[test]
fn a_bundle_of_hostile_names_breaks_no_form() {
    let sandbox = copies();
    sandbox.relay("build a --unsigned -o a.relay").ends(0);
    let contents = Bundle::open(Box::new(sandbox.bytes("a.relay"))).unwrap().contents().unwrap();
    for hostile in TEXTS {
        let mut contents = contents.clone();
        overwrite(&mut contents, hostile);
        fs::write(sandbox.path("b.relay"), encode(&contents).unwrap()).expect("a file");
        assert_harmless(&sandbox, "a.relay b.relay");
        assert_harmless(&sandbox, "b.relay a.relay");
    }
}

#[test]
fn hostile_texts_break_no_form() {
    for hostile in TEXTS {
        let sandbox = copies();
        // Texts that are forbidden in a project are in the bundle of the other test.
        let text = relay_engine::invisible::visible(hostile);
        fs::write(sandbox.path("b/notes/watering.md"), &*text).expect("a file");
        assert_harmless(&sandbox, "a b");
    }
}

#[test]
fn hostile_files_environments_and_reasons_break_no_form() {
    let sandbox = copies();
    let name = "`PWNED` | @PWNED <b> --> ::error::PWNED.md";
    fs::write(sandbox.path(format!("b/notes/{name}")), "Other words.\n").expect("a file");
    sandbox.edit("b/project.kdl", "notes/watering.md", &format!("notes/{name}"));
    sandbox.edit("b/project.kdl", "when production", "when \"`PWNED` | @PWNED <b> -->\"");
    sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
    assert_harmless(&sandbox, "a b");
    let json = sandbox.relay("diff a b --json").ends(0).json();
    let fingerprint = json["projects"][0]["findings"][0]["fingerprint"].as_str().expect("a text");
    for hostile in TEXTS {
        let reason = serde_json::Value::from(format!("r {hostile}"));
        let entry = format!("[[accepted]]\nfingerprint = \"{fingerprint}\"\nreason = {reason}\n");
        fs::write(sandbox.path("accepted.toml"), entry).expect("a file");
        assert_harmless(&sandbox, "a b --accepted accepted.toml");
    }
}

#[test]
fn one_line_of_ten_megabytes_breaks_no_form() {
    let sandbox = copies();
    let long = "`PWNED` ".repeat(10 * 1024 * 1024 / 8);
    sandbox.relay("build a --unsigned -o a.relay").ends(0);
    let contents = Bundle::open(Box::new(sandbox.bytes("a.relay"))).unwrap().contents().unwrap();
    let mut texts = contents.clone();
    let segments = texts.prompts.iter_mut().flat_map(|it| &mut it.rendering.variants).flatten();
    for part in segments.flat_map(|message| &mut message.parts) {
        if let PartContent::Text(segments) = &mut part.content {
            *segments = vec![Segment::Literal(long.as_str().into())];
            break;
        }
    }
    let mut title = contents;
    title.manifest.owner.as_mut().expect("an owner").value = "`".repeat(512 * 1024);
    for contents in [texts, title] {
        fs::write(sandbox.path("b.relay"), encode(&contents).unwrap()).expect("a file");
        assert_harmless(&sandbox, "a.relay b.relay");
        let text = sandbox.relay("diff a.relay b.relay --format markdown").ends(0).stdout;
        assert!(text.encode_utf16().count() <= 60_000, "{}", text.len());
    }
}
