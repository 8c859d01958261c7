//! `relay inspect --canonical` with git itself, as its textconv: one change is one hunk.

use std::fs;

use relay_bundle::Bundle;
use relay_compiler::{OwnProgram, Sources, facts_kdl};
use relay_policy::facts::Facts;

use super::diff_inputs::Repo;
use crate::binaries;
use crate::cli::Sandbox;
use crate::shipped;
use crate::support::Memory;

/// One of everything that repeats what an author wrote: a gate with an index, messages with their
/// own, a generated summary, chapters and description, two environments and twelve renderings.
const PROJECT: &str = r#"project small version="1.0.0" epoch=3 {
    owner "team@example.com"
}
gate on {
    tags ask=3
    index entry=(chars)30
}
tools { diagnostics }
messages {
    session-greeting "The index:\n{{prompt_index}}\nIt ends here."
    read-prompts-reminder "All of them:\n{{prompt_index}}"
}
prompts {
    prompt generated {
        text """
            # A heading

            The first sentence is also a summary. Another one.
            """
    }
    prompt long-name {
        summary "A written summary that is far too long for the index of prompts"
        chapters "One chapter" Two
        text "A short text."
    }
    prompt rendered template=#true {
        summary "A template"
        arg service required=#true { one-of api web queue }
        arg environment default=staging { one-of staging production }
        arg note
        text """
            Deploy {{ service }}.
            {% if environment == "production" %}
            Ask first.
            {% if note %}
            They said {{ note }}.
            {% endif %}
            {% endif %}
            Then look at it.
            """
    }
    prompt filed file="filed.md" { summary "A file" }
    prompt off enabled=#false { text "Off." }
}
resources {
    resource "relay://small/key" { text "ghp_0123456789abcdefghijklmnopqrstuvwxyz"; allow-secret github-token because="an example" }
    resource "relay://small/{room}" template=#true { arg room { one-of hall attic }; text "Of {{ room }}: dust." }
}
"#;

/// A repository with the bundle of [`PROJECT`] in a commit, and git set up to show it.
fn committed() -> Repo {
    let repo = Repo::of(&[
        ("project.kdl", PROJECT),
        ("filed.md", "# A file\n\nOf two lines.\n"),
        (".gitattributes", "*.relay diff=relay\n"),
    ]);
    let relay = format!("{} inspect --canonical --keep-going", binaries::relay().display());
    for (key, value) in [("textconv", relay.as_str()), ("xfuncname", "^== (.*)$")] {
        let mut command = repo.command("git", "repo");
        command.args(["config", &format!("diff.relay.{key}"), value]);
        repo.sandbox.run(command).ends(0);
    }
    build(&repo);
    repo.commit();
    repo
}

fn build(repo: &Repo) {
    repo.relay("build --unsigned --provenance -q -o small.relay").ends(0);
}

/// The lines that git shows of the bundle after a change: the headings of hunks, and what differs.
fn shown(repo: &Repo) -> Vec<String> {
    let diff = repo.git("diff -U0 -- small.relay");
    let lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
    let line = |line: &str| match line.strip_prefix("@@") {
        Some(rest) => rest.split_once("@@ ").map_or("", |(_, heading)| heading).to_owned(),
        None => line.to_owned(),
    };
    lines.map(line).collect()
}

#[test]
fn one_change_is_one_hunk() {
    let repo = committed();
    let bytes = || fs::read(repo.path("small.relay")).expect("a bundle");
    let before = bytes();
    let check = |file: &str, from: &str, to: &str, expected: &[&str]| {
        let path = format!("repo/{file}");
        let text = repo.sandbox.bytes(&path);
        repo.sandbox.edit(&path, from, to);
        build(&repo);
        assert_ne!(bytes(), before, "{to}");
        assert_eq!(shown(&repo), expected, "{to}");
        fs::write(repo.path(file), text).expect("a file");
    };
    let project = "project.kdl";
    check(
        project,
        "The first sentence is",
        "The first line is",
        &[
            "prompt generated",
            "-    The first sentence is also a summary. Another one.",
            "+    The first line is also a summary. Another one.",
        ],
    );
    check(
        project,
        "# A heading",
        "# A title",
        &["prompt generated", "-    # A heading", "+    # A title"],
    );
    check(
        project,
        "A written",
        "This",
        &[
            "prompt long-name",
            "-summary: A written summary that is far too long for the index of prompts",
            "+summary: This summary that is far too long for the index of prompts",
        ],
    );
    check(
        project,
        "\"One chapter\"",
        "\"A chapter\"",
        &["prompt long-name", "-chapter: One chapter", "+chapter: A chapter"],
    );
    // In all twelve renderings, in those of a service, and in those for production.
    check(
        project,
        "Then look at it.",
        "Then watch it.",
        &["prompt rendered", "-    Then look at it.", "+    Then watch it."],
    );
    check(
        project,
        "Ask first.",
        "Ask twice.",
        &["prompt rendered", "-    Ask first.", "+    Ask twice."],
    );
    check(
        project,
        "They said",
        "It says",
        &["prompt rendered", "-    They said {{note}}.", "+    It says {{note}}."],
    );
    check(
        "filed.md",
        "two lines",
        "a line",
        &["prompt filed", "-    Of two lines.", "+    Of a line."],
    );
    check(project, "tags ask=3", "tags ask=4", &["gate", "-tags ask: 3", "+tags ask: 4"]);
    check(
        project,
        "entry=(chars)30",
        "entry=(chars)30 cap=9",
        &[
            "gate",
            "-index: cap=50 over-cap-priority=7 entry=(chars)30 instructions=(chars)2000",
            "+index: cap=9 over-cap-priority=7 entry=(chars)30 instructions=(chars)2000",
        ],
    );
    check(
        project,
        "It ends here.",
        "That is all.",
        &["message session-greeting", "-    It ends here.", "+    That is all."],
    );
    check(
        project,
        "an example",
        "a sample",
        &[
            "suppressions",
            "-    resource relay://small/key: allow-secret github-token, because an example",
            "+    resource relay://small/key: allow-secret github-token, because a sample",
        ],
    );
    check(
        project,
        "dust.",
        "dirt.",
        &[
            "resource template relay://small/{room}",
            "-    Of {{room}}: dust.",
            "+    Of {{room}}: dirt.",
        ],
    );
    check(
        project,
        "prompt off enabled=#false { text \"Off.\" }\n",
        "",
        &["resource template relay://small/{room}", "-== switched off", "-    prompt off", "-"],
    );
    check(project, "epoch=3", "epoch=4", &["", "-epoch: 3", "+epoch: 4"]);
}

#[test]
fn what_means_the_same_is_no_hunk() {
    let repo = committed();
    let before = fs::read(repo.path("small.relay")).expect("a bundle");
    let moved =
        PROJECT.replace("gate on", "\n// A comment.\n\ngate  on").replace("filed.md", "b.md");
    repo.write("project.kdl", &moved);
    fs::rename(repo.path("filed.md"), repo.path("b.md")).expect("a file");
    repo.relay("keygen -o ci").ends(0);
    repo.relay("build --key ci.key --provenance -q -o small.relay").ends(0);
    assert_ne!(fs::read(repo.path("small.relay")).expect("a bundle"), before);
    assert_eq!(repo.git("diff --stat -- small.relay").lines().count(), 2, "git sees other bytes");
    assert_eq!(shown(&repo), [""; 0]);
}

#[test]
fn every_rendering_can_be_read_from_the_whole() {
    let sandbox = Sandbox::of(&[("project.kdl", PROJECT), ("filed.md", "Text.\n")]);
    let text = sandbox.relay("inspect . --canonical").ends(0).silent().stdout;
    let (_, prompt) = text.split_once("== prompt rendered\n").expect("the prompt");
    let (_, body) = prompt.split_once("message: user\n").expect("a message");
    let (body, _) = body.split_once("\n\n==").expect("an end");
    insta::assert_snapshot!(body, @r"
        Deploy {{service}}.

    -- environment: production
        Ask first.

    -- environment: production; note: (given)
        They said {{note}}.

    -- environment: production

    -- always
        Then look at it.
    ");
}

/// Returns the output of git when the bundle in the work tree is `bytes`.
fn shown_as(repo: &Repo, bytes: &[u8]) -> String {
    fs::write(repo.path("small.relay"), bytes).expect("a file");
    repo.git("diff -- small.relay")
}

#[test]
fn a_bundle_that_cannot_be_read_is_shown_as_that() {
    let repo = committed();
    let whole = fs::read(repo.path("small.relay")).expect("a bundle");
    let mut damaged = whole.clone();
    let at = damaged.windows(7).position(|bytes| bytes == b"A short").expect("a text");
    damaged[at] ^= 1;
    let lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    for (bytes, words) in [
        (damaged.as_slice(), "is damaged"),
        (&whole[..whole.len() / 2], "truncated"),
        (b"", "truncated"),
        (lfs.as_slice(), "not a relay bundle"),
    ] {
        let diff = shown_as(&repo, bytes);
        let said = diff.lines().find(|line| line.starts_with("+cannot be read: "));
        assert!(said.is_some_and(|said| said.contains(words)), "{words}: {diff}");
        assert!(!said.is_some_and(|said| said.contains("small.relay")), "{diff}");
        assert!(diff.contains("-== prompt rendered"), "{diff}");
        repo.relay("inspect small.relay --canonical").ends(2);
        repo.relay("inspect small.relay --canonical --keep-going").ends(0).silent();
    }
    // The history stays readable, with one such bundle in it.
    repo.commit();
    fs::write(repo.path("small.relay"), &whole).expect("a file");
    repo.commit();
    let log = repo.git("log -p -- small.relay");
    assert_eq!(log.matches("\ncommit ").count(), 2, "{log}");
    assert!(log.contains("\n+== prompt rendered"), "{log}");
    repo.relay("inspect small.relay --keep-going").ends(2).says("--canonical");
}

/// The canonical source of a bundle is text that its maker wrote; what servers do is in the contents.
#[test]
fn a_source_that_lies_is_not_shown() {
    let project = "project small version=\"1.0.0\" epoch=1
        gate on { index cap=9 }
        policy
        facts {
            program our-deploy tier=1 says=deploys { flags \"--plan\" cap=0; operand text }
            program make tier=0 because=reviewed { rest text }
            environment OURS_A OURS_B because=printed
        }
        prompts { prompt a { summary A; text x } }";
    let sandbox = Sandbox::of(&[("project.kdl", project)]);
    sandbox.relay("build --unsigned -q -o honest.relay").ends(0);
    let honest = sandbox.relay("inspect honest.relay --canonical").ends(0).silent().stdout;
    let facts = "== facts
        program \"our-deploy\" tier=1 says=\"deploys\" {
            flags \"--plan\" cap=0
            operand \"text\"
        }
        program \"make\" tier=0 because=\"reviewed\" {
            rest \"text\"
        }
        environment \"OURS_A\" \"OURS_B\" because=\"printed\"\n";
    assert!(honest.contains(facts), "{honest}");
    assert!(honest.contains("index: cap=9 over-cap-priority=7 "), "{honest}");
    let bundle = Bundle::open(Box::new(sandbox.bytes("honest.relay"))).expect("a bundle");
    let mut contents = bundle.contents().expect("its contents");
    let lie = |text: &str| {
        let text = text.replace("cap=9", "cap=50").replace("\"make\" tier=0", "\"make\" tier=3");
        text.replace("environment \"OURS_A\" \"OURS_B\"", "environment \"OURS_A\"")
    };
    assert_ne!(lie(&contents.canonical), contents.canonical);
    contents.canonical = lie(&contents.canonical);
    let bytes = relay_bundle::encode(&contents).expect("it fits the format");
    fs::write(sandbox.path("lying.relay"), bytes).expect("a file");
    let lying = sandbox.relay("inspect lying.relay --canonical").ends(0).silent().stdout;
    assert_eq!(lying, honest);
    // A reason that fits nothing hides nothing.
    let reasons = &mut contents.review.reasons;
    assert_eq!(reasons.len(), 3);
    reasons.retain(|reason| reason.name != "OURS_B");
    reasons[0].name = "other".into();
    let bytes = relay_bundle::encode(&contents).expect("it fits the format");
    fs::write(sandbox.path("odd.relay"), bytes).expect("a file");
    let odd = sandbox.relay("inspect odd.relay --canonical").ends(0).silent().stdout;
    assert!(odd.contains("program \"make\" tier=0 {"), "{odd}");
    assert!(odd.contains("environment \"OURS_A\" because=\"printed\"\n"), "{odd}");
    assert!(odd.contains("environment \"OURS_B\"\n"), "{odd}");
}

/// The facts of a table, written as nodes and read again, are the same facts.
#[test]
fn facts_as_text_say_what_the_table_says() {
    let shipped = Facts::open(shipped::facts()).expect("the shipped facts");
    let mut expected = shipped.knowledge().without_places().programs;
    let own: Vec<OwnProgram<'_>> =
        expected.iter().map(|program| OwnProgram { program, because: None }).collect();
    let text = facts_kdl(&own, &[]);
    let files = Memory::of(&[("facts.kdl", text.as_str())]);
    let sources = Sources::new(&files, "facts.kdl");
    let (read, diagnostics) = relay_compiler::facts::read(&sources, &["facts.kdl".into()]);
    assert!(!diagnostics.has_errors(), "{}", relay_cli::findings(&sources, &diagnostics));
    let mut read = read.without_places().programs;
    for programs in [&mut expected, &mut read] {
        programs.sort_by(|a, b| a.names.cmp(&b.names));
    }
    assert_eq!(read.len(), expected.len());
    for (read, expected) in read.iter().zip(&expected) {
        assert_eq!(read, expected);
    }
}

#[test]
fn a_project_with_errors_is_an_error() {
    let sandbox = Sandbox::of(&[("project.kdl", "project a version=1.0\n")]);
    sandbox.relay("inspect . --canonical --keep-going").ends(1);
}
