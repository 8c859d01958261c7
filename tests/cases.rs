//! One case is one project in `cases/<stage>/`: a `.kdl` file, or a folder with a `project.kdl`. It is
//! checked as by `relay check`: in every environment, unless it names one. A case in `cases/facts/` is a
//! fact file instead.
//!
//! Expected diagnostics are in the input: `//~ error area::what` on the line where the primary
//! label begins, or `//~ FILE:LINE error area::what` anywhere for other files. The drawn report,
//! and what the bundle holds if there is one, are the snapshot beside the case.
//!
//! A first line `//# env=production strict` gives options; `tools-list` shows that list too, `notes` asks for the notes, and
//! `complete` wants of a fact file what the table of the shipped facts must have.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use relay_bundle::{
    Contents, Gate, Mask, Message, MessagePiece, Messages, Part, PartContent, PathRow, Place,
    Policy, Prompt, Segment, Tool,
};
use relay_compiler::{Diagnostics, Options, Severity, Sources, facts};
use relay_policy::facts::{Facts, SHIPPED};
use serde_json::Value;

use crate::bundle::sample;
use crate::support::{Memory, contents, root, sources};

#[test]
fn every_case_says_what_it_must() {
    let cases = cases();
    assert!(cases.len() > 20, "the cases were not found");
    let mut failed = Vec::new();
    for case in &cases {
        let result = std::panic::catch_unwind(|| check(case));
        if result.is_err() {
            failed.push(case.display().to_string());
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn the_canonical_source_means_the_same() {
    let mut gated = 0;
    let project = "project.kdl";
    // What a markdown file says of itself is in that file instead of the canonical source.
    let is_apart = |case: &Path| ["facts", "markdown"].map(Some).contains(&stage(case).as_deref());
    for case in cases().iter().filter(|case| !is_apart(case)) {
        let text = fs::read_to_string(case).expect("UTF-8");
        let mut files = match case.ends_with(project) {
            true => Memory::folder(case.parent().expect("a folder")),
            false => Memory::of(&[(project, &text)]),
        };
        let compiled = |files: &Memory, options: Options| {
            contents(&relay_compiler::compile(&sources(files, project), &options))
        };
        let Some(first) = compiled(&files, options(&text)) else { continue };
        gated += usize::from(first.gate.is_some());
        files.0.insert(project.into(), first.canonical.clone().into_bytes());
        let Some(again) = compiled(&files, Options::default()) else {
            panic!("{}: cannot be compiled again\n{}", case.display(), first.canonical);
        };
        // Places differ.
        let meaning = |contents: &Contents| {
            let at = Place::default();
            let tools = contents.tools.iter().map(|tool| Tool { at: at.clone(), ..tool.clone() });
            let gate = contents.gate.as_ref().map(|gate| without_places(serde_json::json!(gate)));
            let policy = without_places(serde_json::json!(contents.policy));
            (gate, policy, tools.collect::<Vec<_>>(), contents.tool_pages.clone())
        };
        assert_eq!(meaning(&again), meaning(&first), "{}", case.display());
        assert_eq!(again.canonical, first.canonical, "{}", case.display());
        let said = |contents: &Contents| {
            (contents.messages.instructions("", true), contents.messages.prompt_index.clone())
        };
        assert_eq!(said(&again), said(&first), "{}", case.display());
    }
    assert!(gated > 5, "the gated cases were not found");
}

#[test]
fn formatting_keeps_the_meaning_and_every_comment() {
    let examples = ["homelab", "platform", "spec-kit", "minimal", "conformance"];
    let examples = examples.map(|name| root().join("examples").join(name).join("project.kdl"));
    for path in cases().into_iter().chain(examples) {
        let text = fs::read_to_string(&path).expect("UTF-8");
        let Some(once) = formatted(&text) else { continue };
        assert_eq!(formatted(&once).as_ref(), Some(&once), "{}: not stable", path.display());
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(dense(&once), dense(&text), "{}: more than white space changed", path.display());
    }
}

#[test]
fn formatting_by_example() {
    let check = |text: &str, expected: &str| {
        assert_eq!(formatted(text).as_deref(), Some(expected), "{text:?}");
    };
    check("a   1  b=2\n", "a 1 b=2\n");
    check("a{b;c}\n", "a { b; c }\n");
    check("a {}\n", "a {}\n");
    check("a {\n\n\nb\n\n\n\nc\n\n}\n\n\n", "a {\n    b\n\n    c\n}\n");
    check("a {\nb {\nc\n}\n}", "a {\n    b {\n        c\n    }\n}\n");
    check("a 1    // aligned\n//   kept  \n", "a 1    // aligned\n//   kept\n");
    check("a \\\n1 \\\n  2\nb\n", "a \\\n    1 \\\n    2\nb\n");
    check("a \"x  {  y\"  #\"  z \"#\n", "a \"x  {  y\" #\"  z \"#\n");
    check("a \"\"\"\n   two  words\n   \"\"\"\n", "a \"\"\"\n   two  words\n   \"\"\"\n");
    check("/-a { b }\n/- c\r\n", "/-a { b }\n/- c\n");
    check("a /* x  y */ 1\n", "a /* x  y */ 1\n");
    check("\u{feff}a\n", "a\n");
    assert_eq!(formatted("a {"), None);
}

fn formatted(text: &str) -> Option<String> {
    let files = Memory::of(&[("project.kdl", text)]);
    let sources = Sources::new(&files, "project.kdl");
    let file = sources.load("project.kdl").expect("it is there");
    let mut out = relay_compiler::Diagnostics::new(false);
    relay_compiler::format(&sources, file, &mut out)
}

/// The documents of all cases, sorted.
pub(crate) fn cases() -> Vec<PathBuf> {
    let mut cases = Vec::new();
    for stage in entries(&root().join("tests/cases")) {
        for case in entries(&stage) {
            if case.is_dir() {
                cases.push(case.join("project.kdl"));
            } else if case.extension().is_some_and(|ending| ending == "kdl") {
                cases.push(case);
            }
        }
    }
    cases
}

/// The stage that a case is about: the name of its folder.
fn stage(case: &Path) -> Option<String> {
    let path = case.strip_prefix(root().join("tests/cases")).ok()?;
    Some(path.iter().next()?.to_str()?.to_owned())
}

/// The codes that the cases expect, for the check that every diagnostic has a case.
pub(crate) fn expected_codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for case in cases() {
        // A case in a folder may have notes in each of its documents.
        let documents = match case.ends_with("project.kdl") {
            true => Memory::folder(case.parent().expect("a folder")),
            false => Memory([(String::from("case.kdl"), fs::read(&case).expect("a case"))].into()),
        };
        for (_, bytes) in documents.0.iter().filter(|(path, _)| path.ends_with(".kdl")) {
            let text = String::from_utf8_lossy(bytes);
            codes.extend(notes(&text, "").into_iter().map(|note| note.code));
        }
    }
    codes
}

fn check(case: &Path) {
    let folder = case.parent().expect("a folder");
    let project = case.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    let text = fs::read_to_string(case).expect("a case is UTF-8");
    let files = if project == "project.kdl" {
        Memory::folder(folder)
    } else {
        Memory::of(&[(project, &text)])
    };
    let sources = sources(&files, project);
    let (diagnostics, contents) = if stage(case).as_deref() == Some("facts") {
        (of_facts(&sources, project, &text), None)
    } else {
        let compiled = relay_compiler::check(&sources, &options(&text));
        let contents = contents(&compiled);
        (compiled.diagnostics, contents)
    };

    let found: BTreeSet<Note> = diagnostics
        .sorted()
        .into_iter()
        .filter(|report| report.severity() != Severity::Note || has_notes(&text))
        .map(|report| {
            let place = sources.place(report.at);
            let severity = match report.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            Note {
                file: place.file,
                line: place.line,
                severity: severity.into(),
                code: report.code(),
            }
        })
        .collect();
    let mut expected: BTreeSet<Note> = notes(&text, project).into_iter().collect();
    for (path, bytes) in
        files.0.iter().filter(|(path, _)| path.ends_with(".kdl") && **path != project)
    {
        expected.extend(notes(&String::from_utf8_lossy(bytes), path));
    }
    let mut drawn = relay_cli::findings(&sources, &diagnostics);
    assert_eq!(found, expected, "{}: found (left), noted (right)\n{drawn}", case.display());

    if let Some(contents) = &contents {
        drawn.push_str(&contents_as_text(contents));
        if text.starts_with("//# tools-list") {
            drawn.push_str(&tools_list_as_text(contents));
        }
    }
    let snapshots = insta::Settings::clone_current();
    let mut settings = snapshots;
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        let name = project.trim_end_matches(".kdl");
        insta::assert_snapshot!(name, drawn);
    });
}

/// Returns whether a case is about notes, which many others would have.
fn has_notes(text: &str) -> bool {
    text.starts_with("//# notes")
}

/// Returns what is wrong with a fact file.
fn of_facts(sources: &Sources<'_>, file: &str, text: &str) -> Diagnostics {
    let files = [file.to_owned()];
    let (knowledge, mut diagnostics) = facts::read(sources, &files);
    if text.starts_with("//# complete") {
        facts::check_complete(&knowledge, sources, &files, &mut diagnostics);
    }
    diagnostics
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    file: String,
    line: u32,
    severity: String,
    code: String,
}

/// The notes of a document: `//~ error code` or `//~ FILE:LINE error code`.
fn notes(text: &str, file: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for note in text.split("//~").skip(1) {
            let words: Vec<&str> = note.split_whitespace().collect();
            let [place @ .., severity, code] = words.as_slice() else {
                panic!("{file}:{line}: a note is `//~ [FILE:LINE] error|warning|note CODE`");
            };
            // A file's name may have spaces.
            let place = place.join(" ");
            let (file, line) = match place.rsplit_once(':') {
                Some((file, line)) => (file, line.parse().expect("a line")),
                None => (file, line),
            };
            notes.push(Note {
                file: file.into(),
                line,
                severity: (*severity).into(),
                code: (*code).into(),
            });
        }
    }
    notes
}

fn options(text: &str) -> Options {
    // If the epoch were missing, every case would warn of it.
    let mut options = Options { epoch: Some(1), ..Options::default() };
    let first = text.lines().next().and_then(|line| line.strip_prefix("//#")).unwrap_or_default();
    for word in first.split_whitespace() {
        match word.split_once('=') {
            Some(("env", environment)) => options.environment = Some(environment.into()),
            None if word == "strict" => options.strict = true,
            None if ["tools-list", "notes"].contains(&word) => {}
            None if word == "no-epoch" => options.epoch = None,
            _ => panic!("unknown option `{word}` of a case"),
        }
    }
    options
}

/// Who sees what: each audience with its pairs of a tenant and a role, and the rows that it sees.
fn audiences(contents: &Contents, text: &mut String) {
    let Some(audiences) = &contents.audiences else { return };
    let roles: Vec<&str> = match contents.roles.as_slice() {
        [] => vec!["everyone"],
        roles => roles.iter().map(|role| role.name.as_str()).collect(),
    };
    let tenants = std::iter::once("-").chain(contents.tenants.iter().map(|it| it.name.as_str()));
    let tenants: Vec<&str> = tenants.collect();
    for (number, audience) in audiences.list.iter().enumerate() {
        let mut pairs = Vec::new();
        for (tenant, class) in tenants.iter().zip(&audiences.tenant_classes) {
            for (place, role) in roles.iter().enumerate() {
                let cell = *class as usize * roles.len() + place;
                if audiences.table[cell] as usize == number {
                    pairs.push(format!("{tenant}/{role}"));
                }
            }
        }
        let seen = |rows: &Mask, names: Vec<&str>| -> String {
            let named = names.into_iter().enumerate().filter(|(row, _)| rows.contains(*row));
            named.map(|(_, name)| name).collect::<Vec<_>>().join(" ")
        };
        let prompts = contents.prompts.iter().map(|it| it.name.as_str()).collect();
        let resources = contents.resources.iter().map(|it| it.uri.as_str()).collect();
        let tools = contents.tools.iter().map(|it| it.name.as_str()).collect();
        writeln!(text, "── audience {}", pairs.join(", ")).unwrap();
        writeln!(text, "prompts: {}", seen(&audience.prompts.rows, prompts)).unwrap();
        writeln!(text, "resources: {}", seen(&audience.resources.rows, resources)).unwrap();
        writeln!(text, "tools: {}", seen(&audience.tools.rows, tools)).unwrap();
        writeln!(text, "{}", audience.index).unwrap();
    }
}

/// Returns the contents of a bundle as text, as a person would want to compare them.
fn contents_as_text(contents: &Contents) -> String {
    let mut text = format!("── instructions\n{}\n", contents.messages.instructions("", true));
    if let Some(gate) = &contents.gate {
        gate_as_text(gate, &contents.messages, &mut text);
    }
    if let Some(policy) = &contents.policy {
        policy_as_text(policy, &contents.facts, &mut text);
    }
    for tool in &contents.tools {
        let place = format!("{}:{}:{}", tool.at.file, tool.at.line, tool.at.column);
        let gated = if tool.gated { ", gated" } else { "" };
        writeln!(text, "── tool {} (tier {}{gated}) {place}", tool.name, tool.tier.number())
            .unwrap();
    }
    for prompt in &contents.prompts {
        let arguments: Vec<_> =
            prompt.rendering.arguments.iter().map(|a| a.name.as_str()).collect();
        writeln!(text, "── prompt {} ({})", prompt.name, arguments.join(", ")).unwrap();
        if let Some(meta) = &prompt.meta {
            writeln!(text, "meta {meta}").unwrap();
        }
        about(prompt, &mut text);
        variants(&prompt.rendering.variants, &arguments, &mut text);
    }
    for resource in &contents.resources {
        writeln!(text, "── resource {} {}", resource.uri, resource.mime.value).unwrap();
    }
    for template in &contents.templates {
        let arguments: Vec<_> =
            template.rendering.arguments.iter().map(|a| a.name.as_str()).collect();
        writeln!(text, "── resource {} ({})", template.uri_template, arguments.join(", ")).unwrap();
        variants(&template.rendering.variants, &arguments, &mut text);
    }
    audiences(contents, &mut text);
    writeln!(text, "── canonical\n{}", contents.canonical).unwrap();
    text
}

fn about(prompt: &Prompt, text: &mut String) {
    let marked = |at: &Option<Place>| if at.is_none() { " (generated)" } else { "" };
    if let Some(about) = &prompt.summary {
        writeln!(text, "summary{}: {}", marked(&about.at), about.value).unwrap();
    }
    if let Some(first) = prompt.chapters.first() {
        let chapters: Vec<&str> = prompt.chapters.iter().map(|it| it.value.as_str()).collect();
        writeln!(text, "chapters{}: {}", marked(&first.at), chapters.join(" | ")).unwrap();
    }
    let alone = match &prompt.rendering.variants[..] {
        [messages] => sample::only_literal(messages),
        _ => None,
    };
    if alone != Some(&*prompt.body.value) {
        writeln!(text, "briefing: {}", prompt.body.value).unwrap();
    }
}

fn tools_list_as_text(contents: &Contents) -> String {
    let mut text = String::from("── tools/list\n");
    for page in &contents.tool_pages {
        let tools: Value = serde_json::from_str(&page.json).expect("JSON");
        writeln!(text, "{tools:#}").unwrap();
    }
    text
}

/// JSON, stripped of the places where its values were written.
fn without_places(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(name, _)| name != "at");
            kept.map(|(name, value)| (name, without_places(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_places).collect(),
        value => value,
    }
}

/// The policy, and the programs of the project.
fn policy_as_text(policy: &Policy, facts: &[u8], text: &mut String) {
    writeln!(text, "── policy {}", policy.at).unwrap();
    for (name, tier) in relay_bundle::values(&policy.floors) {
        writeln!(text, "{name} {tier}").unwrap();
    }
    for row in &policy.paths {
        let PathRow { kind, patterns, except, at } = row;
        writeln!(text, "{} {patterns:?} except {except:?} {at}", kind.word()).unwrap();
    }
    let known = Facts::open(facts).expect("a table").knowledge();
    for program in &known.programs {
        let file = &known.files[usize::from(program.place.file)];
        if !file.starts_with(SHIPPED) {
            writeln!(text, "program {:?} {file}:{}", program.names, program.place.line).unwrap();
        }
    }
}

fn gate_as_text(gate: &Gate, messages: &Messages, text: &mut String) {
    // Only written settings: a new one should leave other cases as they are.
    let settings = serde_json::json!(gate);
    let is_written =
        |(_, setting): &(&String, &Value)| setting.is_string() || setting["at"].is_string();
    let written = settings.as_object().expect("an object").iter().filter(is_written);
    let written: Vec<_> = written.map(|(name, setting)| format!("{name} {setting}")).collect();
    writeln!(text, "── gate\n{}", written.join("\n")).unwrap();
    // The first three are the instructions, which come before.
    for (name, pieces) in messages.named().into_iter().skip(3) {
        let piece = |piece: &MessagePiece| match piece {
            MessagePiece::Literal(text) => text.clone(),
            MessagePiece::Index => "‹index›".into(),
            MessagePiece::Matched => "‹matched›".into(),
            MessagePiece::Remaining => "‹remaining›".into(),
        };
        let pieces: String = pieces.value.iter().map(piece).collect();
        writeln!(text, "── {name}\n{pieces}").unwrap();
    }
}

fn variants(variants: &[Vec<Message>], arguments: &[&str], text: &mut String) {
    for (number, messages) in variants.iter().enumerate() {
        for message in messages {
            let role = format!("{:?}", message.role).to_lowercase();
            for part in &message.parts {
                let Part { content, at: _ } = part;
                let shown = match content {
                    PartContent::Text(segments) => filled(segments, arguments),
                    PartContent::Image { mime, bytes } => {
                        format!("[image {mime}, {} bytes]", bytes.len())
                    }
                    PartContent::Audio { mime, bytes } => {
                        format!("[audio {mime}, {} bytes]", bytes.len())
                    }
                    PartContent::ResourceText { uri, text: body, .. } => {
                        format!("[{}] {}", filled(uri, arguments), filled(body, arguments))
                    }
                    PartContent::ResourceBlob { uri, bytes, .. } => {
                        format!("[{}] {} bytes", filled(uri, arguments), bytes.len())
                    }
                };
                writeln!(text, "{number} {role}: {shown}").unwrap();
            }
        }
    }
}

fn filled(segments: &[Segment], arguments: &[&str]) -> String {
    segments
        .iter()
        .map(|segment| match segment {
            Segment::Literal(text) => text.to_string(),
            Segment::Slot(index) => format!("‹{}›", arguments[*index as usize]),
        })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
