//! The forms of a comparison for programs and pull requests.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::copies;
use crate::cli::schemas::assert_conforms;
use crate::cli::{Run, Sandbox, copy};

const FORMS: [&str; 5] = ["human", "json", "markdown", "sarif", "github"];

/// Returns what the forms for programs print of `a` and `b`; common parts are left out.
pub(super) fn of(sandbox: &Sandbox) -> String {
    let run = |form: &str| sandbox.relay(&format!("diff a b --format {form}")).ends(0).silent();
    let mut text = format!("{}\n----- github\n{}", run("markdown").stdout, run("github").stdout);
    text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    text.push_str("\n----- sarif\n");
    let log = run("sarif").json();
    for result in log["runs"][0]["results"].as_array().expect("results") {
        let place = &result["locations"][0]["physicalLocation"];
        let _ = writeln!(
            text,
            "{} {} {}:{} {} {}",
            word(&result["level"]),
            word(&result["ruleId"]),
            word(&place["artifactLocation"]["uri"]),
            place["region"]["startLine"],
            word(&result["partialFingerprints"]["relayDiff/v1"]),
            result["message"]["text"],
        );
    }
    text.push_str("\n----- json\n");
    let json = run("json").json();
    assert_conforms("diff", &json);
    for finding in json["projects"][0]["findings"].as_array().expect("findings") {
        let _ = writeln!(text, "{finding}");
    }
    text
}

fn word(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Asserts that `loosens` and `tightens` are the direction of a finding and nothing else: a program
/// that searches for them finds what it looks for.
#[track_caller]
pub(super) fn assert_directions(json: &Run) {
    for line in json
        .stdout
        .lines()
        .filter(|line| ["loosen", "tighten"].iter().any(|word| line.contains(word)))
    {
        let line = line.trim().trim_end_matches(',');
        assert!(
            [r#""direction": "loosens""#, r#""direction": "tightens""#].contains(&line),
            "{line}"
        );
    }
}

#[test]
fn every_form_is_the_same_on_every_run_and_in_every_folder() {
    let (one, other) = (copies(), copies());
    for sandbox in [&one, &other] {
        sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
        sandbox.edit("b/project.kdl", "in February", "in March");
    }
    for form in FORMS {
        let line = format!("diff a b --format {form}");
        let first = one.relay(&line).ends(0).silent();
        assert_eq!(one.relay(&line).stdout, first.stdout, "{form}");
        assert_eq!(other.relay(&line).stdout, first.stdout, "{form}");
        let folder = one.path("").display().to_string();
        assert!(!first.stdout.contains(&folder), "{form}");
        assert!(!first.stdout.contains('\u{1b}'), "{form}");
    }
}

#[test]
fn no_difference_has_its_form_too() {
    let sandbox = copies();
    let markdown = sandbox.relay("diff a b --format markdown").ends(0).silent().stdout;
    assert!(
        markdown.starts_with(
            "<!-- relay-diff garden -->\n### relay · no difference in meaning\n\n<sub>"
        ),
        "{markdown}"
    );
    let sarif = sandbox.relay("diff a b --format sarif").ends(0).json();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
    let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notes[0]["message"]["text"], "no difference in meaning");
    let github = sandbox.relay("diff a b --format github").ends(0).stdout;
    assert_eq!(github, "::notice title=relay diff::no difference in meaning\n");
}

#[test]
fn a_fingerprint_survives_a_moved_line() {
    let sandbox = copies();
    sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
    sandbox.edit("b/project.kdl", "in February", "in March");
    let results = || {
        let log = sandbox.relay("diff a b --format sarif").ends(0).json();
        let results = log["runs"][0]["results"].as_array().expect("results").clone();
        let facts = |result: &Value| {
            let region = &result["locations"][0]["physicalLocation"]["region"];
            (result["partialFingerprints"].clone(), region["startLine"].as_u64().expect("a line"))
        };
        results.iter().map(facts).collect::<Vec<_>>()
    };
    let before = results();
    let text = sandbox.read("b/project.kdl");
    fs::write(sandbox.path("b/project.kdl"), format!("// One.\n// Two.\n{text}")).expect("a file");
    // A message that nobody wrote is at the first line.
    let moved = |line: u64| if line == 1 { 1 } else { line + 2 };
    let moved: Vec<_> = before.iter().map(|(print, line)| (print.clone(), moved(*line))).collect();
    assert_eq!(results(), moved);
    assert_eq!(moved.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [9, 1, 34]);
}

#[test]
fn paths_are_those_of_a_checkout() {
    let sandbox = Sandbox::new();
    let base = crate::support::root().join("tests/cli/diff/base");
    copy(&base, &sandbox.path("old"));
    copy(&base, &sandbox.path("teams/garden"));
    let uri = |run: &Run| {
        let place = &run.json()["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        (word(&place["artifactLocation"]["uri"]).to_owned(), place["region"]["startLine"].clone())
    };
    let gone = "    prompt tools-of-visitors priority=2 {\n        summary \"What visitors may borrow\"\n        chapters Visitors\n        text \"Visitors borrow what hangs on the left wall.\"\n    }\n";
    sandbox.edit("teams/garden/notes/watering.md", "Water at six", "Water at five");
    let changed = sandbox.relay("diff old teams/garden --format sarif").ends(0);
    assert_eq!(uri(&changed).0, "teams/garden/notes/watering.md");
    sandbox.edit("teams/garden/notes/watering.md", "Water at five", "Water at six");
    sandbox.edit("teams/garden/project.kdl", gone, "");
    let removed = sandbox.relay("diff old teams/garden --only surface --format sarif").ends(0);
    assert_eq!(uri(&removed).0, "teams/garden/project.kdl");
    // An empty side lacks a document.
    let all_gone = sandbox.relay("diff teams/garden /dev/null --format sarif").ends(0);
    assert_eq!(uri(&all_gone), ("teams/garden/project.kdl".into(), 1.into()));
    // In a revision, paths begin at the repository's root.
    for line in ["init -q -b main .", "add .", "-c user.name=a -c user.email=b commit -q -m c"] {
        let mut git = sandbox.command("git");
        git.args(line.split_whitespace());
        sandbox.run(git).ends(0);
    }
    let of_a_commit =
        sandbox.relay("diff main:old main:teams/garden --only surface --format sarif");
    assert_eq!(uri(&of_a_commit).0, "teams/garden/project.kdl");
    let of_the_index = sandbox.relay("diff old :teams/garden --only surface --format sarif");
    assert_eq!(uri(&of_the_index).0, "teams/garden/project.kdl");
}

/// Two projects whose second has `count` prompts more, and a gate less.
fn with_many_prompts(count: usize) -> Sandbox {
    let sandbox = copies();
    let prompt = |number: usize| {
        format!(
            "    prompt extra-{number:04} priority=1 {{\n        summary \"Extra\"\n        chapters Extra\n        text \"Extra {number}.\"\n    }}\n"
        )
    };
    let prompts: String = (0..count).map(prompt).collect();
    sandbox.edit(
        "b/project.kdl",
        "prompts {\n    prompt stop",
        &format!("prompts {{\n{prompts}    prompt stop"),
    );
    sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
    sandbox.edit("b/project.kdl", "in February", "in March");
    sandbox
}

#[test]
fn markdown_fits_and_counts_what_does_not() {
    let sandbox = with_many_prompts(400);
    let all = sandbox.relay("diff a b --json").ends(0).json();
    let count = |area: &str| {
        let findings = all["projects"][0]["findings"].as_array().expect("findings").iter();
        // Texts that agents always get stay unfolded.
        findings.filter(|it| it["area"] == area && it["always"] == false).count()
    };
    for chars_max in [2_000, 2_500, 5_000, 20_000, 60_000] {
        let line = format!("diff a b --format markdown --max-chars {chars_max}");
        let text = sandbox.relay(&line).ends(0).silent().stdout;
        assert!(text.encode_utf16().count() <= chars_max, "{chars_max}");
        assert!(
            text.starts_with(
                "<!-- relay-diff garden -->\n### relay · 1 change loosens authority\n"
            )
        );
        assert!(text.contains("| ▲ loosens | gate: `unlock`"), "{text}");
        assert!(text.ends_with("</sub>\n"), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        // What is listed and what is counted is all of it.
        for (area, name) in [("contexts", "Contexts"), ("surface", "Surface")] {
            let Some((_, section)) = text.split_once(&format!("<summary>{name}: ")) else {
                panic!("no {name} in {chars_max} characters:\n{text}")
            };
            let section = section.split("</details>").next().expect("a section");
            let listed = section.lines().filter(|line| line.starts_with("**")).count();
            let more: usize = section
                .lines()
                .find_map(|line| line.strip_prefix("and ")?.strip_suffix(" more"))
                .map_or(0, |number| number.replace(',', "").parse().expect("a number"));
            assert_eq!(listed + more, count(area), "{name} in {chars_max} characters");
        }
    }
    let whole = sandbox.relay("diff a b --format markdown --max-chars 1000000").ends(0).stdout;
    let counts = |line: &str| line.starts_with("and ") && line.ends_with(" more");
    assert!(!whole.lines().any(counts), "{whole}");
    sandbox.relay("diff a b --format markdown --max-chars 1999").ends(2).says("from 2000");
    sandbox.relay("diff a b --json --max-chars 5000").ends(2).says("is for `--format markdown`");
}

#[test]
fn annotations_and_results_have_their_limits() {
    let sandbox = with_many_prompts(1_200);
    let text = sandbox.relay("diff a b --format github").ends(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("::error file=b/project.kdl,line=7,"), "{}", lines[0]);
    let notices = lines.iter().filter(|line| line.starts_with("::notice ")).count();
    assert!(lines[1].starts_with("::warning file=b/project.kdl,line=1,"), "{}", lines[1]);
    assert_eq!((notices, lines.len()), (10, 12), "{text}");
    let all = sandbox.relay("diff a b --json").ends(0).json();
    let all = all["projects"][0]["findings"].as_array().expect("findings").len();
    let last = lines.last().expect("a line");
    assert!(
        last.ends_with(&format!("%0Aand {} more that are not listed", grouped(all - 12))),
        "{last}"
    );
    let log = sandbox.relay("diff a b --format sarif").ends(0).json();
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 1_000);
    assert_eq!(results[0]["level"], "error");
    let note = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(*note, format!("{} more findings not listed", grouped(all - 1_000)));
}

/// Returns a number below a million with a comma between thousands.
fn grouped(number: usize) -> String {
    if number < 1_000 {
        number.to_string()
    } else {
        format!("{},{:03}", number / 1_000, number % 1_000)
    }
}

#[test]
fn a_comment_of_many_projects_fits_too() {
    let sandbox = Sandbox::new();
    sandbox.write("new/.keep", "");
    sandbox.write("base.kdl", "project p version=\"1.0.0\" epoch=1\nprompts { prompt p { summary \"S\"; chapters C; text \"T\" } }\n");
    sandbox.relay("build base.kdl --unsigned -o base.relay").ends(0);
    let bundle = relay_bundle::Bundle::open(Box::new(sandbox.bytes("base.relay"))).unwrap();
    let mut contents = bundle.contents().unwrap();
    for number in 0..40 {
        // What is longest when it is quoted.
        let ticks = "`".repeat(100);
        contents.manifest.project.value = format!("{ticks}{number}");
        contents.manifest.version.as_mut().unwrap().value.clone_from(&ticks);
        fs::write(
            sandbox.path(format!("new/{number}.relay")),
            relay_bundle::encode(&contents).unwrap(),
        )
        .expect("a file");
    }
    for chars_max in [2_000, 4_000, 60_000] {
        let line = format!("diff /dev/null new --format markdown --max-chars {chars_max}");
        let text = sandbox.relay(&line).ends(0).silent().stdout;
        assert!(text.encode_utf16().count() <= chars_max, "{chars_max}: {text}");
        assert!(text.contains("40 of 40 projects differ"), "{text}");
        assert!(text.ends_with("</sub>\n"), "{text}");
    }
}

#[test]
fn several_projects_are_one_comment() {
    let sandbox = Sandbox::new();
    let document = |name: &str, text: &str| {
        format!(
            "project {name} version=\"1.0.0\" epoch=1\nprompts {{ prompt p {{ summary \"S\"; chapters C; text \"{text}\" }} }}\n"
        )
    };
    for (folder, text) in [("old", "One."), ("new", "Two.")] {
        for name in ["east", "west"] {
            sandbox.write(&format!("{folder}-{name}.kdl"), &document(name, text));
            fs::create_dir_all(sandbox.path(folder)).expect("a folder");
            sandbox
                .relay(&format!("build {folder}-{name}.kdl --unsigned -o {folder}/{name}.relay"))
                .ends(0);
        }
    }
    let text = sandbox.relay("diff old new --format markdown").ends(0).stdout;
    assert!(text.starts_with("<!-- relay-diff -->\n"), "{text}");
    assert!(text.contains("2 of 2 projects differ"), "{text}");
    assert!(text.contains("**~** `east` prompt `p`: `text`"), "{text}");
    assert!(text.contains("**~** `west` prompt `p`: `text`"), "{text}");
    sandbox
        .relay("diff old new --fail-on contexts")
        .ends(1)
        .says("error: `--fail-on contexts`: prompt `p`: text of `east` (fingerprint ")
        .says(", and 1 more");
}
