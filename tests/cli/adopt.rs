//! Adoption of folders as they are: marks of other programs, files below, agent skills with all their files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::cli::Sandbox;

/// The rows of a report about a file.
fn rows<'r>(report: &'r Value, file: &str) -> Vec<&'r Value> {
    let rows = report["report"].as_array().expect("rows").iter();
    rows.filter(|row| row["file"] == file).collect()
}

fn reason(row: &Value) -> &str {
    row["reason"].as_str().unwrap_or_default()
}

#[test]
fn commands_with_marks_are_taken_and_the_project_says_so() {
    let sandbox = Sandbox::of(&[
        (
            ".claude/commands/fix.md",
            "---\ndescription: Fixes an issue\n---\nFix $1 of $2.\n\nState: !`git status`\n",
        ),
        (
            ".claude/commands/plan.md",
            "Read @docs/plan.md and @docs/goals.md. Then plan $ARGUMENTS.\n",
        ),
        (".claude/commands/plain.md", "Run the tests.\n"),
        (".github/prompts/ask.prompt.md", "Ask for ${input:name} and use #tool:search.\n"),
        (".gemini/commands/log.toml", "prompt = \"\"\"\nSum up:\n!{git log}\n@{a.md}\n\"\"\"\n"),
        (
            ".claude/skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF.\n---\nSee !`date`.\n",
        ),
    ]);
    let report = sandbox.relay("import --name team --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    let left_out: Vec<_> = report["report"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["becomes"].is_null())
        .collect();
    assert!(left_out.is_empty(), "{report:#}");
    for (file, line, words) in [
        (
            ".claude/commands/fix.md",
            4,
            "agents read $1, $2 as text: relay fills in `$ARGUMENTS` alone",
        ),
        (".claude/commands/fix.md", 6, "agents read !`git status` as text: relay runs no command"),
        (
            ".claude/commands/plan.md",
            1,
            "@docs/plan.md, @docs/goals.md as text: relay includes no file",
        ),
        (".github/prompts/ask.prompt.md", 1, "${input:name}"),
        (".github/prompts/ask.prompt.md", 1, "#tool:search"),
        (".gemini/commands/log.toml", 3, "!{git log}"),
        (".gemini/commands/log.toml", 4, "@{a.md}"),
        (".claude/skills/pdf/SKILL.md", 5, "!`date`"),
    ] {
        let is_it = |row: &&&Value| row["line"] == line && reason(row).contains(words);
        let found = rows(&report, file);
        assert_eq!(found.iter().filter(is_it).count(), 1, "{file}:{line} {words}: {report:#}");
    }
    // The folder itself is exact as far as its files are.
    let folder = rows(&report, ".claude/commands");
    assert_eq!(
        (&folder[0]["outcome"], &folder[0]["becomes"]),
        (&"exact".into(), &"1 prompt".into())
    );
    for line in
        ["allow-mark argument because=", "allow-mark command because=", "allow-mark file because="]
    {
        assert!(project.contains(line), "{line}: {project}");
    }
    sandbox.relay("check . --strict").ends(0).prints("no errors, no warnings");
    sandbox.relay("fmt . --check").ends(0);
    let said = sandbox.relay("explain . --prompt fix").ends(0).stdout;
    assert!(said.contains("Fix $1 of $2.") && said.contains("!`git status`"), "{said}");
}

#[test]
fn a_suppression_of_marks_is_reviewed() {
    let project = |allowed: &str| {
        format!("project a epoch=1\nprompts {{ commands \"c\" {{ {allowed} }} }}\n")
    };
    let sandbox = Sandbox::of(&[
        ("a/project.kdl", &project("")),
        ("b/project.kdl", &project("allow-mark command because=\"agents\\nrun it\"")),
    ]);
    for folder in ["a", "b"] {
        sandbox.write(&format!("{folder}/c/state.md"), "State: !`git status`\n");
        sandbox.write(&format!("{folder}/c/plain.md"), "Run the tests.\n");
    }
    sandbox.relay("check a --strict").ends(1).prints("allow-mark command because=");
    sandbox.relay("check b --strict").ends(0);
    // It names the prompts that need it, and changes no authority.
    let inspected = sandbox.relay("inspect b --canonical").ends(0).stdout;
    let held = "\n    prompt state: allow-mark command, because agents\\nrun it\n";
    assert!(inspected.contains(held), "{inspected}");
    let shown = "        // allow-mark (of its folder): \"command\" because=\"agents run it\"\n";
    sandbox.relay("show b").ends(0).prints(shown);
    sandbox.relay("diff a b --fail-on loosens").ends(0).prints("allow-mark `command`");
    sandbox.write("b/c/state.md", "State: clean.\n");
    sandbox.relay("check b").ends(0).prints("`allow-mark command` suppresses nothing");
    // Keys of the authors themselves are a note.
    sandbox.write("a/c/state.md", "---\ndescription: State\nowner: us\n---\nState.\n");
    sandbox.relay("check a --strict").ends(0).prints("no client is known to read `owner`");
}

#[test]
fn instructions_of_folders_below_are_prompts_for_them() {
    let sandbox = Sandbox::of(&[
        ("CLAUDE.md", "Run the tests first.\n"),
        ("packages/api/AGENTS.md", "Errors have types.\n"),
        ("packages/api/CLAUDE.md", "@AGENTS.md\n"),
        ("packages/web/CLAUDE.md", "No default exports.\n"),
        ("packages/copy/CLAUDE.md", "No default exports.\n"),
        ("node_modules/x/AGENTS.md", "Theirs.\n"),
        (".hidden/AGENTS.md", "Hidden.\n"),
        ("packages/web/.claude/commands/ship.md", "Ship it.\n"),
        ("packages/web/.cursor/rules/a.mdc", "Rule.\n"),
    ]);
    symlink("AGENTS.md", sandbox.path("packages/api/GEMINI.md")).expect("a link");
    symlink("../packages", sandbox.path("packages/loop")).expect("a link");
    let report = sandbox.relay("import --name team --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    assert!(project.contains("prompt \"packages/api/agents\" file="), "{project}");
    assert!(project.contains("\"Instructions for work in packages/api\""), "{project}");
    assert!(project.contains("prompt claude priority=10"), "{project}");
    assert!(!report.to_string().contains("node_modules") && !report.to_string().contains("hidden"));
    for (file, words) in [
        ("packages/api/CLAUDE.md", "include `packages/api/AGENTS.md`"),
        ("packages/api/GEMINI.md", "its text is that of `packages/api/AGENTS.md`"),
        ("packages/web/CLAUDE.md", "its text is that of `packages/copy/CLAUDE.md`"),
        ("packages/api/AGENTS.md", "programs use it for `packages/api/**`"),
        ("packages/web/.claude/commands", "import `packages/web` as a project of its own"),
        ("packages/web/.cursor/rules", "import `packages/web` as a project of its own"),
    ] {
        assert!(
            rows(&report, file).iter().any(|row| reason(row).contains(words)),
            "{file}: {report:#}"
        );
    }
    sandbox.relay("check . --strict").ends(0);
    sandbox.relay("import packages/web --dry-run").ends(0).prints("commands \".claude/commands\"");
}

#[test]
fn an_agent_skill_is_exported_with_all_its_files() {
    let skill =
        "---\nname: pdf\ndescription: Fills forms.\nlicense: MIT\n---\nRun scripts/fill.py.\n";
    let sandbox = Sandbox::of(&[
        ("first/.claude/skills/pdf/SKILL.md", skill),
        ("first/.claude/skills/pdf/scripts/fill.py", "print('x')\n"),
        ("first/.claude/skills/pdf/a b/ü.txt", "ü\n"),
        (
            "first/.claude/skills/pdf/inner/SKILL.md",
            "---\nname: inner\ndescription: Is inside.\n---\nIn.\n",
        ),
        (
            "first/.claude/skills/tools/run/SKILL.md",
            "---\nname: run\ndescription: Runs.\nlicense: MIT\n---\nRun.\n",
        ),
        ("first/.claude/skills/nameless/SKILL.md", "---\nlicense: MIT\n---\nNo name.\n"),
        ("first/.claude/skills/nameless/more.md", "More.\n"),
    ]);
    fs::write(sandbox.path("first/.claude/skills/pdf/form.bin"), [0, 159, 146, 150])
        .expect("a file");
    sandbox.write(
        "first/project.kdl",
        "project team version=\"0.1.0\" epoch=1\nprompts { agent-skills \".claude/skills\" }\n",
    );
    let run = sandbox.relay("export agent-skill first -o second/.claude/skills").ends(0);
    let run = run.prints("prompt pdf: second/.claude/skills/pdf/SKILL.md and 4 other files");
    assert!(
        !run.stdout.contains("changes (") && !run.stdout.contains("left out ("),
        "{}",
        run.stdout
    );
    let files = |folder: &str| -> BTreeSet<(String, Vec<u8>)> {
        let files = sandbox.files().into_iter().filter_map(|path| {
            let inside = path.strip_prefix(&format!("{folder}/.claude/"))?.to_owned();
            Some((inside, sandbox.bytes(&path)))
        });
        files.collect()
    };
    assert_eq!(files("first"), files("second"));
    // An import of them is the same project.
    fs::remove_dir_all(sandbox.path("second/.claude/skills/nameless")).expect("the folder");
    fs::remove_dir_all(sandbox.path("first/.claude/skills/nameless")).expect("the folder");
    sandbox.relay("import second --name team").ends(0);
    sandbox.relay("build first --unsigned -q -o first.relay").ends(0);
    sandbox.relay("build second --unsigned -q -o second.relay").ends(0);
    sandbox.relay("diff first.relay second.relay").ends(0).prints("no difference");
    // Forms of one file have no place for the others.
    let run = sandbox.relay("export command first -o commands").ends(0);
    let run = run.prints("it is an agent skill with 4 other files");
    run.prints("`license` of its `SKILL.md` is dropped");
    assert!(!sandbox.path("commands/pdf.md").exists());
    let text = sandbox.read("commands/tools/run.md");
    assert_eq!(text, "---\ndescription: Runs.\n---\nRun.\n");
    // The permission to run a script is not in a bundle.
    sandbox.write("first/.claude/skills/pdf/run.sh", "#!/bin/sh\necho\n");
    let report =
        sandbox.relay("export agent-skill first -o third --name pdf --json").ends(0).json();
    let row = &report["report"][0];
    assert_eq!(row["outcome"], "changes", "{report:#}");
    assert!(row["reasons"].to_string().contains("`run.sh` is written without the permission"));
    assert_eq!(row["beside"].as_array().map(Vec::len), Some(5), "{report:#}");
}

#[test]
fn copies_of_skills_for_other_programs_are_taken_once() {
    let skill = |name: &str| {
        format!("---\nname: {name}\ndescription: Does {name}.\nsource: ours\n---\nDo it.\n")
    };
    let sandbox = Sandbox::new();
    for (folder, name) in [
        (".claude", "deploy"),
        (".agents", "deploy"),
        (".agents", "plan"),
        (".cursor", "plan"),
        (".codex", "deploy"),
    ] {
        sandbox.write(&format!("{folder}/skills/{name}/SKILL.md"), &skill(name));
    }
    sandbox.write(".cursor/commands/ship.md", "Ship it.\n");
    sandbox.write(".opencode/commands/ship.md", "Ship it, too.\n");
    let report = sandbox.relay("import --name team --json").ends(0).json();
    for (file, other) in [
        (".agents/skills/deploy/SKILL.md", ".claude/skills/deploy/SKILL.md"),
        (".cursor/skills/plan/SKILL.md", ".agents/skills/plan/SKILL.md"),
        (".codex/skills/deploy/SKILL.md", ".claude/skills/deploy/SKILL.md"),
    ] {
        let rows = rows(&report, file);
        assert_eq!(reason(rows[0]), format!("`{other}` has its name"), "{report:#}");
    }
    let project = sandbox.read("project.kdl");
    assert_eq!(project.matches("agent-skills ").count(), 2, "{project}");
    assert!(project.contains("commands \".opencode/commands\" prefix=opencode-"), "{project}");
    // A key of the authors' own is a note.
    sandbox
        .relay("check . --strict")
        .ends(0)
        .prints("a key is not of the specification of agent skills");
}

#[test]
fn slips_with_one_correction_leave_no_command_out() {
    let sandbox = Sandbox::of(&[
        (
            ".claude/commands/rule.md",
            "---\ndescription: Makes a rule\nargument-hint: [name] [text]\nowner: us\n---\nMake it: $ARGUMENTS\n",
        ),
        (".claude/commands/fix.md", "---\ndescription: Fix: all of it\n---\nFix it.\n"),
    ]);
    let report = sandbox.relay("import --name team --json").ends(0).json();
    assert_eq!(report["report"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(report["report"][0]["becomes"], "2 prompts");
    let check = sandbox.relay("check . --strict").ends(0);
    let check = check.prints("repaired: ").prints("no client is known to read `owner`");
    let check = check.prints("and 1 more like it: .claude/commands/rule.md:3");
    check.prints("no errors, no warnings");
}
