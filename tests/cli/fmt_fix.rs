//! `relay fmt --fix`: the corrections of diagnostics, written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::Value;

use crate::cli::Sandbox;
use crate::support::root;

const HEAD: &str = "project small version=\"1\" epoch=1\n";

/// A slip and its correction.
struct Slip {
    /// The code of its diagnostic.
    code: &'static str,
    /// The file, with the slip.
    path: &'static str,
    before: String,
    after: String,
}

/// A slip in `project.kdl`, whose first line is always the same.
fn document(code: &'static str, before: &str, after: &str) -> Slip {
    let [before, after] = [before, after].map(|text| format!("{HEAD}{text}\n"));
    Slip { code, path: "project.kdl", before, after }
}

/// A slip in a prompt of a folder.
fn prompt(code: &'static str, before: &str, after: &str) -> Slip {
    let [before, after] = [before, after].map(str::to_owned);
    Slip { code, path: "notes/a.md", before, after }
}

const BODY: &str = "Names are short. They say it all.\n";

fn slips() -> Vec<Slip> {
    let syntax = "kdl::syntax";
    let inline = |text: &str| format!("prompts {{ prompt a {{ {text}; text \"T\" }} }}");
    let kdl = |before: &str, after: &str| document(syntax, &inline(before), &inline(after));
    let matter = |line: &str| format!("---\n{line}\n---\n{BODY}");
    let yaml = |code, before: &str, after: &str| prompt(code, &matter(before), &matter(after));
    vec![
        kdl("summary 'It is short'", "summary \"It is short\""),
        kdl("summary 'It isn't long'", "summary \"It isn't long\""),
        kdl("summary `Short`", "summary \"Short\""),
        kdl("summary “It is short”", "summary \"It is short\""),
        kdl("summary „Kurz“", "summary \"Kurz\""),
        kdl("summary «Court»", "summary \"Court\""),
        kdl("summary \"S\"/-\"T\"", "summary \"S\" /-\"T\""),
        document(
            syntax,
            "prompts { prompt a enabled=true { text \"T\" } }",
            "prompts { prompt a enabled=#true { text \"T\" } }",
        ),
        document(
            syntax,
            "prompts { prompt a priority=8, enabled=#true { text \"T\" } }",
            "prompts { prompt a priority=8 enabled=#true { text \"T\" } }",
        ),
        document(
            syntax,
            "prompts { prompt a title=\"S\", priority=8 { text \"T\" } }",
            "prompts { prompt a title=\"S\" priority=8 { text \"T\" } }",
        ),
        document(
            syntax,
            "prompts { prompt a title=\"S\",priority=8 { text \"T\" } }",
            "prompts { prompt a title=\"S\" priority=8 { text \"T\" } }",
        ),
        document(
            syntax,
            "# A comment, and its author's.\nprompts { prompt a { text \"T\" } }",
            "// A comment, and its author's.\nprompts { prompt a { text \"T\" } }",
        ),
        document(
            syntax,
            "gate true\nprompts { prompt a { text \"T\" } }",
            "gate on\nprompts { prompt a { text \"T\" } }",
        ),
        document(
            "node::extra_argument",
            "prompts { prompt a { summary It is short; text \"T\" } }",
            "prompts { prompt a { summary \"It is short\"; text \"T\" } }",
        ),
        document(
            "node::extra_argument",
            "roles { role a tier=1 role b }\nusers { user u role=a; anyone role=b }\nprompts { prompt a { text \"T\" } }",
            "roles { role a tier=1; role b }\nusers { user u role=a; anyone role=b }\nprompts { prompt a { text \"T\" } }",
        ),
        yaml("front_matter::yaml", "description: [a] [b]", "description: \"[a] [b]\""),
        yaml("front_matter::yaml", "description: a: b", "description: \"a: b\""),
        yaml("front_matter::yaml", "description:About", "description: About"),
        yaml(
            "front_matter::yaml",
            "description: D\nchapters:\n\t- One\n\t- Two",
            "description: D\nchapters:\n  - One\n  - Two",
        ),
        yaml("front_matter::wrong_type", "description: 42", "description: \"42\""),
        yaml(
            "front_matter::no_description",
            "title: T",
            "description: \"Names are short.\"\ntitle: T",
        ),
        yaml(
            "front_matter::no_description",
            "description:\ntitle: T",
            "description: \"Names are short.\"\ntitle: T",
        ),
        prompt("front_matter::missing", BODY, &matter("description: \"Names are short.\"")),
        prompt(
            "front_matter::spaces",
            &format!("--- \ndescription: D\n---\n{BODY}"),
            &matter("description: D"),
        ),
        prompt(
            "front_matter::spaces",
            &format!("---\ndescription: D\n---\t\n{BODY}"),
            &matter("description: D"),
        ),
        prompt(
            "front_matter::unclosed",
            &format!("---\ndescription: D\n --- \n{BODY}"),
            &matter("description: D"),
        ),
    ]
}

impl Slip {
    /// Makes a project that has this slip alone.
    fn sandbox(&self) -> Sandbox {
        let project = format!("{HEAD}prompts {{\n    folder notes\n}}\n");
        Sandbox::of(&[("project.kdl", &project), (self.path, &self.before)])
    }
}

/// Returns the findings of `relay check`.
fn findings(sandbox: &Sandbox) -> Vec<Value> {
    let report = sandbox.relay("check . --json").json();
    report["diagnostics"].as_array().expect("a list").clone()
}

/// Returns how often each code is found.
fn codes(findings: &[Value]) -> BTreeMap<String, usize> {
    let mut codes = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding["code"].as_str().expect("a code").to_owned()).or_default() += 1;
    }
    codes
}

#[test]
fn every_correction_removes_its_finding_and_adds_none() {
    for slip in slips() {
        let (code, before) = (slip.code, &slip.before);
        let sandbox = slip.sandbox();
        let found = findings(&sandbox);
        let with_fix: Vec<_> =
            found.iter().filter(|it| it["edits"] != Value::from([] as [u8; 0])).collect();
        assert_eq!(with_fix.len(), 1, "{before}\n{found:#?}");
        assert_eq!(with_fix[0]["code"], code, "{before}");
        let run = sandbox.relay("fmt . --fix");
        assert!(run.stderr.starts_with("fixed "), "{before}\n{run:?}");
        assert!(run.stderr.contains(&format!("({code})")), "{before}\n{run:?}");
        // The layout of a document is another matter.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let fixed = sandbox.read(slip.path);
        match slip.path.ends_with(".kdl") {
            true => assert_eq!(words(&fixed), words(&slip.after)),
            false => assert_eq!(fixed, slip.after),
        }
        let mut expected = codes(&found);
        let left = expected.get_mut(code).expect("it was found");
        *left -= 1;
        // What followed from the slip may be gone too, such as an undeclared role.
        for (code, count) in codes(&findings(&sandbox)) {
            assert!(expected.get(&code).is_some_and(|known| count <= *known), "{code}: {fixed}");
        }
        let again = sandbox.relay("fmt . --fix");
        assert!(!again.stderr.contains("fixed"), "{again:?}");
        assert_eq!(sandbox.read(slip.path), fixed);
    }
}

#[test]
fn every_code_that_can_be_corrected_is_tried() {
    let text = fs::read_to_string(root().join("docs/diagnostics.md")).expect("UTF-8");
    let sections = text.split("\n### ").skip(1);
    let marked = sections.filter(|section| section.contains("\n- fix: `relay fmt --fix`"));
    let marked: BTreeSet<_> = marked.filter_map(|section| section.lines().next()).collect();
    assert_eq!(marked, slips().iter().map(|slip| slip.code).collect());
}

#[test]
fn the_choices_of_an_author_are_not_made() {
    let documents = [
        "promts { prompt a { text \"T\" } }",
        "prompts { prompt a title=\"\\d\" { text \"T\" } }",
        "prompts { prompt a { summary Hello, world; text \"T\" } }",
        "prompts { prompt a { summary \"A\" \"B\"; text \"T\" } }",
        "prompts { prompt a { summary It /* never */ is; text \"T\" } }",
        "prompts { prompt a { summary It /-never is; text \"T\" } }",
        "prompts { prompt a { summary 'rock 'n' roll'; text \"T\" } }",
        "prompts { prompt a { summary \"open; text \"T\" } }",
        "#{\nprompts { prompt a { text \"T\" } }",
        "prompts { prompt a true=1 { text \"T\" } }",
    ];
    for text in documents {
        let before = format!("{HEAD}{text}\n");
        let sandbox = Sandbox::of(&[("project.kdl", &before)]);
        let run = sandbox.relay("fmt . --fix");
        assert!(!run.stderr.contains("fixed"), "{text}: {run:?}");
        assert!(run.stderr.contains("left for you: `relay check` prints them"), "{text}: {run:?}");
    }
}

/// A first sentence before front matter, and a `description` beside one, would be wrong.
#[test]
fn misplaced_front_matter_is_left_to_its_author() {
    let files = [
        ("front_matter::missing", "\n---\ndescription: D\n---\nOne. Two.\n"),
        ("front_matter::missing", "+++\ndescription = \"D\"\n+++\nOne. Two.\n"),
        ("front_matter::no_description", "---\n---\ndescription: D\n---\nOne. Two.\n"),
        ("front_matter::no_description", "---\ntitle: T\n---\ndescription: D\n---\nOne. Two.\n"),
        ("front_matter::spaces", "---\ntitle: T\n--- \ndescription: D\n---\nOne. Two.\n"),
    ];
    for (code, before) in files {
        let sandbox = prompt(code, before, before).sandbox();
        let found = findings(&sandbox);
        assert_eq!(codes(&found).get(code), Some(&1), "{before}\n{found:#?}");
        let run = sandbox.relay("fmt . --fix");
        assert!(!run.stderr.contains("fixed"), "{before}\n{run:?}");
        assert_eq!(sandbox.read("notes/a.md"), before);
    }
}

#[test]
fn every_file_of_a_joined_finding_is_corrected() {
    let sandbox = Sandbox::of(&[
        (
            "project.kdl",
            &format!("{HEAD}prompts {{\n    commands cmds front-matter=required\n}}\n"),
        ),
        ("cmds/a.md", "One. Two.\n"),
        ("cmds/b.md", "Three. Four.\n"),
        ("cmds/c.md", "---\ndescription: D\ntitle: a: b\n---\nFive.\n"),
        ("cmds/d.md", "---\ndescription: c: d\n--- \ntitle: no key\n"),
        ("cmds/e.md", "--- \ndescription: E\n---\nSix.\n"),
    ]);
    let joined = [
        ("front_matter::missing", ["cmds/a.md", "cmds/b.md"]),
        ("front_matter::yaml", ["cmds/c.md", "cmds/d.md"]),
        ("front_matter::spaces", ["cmds/d.md", "cmds/e.md"]),
    ];
    let found = findings(&sandbox);
    let log = sandbox.relay("check . --format sarif").ends(1).json();
    let results = log["runs"][0]["results"].as_array().expect("a list");
    for (code, files) in joined {
        let of_code: Vec<_> = found.iter().filter(|finding| finding["code"] == code).collect();
        let edited = of_code.iter().map(|finding| &finding["edits"][0]["file"]);
        assert_eq!(edited.collect::<Vec<_>>(), files, "{code}");
        let uris = results
            .iter()
            .filter(|result| result["ruleId"] == code)
            .map(|result| &result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"]);
        assert_eq!(uris.collect::<Vec<_>>(), files, "{code}");
    }
    let run = sandbox.relay("fmt . --fix").ends(0);
    let fixed = run.stderr.lines().filter(|line| line.starts_with("fixed cmds/")).count();
    assert_eq!(fixed, 6, "{run:?}");
    assert_eq!(sandbox.read("cmds/b.md"), "---\ndescription: \"Three.\"\n---\nThree. Four.\n");
    assert_eq!(sandbox.read("cmds/d.md"), "---\ndescription: \"c: d\"\n---\ntitle: no key\n");
    assert_eq!(findings(&sandbox), Vec::<Value>::new());
}

/// A `SKILL.md` with a slip is served, so the slip is a note.
#[test]
fn an_agent_skill_is_corrected() {
    let sandbox = Sandbox::of(&[
        ("project.kdl", &format!("{HEAD}prompts {{\n    agent-skills packs\n}}\n")),
        ("packs/one/SKILL.md", "---\nname: one\ndescription: Use: often\n---\nOne.\n"),
        ("packs/two/SKILL.md", "---\nname: two\ndescription: Use: rarely\n---\nTwo.\n"),
    ]);
    assert_eq!(codes(&findings(&sandbox)).get("front_matter::yaml"), Some(&2));
    sandbox.relay("check . --strict").ends(0);
    sandbox.relay("fmt . --fix").ends(0);
    for (name, use_) in [("one", "often"), ("two", "rarely")] {
        let text = sandbox.read(&format!("packs/{name}/SKILL.md"));
        assert!(text.contains(&format!("\ndescription: \"Use: {use_}\"\n")), "{text}");
    }
    assert_eq!(codes(&findings(&sandbox)).get("front_matter::yaml"), None);
}

#[test]
fn a_check_with_fix_changes_nothing() {
    let sandbox = Sandbox::of(&[
        ("project.kdl", &format!("{HEAD}prompts {{\n    folder notes\n}}\n")),
        ("notes/a.md", "---\ntitle: a: b\nsummary: 4\n---\nOne. Two.\n"),
    ]);
    let before = sandbox.read("notes/a.md");
    let run = sandbox.relay("fmt . --fix --check").ends(1);
    assert!(run.stderr.contains("would fix notes/a.md:2:8: "), "{run:?}");
    for line in ["+description: \"One.\"", "-title: a: b", "+title: \"a: b\"", "+summary: \"4\""] {
        assert!(run.stdout.lines().any(|other| other == line), "no line `{line}`: {run:?}");
    }
    assert_eq!(sandbox.read("notes/a.md"), before);
    sandbox.relay("fmt . --fix").ends(0);
    assert_eq!(
        sandbox.read("notes/a.md"),
        "---\ndescription: \"One.\"\ntitle: \"a: b\"\nsummary: \"4\"\n---\nOne. Two.\n"
    );
    let again = sandbox.relay("fmt . --fix --check").ends(0).silent();
    assert_eq!(again.stdout, "");
}

#[test]
fn a_line_with_two_slips_is_corrected_in_one_run() {
    let text = format!(
        "{HEAD}prompts {{ prompt a title='S', priority=8, enabled=true {{ text 'T' }} }}\n"
    );
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    sandbox.relay("fmt . --fix").ends(0);
    let fixed = sandbox.read("project.kdl");
    let line = r#"prompts { prompt a title="S" priority=8 enabled=#true { text "T" } }"#;
    assert!(fixed.lines().any(|other| other == line), "{fixed}");
    sandbox.relay("check .").ends(0);
}

/// The front matter is corrected a few slips at a time.
#[test]
fn corrections_that_are_left_are_counted() {
    let lines: String = (0..405).map(|key| format!("k{key}:v\n")).collect();
    let matter = format!("---\n{lines}---\n{BODY}");
    let sandbox = prompt("front_matter::yaml", &matter, "").sandbox();
    let run = sandbox.relay("fmt . --fix");
    assert!(run.stderr.contains("6 corrections left: run `relay fmt --fix` again\n"), "{run:?}");
    let run = sandbox.relay("fmt . --fix");
    assert!(!run.stderr.contains("corrections left: run"), "{run:?}");
    assert_eq!(codes(&findings(&sandbox)).get("front_matter::yaml"), None);
}

/// The name of the password is outside of the edit.
#[test]
fn a_correction_prints_no_secret() {
    let [colon, quotes] = ["K7q2Zp9xab: c", "\"K7q2Zp9xab\" c"].map(|value| {
        let before = format!("---\npassword: {value}\n---\n{BODY}");
        prompt("front_matter::yaml", &before, "")
    });
    let line = "summary password: K7q2Zp9xab";
    let words =
        document("kdl::syntax", &format!("prompts {{ prompt a {{ {line}; text \"T\" }} }}"), "");
    for slip in [colon, quotes, words] {
        let sandbox = slip.sandbox();
        for format in ["json", "sarif"] {
            let run = sandbox.relay(&format!("check . --format {format}")).ends(1);
            assert!(run.stdout.contains(slip.code), "{run:?}");
            assert!(!run.stdout.contains("K7q2Zp9xab"), "{run:?}");
        }
    }
}

#[test]
fn sarif_has_the_correction() {
    let slip = &slips()[0];
    let sandbox = slip.sandbox();
    let log = sandbox.relay("check . --format sarif").ends(1).json();
    let change = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "project.kdl");
    let replacement = &change["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "\"It is short\"");
    assert_eq!(replacement["deletedRegion"]["startLine"], 2);
}

#[test]
fn other_line_ends_stay() {
    let sandbox = Sandbox::of(&[
        ("project.kdl", &format!("{HEAD}prompts {{\n    folder notes\n}}\n")),
        ("notes/a.md", "---\r\ntitle: T\r\n---\r\nOne. Two.\r\n"),
        ("notes/b.md", "One. Two.\r\nThree.\r\n"),
    ]);
    sandbox.relay("fmt . --fix").ends(0);
    let described = "---\r\ndescription: \"One.\"\r\n";
    assert_eq!(sandbox.read("notes/a.md"), format!("{described}title: T\r\n---\r\nOne. Two.\r\n"));
    assert_eq!(sandbox.read("notes/b.md"), format!("{described}---\r\nOne. Two.\r\nThree.\r\n"));
}

#[test]
fn a_file_that_is_saved_meanwhile_is_left() {
    let sandbox = Sandbox::new();
    // Long paths fill the pipe, so `relay` waits in the middle of its work for this test to read on.
    let folder = format!("prompts/{}", "long/".repeat(60));
    sandbox.write("project.kdl", "project p epoch=1\nprompts { folder \"prompts\" }\n");
    let path = |number: usize| format!("{folder}{number:03}.md");
    let slip = "---\ndescription: 5\n---\nSay five.\n";
    (0..500).for_each(|number| sandbox.write(&path(number), slip));
    let mut command = sandbox.command(crate::binaries::relay());
    command.args(["fmt", ".", "--fix"]).stdin(Stdio::null()).stdout(Stdio::null());
    let mut relay = command.stderr(Stdio::piped()).spawn().expect("relay starts");
    let mut stderr = BufReader::new(relay.stderr.take().expect("its standard error"));
    let mut log = String::new();
    stderr.read_line(&mut log).expect("a line");
    // The files were read, and none is written yet.
    let saved = "---\ndescription: 6\n---\nSay six.\n";
    assert_eq!(sandbox.read(&path(499)), slip);
    sandbox.write(&path(7), saved);
    fs::remove_file(sandbox.path(path(8))).expect("the file");
    stderr.read_to_string(&mut log).expect("the rest");
    let code = relay.wait().expect("relay ends").code();
    assert_eq!(code, Some(1), "{log}");
    assert_eq!(log.matches("it changed meanwhile").count(), 2, "{log}");
    assert_eq!(sandbox.read(&path(7)), saved);
    assert!(!sandbox.path(path(8)).exists());
    let fixed = slip.replace('5', "\"5\"");
    assert_eq!((sandbox.read(&path(6)), sandbox.read(&path(499))), (fixed.clone(), fixed));
    // The next run corrects the rest.
    sandbox.relay("fmt . --fix").ends(0);
    assert!(sandbox.read(&path(7)).contains("\"6\""));
}
