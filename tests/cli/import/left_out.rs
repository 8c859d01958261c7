//! The files that `relay import` leaves out, each with its reason.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{is_sound, left_out};
use crate::cli::Sandbox;

#[test]
fn refused_files_are_left_out_with_the_reason() {
    let secret = "Deploy with AKIAIOSFODNN7EXAMPLQ.\n";
    let sandbox = Sandbox::of(&[
        ("CLAUDE.md", "Text.\n"),
        ("AGENTS.md", secret),
        (".cursor/rules/hidden.mdc", "---\nalwaysApply: true\n---\nA\u{202e}B\n"),
        (".cursor/rules/empty.mdc", "---\nalwaysApply: true\n---\n"),
        (".cursor/rules/marks.mdc", "---\nalwaysApply: true\n---\nWrite {{ name }}.\n"),
        (".cursor/rules/large.mdc", &"x".repeat(100_001)),
        ("skills/broken.yaml", "kind: Skill\nmetadata: [\n"),
        ("skills/alias.yaml", "kind: Skill\nmetadata: &a { name: x }\nspec: *a\n"),
        (
            "skills/long.yaml",
            &format!(
                "kind: Skill\nmetadata: {{ name: long }}\nspec: {{ context: {{ instructions: {} }} }}\n",
                "x".repeat(2001)
            ),
        ),
        ("skills/other.yaml", "kind: Deployment\nmetadata: [\n"),
        (".gemini/commands/broken.toml", "prompt = \n"),
        (
            ".gemini/commands/../../prompts.yaml",
            "- name: a\n  content: x\n- name: a\n  content: y\n- name: a/../../b\n  content: z\n",
        ),
    ]);
    fs::write(sandbox.path(".cursorrules"), b"\xff\xfe").expect("a file");
    let run = sandbox.relay("import --json").ends(0);
    assert!(!run.stdout.contains("AKIAIOSFODNN7EXAMPLQ"), "{}", run.stdout);
    let report = run.json();
    let rows = report["report"].as_array().expect("rows");
    for (file, reason) in [
        ("AGENTS.md", "secret::"),
        (".cursor/rules/hidden.mdc", "invisible::"),
        (".cursor/rules/empty.mdc", "::"),
        (".cursor/rules/large.mdc", "over the limit of 100000"),
        (".cursorrules", "not UTF-8"),
        ("skills/broken.yaml", ""),
        ("skills/alias.yaml", "&…"),
        ("skills/long.yaml", "skill::too_long"),
        (".gemini/commands/broken.toml", "not TOML"),
        ("prompts.yaml", "another prompt is called `a`"),
        ("prompts.yaml", "its name is unusable"),
    ] {
        let is_it = |row: &&Value| {
            row["outcome"] == "left_out"
                && row["file"] == file
                && row["reason"].as_str().unwrap_or_default().contains(reason)
        };
        assert!(rows.iter().any(|row| is_it(&row)), "{file} {reason}: {report:#}");
    }
    assert!(!report.to_string().contains("other.yaml"), "{report:#}");
    let allowed = rows.iter().find(|row| row["file"] == "AGENTS.md").expect("a row");
    assert!(allowed["reason"].as_str().unwrap_or_default().contains("allow-secret"), "{allowed}");
    assert!(sandbox.read("project.kdl").contains("marks.mdc\" front-matter=drop template=#false"));
    is_sound(&sandbox, "refused");
}

#[test]
fn a_folder_of_which_nothing_is_left_gets_no_project() {
    let deep = |text: &str| text.repeat(50_000);
    let sandbox = Sandbox::of(&[
        (".cursor/rules/deep.mdc", &format!("---\n{}\n---\n", deep("a: {"))),
        (".gemini/commands/deep.toml", &format!("prompt = {}\n", deep("["))),
        ("prompts.json", &deep("[")),
        ("deep.yaml", &format!("kind: Skill\nspec: {}\n", deep("["))),
        ("huge.yaml", &format!("kind: Skill\n{}\n", "x".repeat(1024 * 1024))),
    ]);
    symlink("/dev/zero", sandbox.path("CLAUDE.md")).expect("a link");
    let before = sandbox.files();
    let run = sandbox.relay("import").ends(1).says("no project was written");
    for file in ["deep.mdc", "deep.toml", "prompts.json", "deep.yaml", "huge.yaml", "CLAUDE.md"] {
        assert!(run.stdout.contains(file), "{file}: {}", run.stdout);
    }
    assert_eq!(sandbox.files(), before);
    assert!(sandbox.relay("import --json").ends(1).json()["project"].is_null());
}

#[test]
fn a_refused_command_is_left_out() {
    let sandbox = Sandbox::of(&[
        ("CLAUDE.md", "Text.\n"),
        (".claude/commands/deploy.md", "Deploy with AKIAIOSFODNN7EXAMPLQ.\n"),
        (".claude/commands/review.md", "---\ntitle: a\ntitle: b\n---\nReview $ARGUMENTS.\n"),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let codes = [("deploy.md", "secret::literal"), ("review.md", "front_matter::duplicate_key")];
    for (file, code) in codes {
        let is_it = |row: &&Value| {
            row["file"].as_str().unwrap_or_default().ends_with(file)
                && row["outcome"] == "left_out"
                && row["reason"].as_str().unwrap_or_default().starts_with(code)
        };
        let rows = report["report"].as_array().expect("rows");
        assert_eq!(rows.iter().filter(is_it).count(), 1, "{file}: {report:#}");
    }
    is_sound(&sandbox, "command");
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let sandbox = Sandbox::of(&[("outside/secret.md", "Outside.\n"), ("in/CLAUDE.md", "Text.\n")]);
    let links = [
        ("../outside/secret.md", "in/AGENTS.md"),
        ("../../../outside/secret.md", "in/.cursor/rules/a.mdc"),
        ("../../../outside", "in/.claude/rules/all"),
    ];
    for (target, link) in links {
        fs::create_dir_all(sandbox.path(link).parent().expect("a folder")).expect("a folder");
        symlink(target, sandbox.path(link)).expect("a link");
    }
    let report = sandbox.relay("import in --json").ends(0).json();
    let left_out = report["report"].as_array().expect("rows").iter();
    let left_out: Vec<_> = left_out.filter(|row| row["outcome"] == "left_out").collect();
    assert_eq!(left_out.len(), 3, "{report:#}");
    sandbox.relay("check in --strict").ends(0);
    assert!(!report.to_string().contains("Outside."), "{report:#}");
}

#[test]
fn another_spelling_of_an_agent_skill_leaves_that_file_out() {
    let sandbox = Sandbox::of(&[
        (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n"),
        (".claude/skills/docs/skill.md", "---\nname: docs\ndescription: Writes.\n---\nText.\n"),
        (".claude/skills/draft.md", "A draft.\n"),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    assert!(project.contains("exclude \"docs/skill.md\""), "{project}");
    let reasons = left_out(&report, ".claude/skills/docs/skill.md");
    assert_eq!(reasons, ["its name is another spelling of `SKILL.md`"], "{report:#}");
    assert!(report.to_string().contains("1 agent skill"), "{report:#}");
    is_sound(&sandbox, "skills");
}

const SECRET: &str = "Deploy with AKIAIOSFODNN7EXAMPLQ.\n";

#[test]
fn names_with_the_letters_of_patterns_exclude_themselves_alone() {
    let sandbox = Sandbox::of(&[
        (".claude/commands/[draft].md", SECRET),
        (".claude/commands/what?.md", SECRET),
        (".claude/commands/whats.md", "Say it.\n"),
        (".claude/commands/d.md", "Draft.\n"),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    assert!(
        project.contains("\"[[]draft].md\"") && project.contains("\"what[?].md\""),
        "{project}"
    );
    assert_eq!(left_out(&report, ".claude/commands/[draft].md").len(), 1, "{report:#}");
    assert!(report.to_string().contains("\"2 prompts\""), "{report:#}");
    is_sound(&sandbox, "patterns");
    // A name that is too long for a pattern takes its folder along, and each file has a row.
    let long = format!(".claude/commands/{}/{}/x.md", "a".repeat(200), "b".repeat(100));
    let sandbox = Sandbox::of(&[
        (long.as_str(), SECRET),
        (".claude/commands/good.md", "Good.\n"),
        ("CLAUDE.md", "Text.\n"),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    for file in [long.as_str(), ".claude/commands/good.md"] {
        assert_eq!(left_out(&report, file).len(), 1, "{file}: {report:#}");
    }
    is_sound(&sandbox, "long");
}

#[test]
fn a_refused_file_of_an_agent_skill_leaves_that_skill_out() {
    let sandbox = Sandbox::of(&[
        (".claude/skills/bad/SKILL.md", "---\nname: bad\ndescription: Deploys it.\n---\nText.\n"),
        (".claude/skills/bad/ref.md", SECRET),
        (
            ".claude/skills/good/SKILL.md",
            "---\nname: good\ndescription: Fills forms.\n---\nText.\n",
        ),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    assert!(project.contains("exclude \"bad/*\""), "{project}");
    let reasons = left_out(&report, ".claude/skills/bad/ref.md");
    assert!(reasons.iter().any(|reason| reason.starts_with("secret::")), "{report:#}");
    assert_eq!(left_out(&report, ".claude/skills/bad/SKILL.md").len(), 1, "{report:#}");
    assert!(report.to_string().contains("1 agent skill"), "{report:#}");
    is_sound(&sandbox, "skills");
}

#[test]
fn a_link_to_a_file_of_the_project_is_that_file() {
    let skill = "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n";
    let sandbox = Sandbox::of(&[
        ("shared/review.md", "Review it.\n"),
        ("shared/pdf.md", skill),
        (".claude/commands/mine.md", "Mine.\n"),
        (".claude/skills/own/SKILL.md", &skill.replace("pdf", "own")),
    ]);
    fs::create_dir_all(sandbox.path(".claude/skills/pdf")).expect("a folder");
    for (target, link) in [
        ("../../shared/review.md", ".claude/commands/review.md"),
        ("../../../shared/pdf.md", ".claude/skills/pdf/SKILL.md"),
        ("../../../shared/review.md", ".claude/skills/pdf/more.md"),
    ] {
        symlink(target, sandbox.path(link)).expect("a link");
    }
    let report = sandbox.relay("import --json").ends(0).json();
    let rows = report["report"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["outcome"] == "exact"), "{report:#}");
    let described = sandbox.relay("describe .").ends(0);
    let described = described.prints("review").prints("pdf");
    assert!(described.stdout.contains("own"), "{}", described.stdout);
    is_sound(&sandbox, "links");
}

#[test]
fn a_file_that_cannot_be_read_is_left_out_alone() {
    let skill = "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n";
    let sandbox = Sandbox::of(&[
        (".claude/commands/good.md", "Good.\n"),
        (".claude/commands/a\nb.md", "A name of two lines.\n"),
        (".claude/commands/notes.txt", "Not a command.\n"),
        (".claude/skills/pdf/SKILL.md", skill),
        (".claude/skills/linked/SKILL.md", &skill.replace("pdf", "linked")),
        (".claude/skills/linked/deep/notes.md", "Notes.\n"),
    ]);
    fs::create_dir_all(sandbox.path(".claude/skills/away")).expect("a folder");
    for (target, link) in [
        ("/etc/passwd", ".claude/commands/passwd.md"),
        ("/etc", ".claude/commands/etc"),
        ("missing.md", ".claude/commands/lost.md"),
        ("/etc/passwd", ".claude/skills/linked/deep/passwd"),
        ("/etc/passwd", ".claude/skills/away/SKILL.md"),
        ("/etc", ".claude/skills/etc"),
    ] {
        symlink(target, sandbox.path(link)).expect("a link");
    }
    fs::write(sandbox.path(".claude/commands").join(OsStr::from_bytes(b"q\xff.md")), "x")
        .expect("a file");
    let report = sandbox.relay("import --json").ends(0).json();
    for (file, reason) in [
        (".claude/commands/a\nb.md", "control or invisible character"),
        (".claude/commands/passwd.md", "a link out of the project"),
        (".claude/commands/etc/", "a link out of the project"),
        (".claude/commands/lost.md", "not found"),
        (".claude/commands/q\u{fffd}.md", "not UTF-8"),
        (".claude/skills/linked/deep/passwd", "a link out of the project"),
        (".claude/skills/linked/SKILL.md", "left out with `.claude/skills/linked/deep/passwd`"),
        (".claude/skills/away/SKILL.md", "a link out of the project"),
        (".claude/skills/etc/", "a link out of the project"),
    ] {
        let reasons = left_out(&report, file);
        assert!(reasons.len() == 1 && reasons[0].contains(reason), "{file}: {report:#}");
    }
    let rows = report["report"].as_array().expect("rows");
    let kept: Vec<_> = rows.iter().filter(|row| row["outcome"] == "exact").collect();
    assert_eq!(kept.len(), 2, "{report:#}");
    is_sound(&sandbox, "links");
}
