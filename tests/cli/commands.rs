//! Folders of commands as teams have them: they build at the first try.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;

use crate::cli::{Sandbox, project};

/// A file of a folder: its path, and its bytes.
type File = (String, Vec<u8>);

/// The number of folders, and of all files in them.
const FOLDERS: usize = 40;
const FILES: usize = 997;

/// Bodies of commands, with what other programs expand and what only looks like it.
const BODIES: [&str; 10] = [
    "Fix the issue $ARGUMENTS. Then run the tests.\n",
    "# Plan 🚀\n\nMake a plan with the team 👩‍💻 for $1.\n",
    "Review the change. It costs $5.00 or $1,000 a day.\n",
    "Update @storybook/sveltekit and add @app.route(\"/x\").\n",
    "Run `{SCRIPT}` for __AGENT__ and read ${CLAUDE_PLUGIN_ROOT}/rules.txt.\n",
    "State: !`git status`\n\nSee @src/main.rs and ${input:name}.\n",
    "```sh\nexport SLACK_BOT_TOKEN=\"xoxb-YOUR-BOT-TOKEN\"\n```\n\nSet the token first.\n",
    "Look for -----BEGIN RSA PRIVATE KEY----- and AKIAIOSFODNN7EXAMPLE.\n",
    "| a | b |\n| --- | --- |\n| ü | 日本 |\n\nFill in the table.\n",
    "Write {{args}} as <$ARGUMENTS>.\n\n---\n\nEnd: of it.\n",
];

/// Front matter as people write it, faults included that other programs forgive.
const HEADS: [&str; 14] = [
    "",
    "---\ndescription: Makes it\n---\n",
    "---\ndescription: Makes it: all of it\n---\n",
    "---\nargument-hint: [issue] [branch]\n---\n",
    "---\nallowed-tools: Bash(git:*), Read\nmodel: opus\n---\n\n",
    "---\nagent: Plan\ntools: ['search', 'edit']\n---\n",
    "---\ndescription: \"first line\nsecond line\"\n---\n",
    "---\ndescription:\n---\n",
    "---\ndescription: d\nhandoffs:\n\t- label: Next\n\t  agent: plan\n---\n",
    "--- \ndescription: d\n---  \n",
    "---\nname: x\nversion: 1.2\nauthor: me\ntags:\n  - one # first\n---\n",
    "---\n\n# A rule first\n\n---\n\n",
    "\n---\ndescription: after a blank line\n---\n",
    "+++\ndescription = \"toml\"\n+++\n",
];

/// Names of files below a folder.
const NAMES: [&str; 8] = [
    "fix",
    "git/commit",
    "skills/review/SKILL",
    "deep/er/and/deeper/plan",
    "two words",
    "u\u{308}ber",
    "日本",
    "spec.plan",
];

/// Returns the files of one folder. Each folder has another mix of names, heads and line ends.
fn folder(number: usize, count: usize) -> Vec<File> {
    let mut files = vec![("README.md".to_owned(), b"# Our commands\n\nOne a file.\n".to_vec())];
    let apple = [&[0, 5, 0x16, 7, 0, 2, 0, 0][..], b"Mac OS X        "].concat();
    files.push(("._fix-0.md".into(), apple));
    for index in 0..count - files.len() {
        let name = NAMES[(index + number) % NAMES.len()];
        let ending = if (index + number).is_multiple_of(5) { ".prompt.md" } else { ".md" };
        let head = HEADS[(index * 3 + number) % HEADS.len()];
        let body = BODIES[(index + number * 7) % BODIES.len()];
        let text = format!("{head}{body}");
        let text = match (index + number) % 9 {
            0 => text.replace('\n', "\r\n"),
            1 => format!("\u{feff}{text}"),
            2 => text.replace('\n', "\r"),
            _ => text,
        };
        files.push((format!("{name}-{index}{ending}"), text.into_bytes()));
    }
    files
}

#[test]
fn forty_folders_build_at_the_first_try() {
    let sandbox = Sandbox::new();
    let mut written = 0;
    for number in 0..FOLDERS {
        let count = FILES / FOLDERS + usize::from(number < FILES % FOLDERS);
        let name = format!("f{number}");
        let files = folder(number, count);
        written += files.len();
        for (path, bytes) in &files {
            let path = sandbox.path(format!("{name}/c/{path}"));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
        if number.is_multiple_of(3) {
            sandbox.write(&format!("{name}/shared/linked.md"), "Linked $ARGUMENTS.\n");
            let link = sandbox.path(format!("{name}/c/linked.md"));
            symlink("../shared/linked.md", link).expect("a link");
        }
        sandbox.write(&format!("{name}/project.kdl"), &project("prompts { commands \"c\" }\n"));
        let found = sandbox.relay(&format!("check {name} --format json")).ends(0).json();
        assert_eq!(found["errors"], 0, "{name}: {found:#}");
        // A kind is a code; marks are of five kinds.
        let joined = sandbox.relay(&format!("check {name} --format github")).ends(0).stdout;
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for line in joined.lines() {
            let code = line.split_once("title=").and_then(|(_, rest)| rest.split("::").next());
            *kinds.entry(code.expect("a code")).or_default() += 1;
        }
        let most = |code: &str| if code.ends_with("not_expanded") { 5 } else { 1 };
        assert!(
            kinds.iter().all(|(code, count)| *count <= most(code)),
            "{name}: {kinds:?}\n{joined}"
        );
        // Each file but the README and the attributes of macOS is a prompt.
        let shown = sandbox.relay(&format!("describe {name} --json")).ends(0).json();
        let prompts = shown["prompts"].as_array().map_or(0, Vec::len);
        let linked = usize::from(number.is_multiple_of(3));
        // The project has a prompt besides.
        assert_eq!(prompts, files.len() - 2 + linked + 1, "{name}");
    }
    assert_eq!(written, FILES);
}

#[test]
fn a_link_within_the_project_is_followed() {
    let sandbox = Sandbox::of(&[
        ("project.kdl", &project("prompts { commands \"c\" }\n")),
        ("shared/a.md", "---\ndescription: Shared\n---\nText $ARGUMENTS.\n"),
        ("c/b.md", "Own.\n"),
    ]);
    symlink("../shared/a.md", sandbox.path("c/a.md")).expect("a link");
    sandbox.relay("check . --strict").ends(0);
    sandbox.relay("build . --unsigned -o linked.relay").ends(0);
    // A copy of the file in the place of the link gives the same bundle.
    std::fs::remove_file(sandbox.path("c/a.md")).expect("the link");
    sandbox.write("c/a.md", "---\ndescription: Shared\n---\nText $ARGUMENTS.\n");
    sandbox.relay("build . --unsigned -o copied.relay").ends(0);
    assert_eq!(sandbox.bytes("linked.relay"), sandbox.bytes("copied.relay"));
}

#[test]
fn equal_faults_of_a_folder_are_one_report() {
    let sandbox = Sandbox::new();
    let node = "prompts { commands \"c\" front-matter=required }\n";
    sandbox.write("project.kdl", &project(node));
    for index in 10..70 {
        sandbox.write(&format!("c/c{index}.md"), "Do it.\n");
    }
    let run = sandbox.relay("check .").ends(1);
    let run = run.prints("matter=optional` on the folder takes such files");
    let run = run.prints("and 59 more like it: c/c11.md:1, c/c12.md:1, c/c13.md:1");
    assert!(run.stdout.lines().count() < 15, "{}", run.stdout);
    // The forms for machines have a finding a place.
    let found = sandbox.relay("check . --format json").ends(1).json();
    assert_eq!(found["errors"], 60);
    let findings = found["diagnostics"].as_array().expect("findings");
    assert_eq!(findings.len(), 60);
    for (finding, index) in findings.iter().zip(10..) {
        assert_eq!(finding["file"], format!("c/c{index}.md"));
        assert_eq!(finding["labels"].as_array().map(Vec::len), Some(1));
        assert!(finding["help"].as_str().expect("a help").contains("matter=optional"), "{finding}");
    }
    let sarif = sandbox.relay("check . --format sarif").ends(1).json();
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let prints: BTreeSet<_> = results
        .iter()
        .map(|result| result["partialFingerprints"]["relayFinding/v1"].as_str())
        .collect();
    assert_eq!((results.len(), prints.len()), (60, 60));
    // GitHub shows ten annotations of a step.
    let github = sandbox.relay("check . --format github").ends(1).stdout;
    assert_eq!(github.lines().count(), 1, "{github}");
    assert!(github.contains("c/c69.md:1:1"), "{github}");
    let short = sandbox.relay("check . --format short").ends(1).stdout;
    assert_eq!(short.lines().filter(|line| line.contains("front_matter::missing")).count(), 60);
}

#[test]
fn what_people_type_is_appended_to_a_command_with_a_hint() {
    let sandbox = Sandbox::of(&[
        ("project.kdl", &project("prompts { commands \"c\" }\n")),
        ("c/hint.md", "---\nargument-hint: <issue>\n---\nFix it.\n"),
        ("c/place.md", "---\nargument-hint: <issue>\n---\nFix $ARGUMENTS now.\n"),
        ("c/none.md", "Fix it.\n"),
    ]);
    let explain = |prompt: &str, arguments: &str| {
        let line = ["explain", ".", "--prompt", prompt, "--arguments", arguments, "--json"];
        let run = sandbox.relay_of(&line);
        run.json()["messages"][0]["content"][0]["text"].as_str().map(str::to_owned)
    };
    let given = r#"{"arguments": "no 12"}"#;
    for (prompt, arguments, expected) in [
        ("hint", given, Some("Fix it.\n\nno 12")),
        ("hint", "{}", Some("Fix it.\n")),
        ("hint", r#"{"arguments": ""}"#, Some("Fix it.\n")),
        ("place", given, Some("Fix no 12 now.\n")),
        ("none", "{}", Some("Fix it.\n")),
    ] {
        assert_eq!(explain(prompt, arguments).as_deref(), expected, "{prompt} {arguments}");
    }
    let line = ["explain", ".", "--prompt", "none", "--arguments", given];
    sandbox.relay_of(&line).prints("unknown argument `arguments`");
}

#[test]
fn commands_are_in_no_instructions() {
    let command = "---\ndescription: Ships\n---\nShip it.\n";
    for gate in ["", "gate on\n"] {
        let node = "prompts { prompt naming { text \"Names are short.\" }; commands \"c\" }\n";
        let sandbox = Sandbox::of(&[
            ("project.kdl", &project(&format!("{gate}{node}"))),
            ("c/ship.md", command),
        ]);
        let described = sandbox.relay("describe .").ends(0).stdout;
        let (instructions, _) = described.split_once("It can call").expect("the tools");
        assert!(instructions.contains("- naming"), "{described}");
        assert!(!instructions.contains("- ship"), "{described}");
    }
}
