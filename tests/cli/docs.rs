//! The examples of the documents work: every KDL block compiles, every command line is valid.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, OnceLock};

use relay_compiler::Options;

use crate::cli::{Sandbox, copy};
use crate::support::{Memory, compiled, root};

const DOCUMENTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "docs/adopt.md",
    "docs/audit.md",
    "docs/clients.md",
    "docs/deploy.md",
    "docs/gate.md",
    "docs/hooks.md",
    "docs/gateway.md",
    "docs/language.md",
    "docs/permissions.md",
    "docs/policy.md",
    "docs/review.md",
    "docs/shell.md",
    "docs/skills.md",
    "docs/ssh.md",
    "docs/tutorial.md",
    "examples/fleet/README.md",
    "examples/homelab/GATE.md",
    "examples/platform/README.md",
];

#[test]
fn every_kdl_block_compiles() {
    for &name in DOCUMENTS {
        for (line, text) in blocks(name, "kdl").into_iter().chain(written_by_commands(name)) {
            let text = if text.contains("\nproject ") || text.starts_with("project ") {
                text
            } else {
                format!("project small version=\"1.0.0\" epoch=1\n{text}")
            };
            let mut files = Memory::of(&[("project.kdl", &text)]);
            // A block may refer to files that are missing; any content will do.
            for path in quoted_after(&text, &["file=", "file ", "include ", "folder ", "commands "])
            {
                let (path, text) = match path.strip_suffix("*.kdl") {
                    Some(folder) => (
                        format!("{folder}more.kdl"),
                        "prompts { prompt more { text \"More.\" } }\n",
                    ),
                    None if is_file(&path) => (path, "Text.\n"),
                    None => {
                        // Prompts of two folders need different names.
                        let name = path.replace(['/', '.'], "");
                        (format!("{path}/{name}.md"), "---\ndescription: One\n---\nText.\n")
                    }
                };
                files.0.insert(path, text.into());
            }
            let options = Options { epoch: Some(1), ..Options::default() };
            let (compiled, report) = compiled(&files, "project.kdl", &options);
            assert_eq!(compiled.diagnostics.error_count(), 0, "{name}:{line}\n{report}");
        }
    }
}

/// Returns whether a path is that of a file, by the ending of its name.
fn is_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.find('.').is_some_and(|dot| dot > 0))
}

#[test]
fn the_report_in_the_readme_is_current() {
    let documents = written_by_commands("docs/tutorial.md");
    let report =
        blocks("README.md", "text").into_iter().find(|(_, text)| text.starts_with("node::unknown"));
    let (_, document) = documents.first().expect("the tutorial writes a project");
    let (line, report) = report.expect("README.md shows a report");
    let sandbox = Sandbox::of(&[("my-team/project.kdl", &document.replace("summary", "sumary"))]);
    let printed = sandbox.relay("check my-team/project.kdl").ends(1).stdout;
    assert!(printed.starts_with(&report), "README.md:{line}\n{printed}");
}

#[test]
fn the_differences_that_are_shown_are_current() {
    shows_difference(
        "README.md",
        "loosens",
        "shop",
        &[
            ("project.kdl", r#"/.env.example""#, r#"/.env.*""#),
            ("project.kdl", "Never deploy on a Friday. ", ""),
        ],
    );
    let priorities = ("prompt firewall priority=8", "prompt firewall priority=10");
    let edit = ("policies/network.kdl", priorities.0, priorities.1);
    shows_difference("docs/review.md", "firewall", "homelab", &[edit]);
}

/// Asserts that a document and a picture show the output of `examples/diff/SCRIPT.sh`, which makes these edits in a copy
/// of an example.
fn shows_difference(document: &str, script: &str, example: &str, edits: &[(&str, &str, &str)]) {
    let command = format!("$ examples/diff/{script}.sh\n");
    let shown =
        blocks(document, "console").into_iter().find(|(_, text)| text.starts_with(&command));
    let (line, shown) = shown.unwrap_or_else(|| panic!("{document} shows {command}"));
    let sandbox = Sandbox::new();
    let copy_to = |name: &str| copy(&root().join("examples").join(example), &sandbox.path(name));
    ["before", "after"].into_iter().for_each(copy_to);
    let file = root().join(format!("examples/diff/{script}.sh"));
    let commands = fs::read_to_string(file).expect("the script");
    for (file, from, to) in edits {
        sandbox.edit(&format!("after/{file}"), from, to);
        let is_made = ["/", "|"]
            .iter()
            .any(|sign| commands.contains(&format!("s{sign}{from}{sign}{to}{sign}")));
        assert!(is_made, "{commands}");
    }
    let printed = sandbox.relay("diff before after").ends(0).silent().stdout;
    assert!(shown.trim_end().ends_with(printed.trim_end()), "{document}:{line}\n{printed}");

    // The picture is of the same text.
    let picture = root().join(format!("examples/diff/{script}.svg"));
    let picture = fs::read_to_string(picture).expect("a picture");
    let drawn: String = picture
        .split("<text")
        .skip(1)
        .filter_map(|text| text.split_once('>')?.1.split_once("</text>"))
        .map(|(text, _)| {
            let escapes = [("&#160;", " "), ("&gt;", ">"), ("&quot;", "\"")];
            escapes.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
        })
        .collect();
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(dense(&drawn), dense(&shown), "draw it again: examples/diff/picture.sh {script}");
}

#[test]
fn every_answer_that_is_shown_is_current() {
    let mut shown = BTreeMap::new();
    for &name in DOCUMENTS {
        let projects = blocks(name, "kdl");
        for (line, text) in blocks(name, "console") {
            let (command, expected) = text.split_once('\n').expect("a command and its answer");
            let Some(command) = command.strip_prefix("$ relay ") else { continue };
            // A question about a project is about the last whole one before it.
            let mut before = projects.iter().rev().filter(|(at, _)| *at < line);
            let project = before.find(|(_, text)| text.starts_with("project "));
            let sandbox = Sandbox::new();
            if let Some((_, project)) = project {
                sandbox.write("project.kdl", project);
            }
            let words = shlex::split(command).expect("words of a shell");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            for example in words.iter().filter(|word| word.starts_with("examples/")) {
                copy(&root().join(example), &sandbox.path(example));
            }
            // A command that a policy refuses ends as a server's answer would.
            let refuses = |line: &str| line.starts_with("deny  ") || line.starts_with("approve  ");
            let is_refused = expected.lines().any(refuses);
            let run = sandbox.relay_of(&words).ends(i32::from(is_refused));
            assert!(run.stderr.is_empty() || run.stderr.starts_with("note: "), "{}", run.stderr);
            let answer = run.stdout;
            assert_eq!(answer.trim_end(), expected.trim_end(), "{name}:{line}");
            *shown.entry(name).or_insert(0) += 1;
        }
    }
    assert!(
        shown.get("README.md") >= Some(&1) && shown.get("docs/skills.md") >= Some(&2),
        "{shown:?}"
    );
}

#[test]
fn every_command_line_is_valid() {
    for &name in DOCUMENTS {
        for language in ["", "sh", "console", "bash", "shell", "text", "yaml"] {
            for (_, text) in blocks(name, language) {
                // A line that ends in a backslash continues on the next one.
                for line in text.replace("\\\n", " ").lines() {
                    let line =
                        line.trim_start().trim_start_matches("$ ").trim_start_matches("- run: ");
                    if let Some(arguments) = line.strip_prefix("relay ") {
                        assert_known(arguments);
                    }
                }
            }
        }
        for (_, code) in code_spans(name) {
            if let Some(arguments) = code.strip_prefix("relay ") {
                assert_known(arguments);
            }
        }
    }
}

/// Asserts that `relay` knows the verb and the flags of a command line.
#[track_caller]
pub(super) fn assert_known(line: &str) {
    let line = line.split(" #").next().unwrap_or_default();
    // A form such as `[--json] FILE…` may hold a lone quote.
    let words =
        shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(Into::into).collect());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(verb) = words.first().copied() else { return };
    if verb.starts_with('-') || verb == "VERB" || verb.starts_with('…') {
        return;
    }
    // A verb of a verb has a page of its own.
    let page = match (verb, words.get(1)) {
        // `relay hook CLIENT` is the form without a verb.
        ("hook", Some(&below @ ("install" | "status" | "stats" | "test"))) => page(&[verb, below]),
        ("trust" | "audit", Some(below)) => page(&[verb, below.trim_matches(['[', ']', '…'])]),
        _ => page(&[verb]),
    };
    assert!(!page.is_empty(), "`relay {line}`: unknown verb `{verb}`");
    if verb == "serve" || verb == "help" {
        return;
    }
    let rest = words.iter().skip(1).take_while(|word| !matches!(**word, "|" | "&&" | ">" | ";"));
    // Behind its first word everything is a word of the command that is judged.
    let rest = rest.take_while(|word| verb != "classify" || word.starts_with(['-', '[', '(']));
    for word in rest {
        let flag = word.trim_start_matches(['[', '(']).trim_end_matches([']', ')', '.', ',', '…']);
        let flag = flag.split('=').next().unwrap_or_default();
        for flag in flag.split('|').filter(|flag| flag.len() > 1 && flag.starts_with('-')) {
            let is_known = page
                .split(|letter: char| letter.is_whitespace() || letter == ',')
                .any(|known| known == flag);
            assert!(is_known, "`relay {line}`: `relay {verb}` has no flag `{flag}`");
        }
    }
}

/// The help of a verb; empty if it is missing.
fn page(verb: &[&str]) -> String {
    static PAGES: OnceLock<Mutex<BTreeMap<String, String>>> = OnceLock::new();
    let pages = PAGES.get_or_init(Mutex::default);
    let mut pages = pages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let page = pages.entry(verb.join(" ")).or_insert_with(|| {
        let run = Sandbox::new().relay_of(&[&["help"], verb].concat());
        if run.code == 0 { run.stdout } else { String::new() }
    });
    page.clone()
}

#[test]
fn the_check_itself_finds_errors() {
    assert_known("build project.kdl -o x.relay --unsigned");
    assert_known("check project.kdl --format=json | jq .");
    for bad in ["biuld project.kdl", "build project.kdl --unsinged", "fmt x [--chek]"] {
        let caught = std::panic::catch_unwind(|| assert_known(bad));
        assert!(caught.is_err(), "relay {bad}");
    }
}

/// The fenced blocks of a language in a document, with their line numbers; empty if the document is
/// missing.
fn blocks(name: &str, language: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(root().join(name)).unwrap_or_default();
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(info)) => open = Some((number, info.trim().into(), String::new())),
            (Some(_), Some(_)) => {
                let (number, info, text) = open.take().expect("it is open");
                if info == language {
                    blocks.push((number, text));
                }
            }
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{name}: a block is not closed");
    blocks
}

/// The KDL documents in here-documents of command lines: `cat > … <<'KDL'`.
fn written_by_commands(name: &str) -> Vec<(usize, String)> {
    let written = |(line, text): (usize, String)| {
        let (_, document) = text.split_once("<<'KDL'\n")?;
        let (document, _) = document.split_once("\nKDL\n")?;
        Some((line, format!("{document}\n")))
    };
    blocks(name, "sh").into_iter().filter_map(written).collect()
}

/// The code spans of a document.
fn code_spans(name: &str) -> Vec<(usize, String)> {
    let text = fs::read_to_string(root().join(name)).unwrap_or_default();
    let mut spans = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(|code| (number, code.to_owned())));
        }
    }
    spans
}

/// The quoted strings that follow one of these words.
fn quoted_after(text: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        for rest in text.split(&format!("{word}\"")).skip(1) {
            found.extend(rest.split('"').next().map(str::to_owned));
        }
    }
    found
}
