//! `relay import`: a project of the files of other programs.

mod left_out;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::binaries;
use crate::cli::Sandbox;
use crate::support::root;

/// A kind of file: its name, its files, and a line of the project that it becomes.
type Kind = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const GDPR: &str = "\
apiVersion: gostoa.dev/v1alpha1
kind: Skill
metadata:
  name: compliance-gdpr
  namespace: tenant-acme
spec:
  displayName: GDPR Compliance Context
  description: Injects GDPR compliance instructions
  scope:
    type: tenant
    tenantId: acme
    toolPattern: \"api-*\"
  context:
    instructions: |
      When processing data through this tool:
      - Never include personal data in logs
  metadata:
    regulation: GDPR
    reviews: 3
    isPublic: true
  priority: 100
---
apiVersion: gostoa.dev/v1alpha1
kind: Skill
metadata: { name: request-id }
spec:
  scope: { type: global }
  context: { instructions: Attach a request id to each call. }
  priority: 10
---
kind: Skill
metadata: { name: brief }
spec:
  scope: { type: user, userId: john@acme.example }
  context: { instructions: Answer in short sentences. }
---
kind: Skill
metadata: { name: approval }
spec:
  scope: { type: tool, toolPattern: api-create }
  context: { instructions: Amounts above 10000 need an approval id. }
";

const PROMPTS: &str = r##"[
  {"name": "common-mistakes", "priority": 9, "summary": "Mistakes that cost hours", "chapters": ["Pairing"],
   "content": "# Pairing\n\nPair near the hub.\n"},
  {"name": "vpn", "content": "The VPN needs a cable.\n"},
  {"name": "elsewhere", "linkTarget": "other/server", "content": "x"}
]
"##;

const KINDS: [Kind; 13] = [
    (
        "commands",
        &[
            (
                ".claude/commands/review.md",
                "---\ndescription: Review a change\nargument-hint: [path]\n---\nReview $ARGUMENTS.\n",
            ),
            (".claude/commands/git/commit.md", "Write a commit message.\n"),
        ],
        "    commands \".claude/commands\"",
    ),
    (
        "skills",
        &[
            (
                ".claude/skills/deploy/SKILL.md",
                "---\nname: deploy\ndescription: Deploys a service.\n---\nRun the script.\n",
            ),
            (".claude/skills/deploy/scripts/run.sh", "echo\n"),
        ],
        "    agent-skills \".claude/skills\"",
    ),
    (
        "CLAUDE.md",
        &[("CLAUDE.md", "Run the tests first.\n")],
        "    prompt claude priority=10 file=\"CLAUDE.md\"",
    ),
    (
        "AGENTS.md",
        &[("AGENTS.md", "Ask first.\n")],
        "    prompt agents priority=10 file=\"AGENTS.md\"",
    ),
    (
        "rules",
        &[
            (".claude/rules/api.md", "---\npaths:\n  - \"src/**\"\n---\nErrors have types.\n"),
            (".claude/rules/naming.md", "Names are kebab-case.\n"),
        ],
        "    prompt naming priority=10 file=\".claude/rules/naming.md\"",
    ),
    (
        "cursor",
        &[
            (
                ".cursor/rules/web/typescript.mdc",
                "---\ndescription: How we write TypeScript\nglobs: *.ts\nalwaysApply: false\n---\nNo default exports.\n",
            ),
            (
                ".cursor/rules/commits.mdc",
                "---\ndescription: Language of commits\nalwaysApply: true\n---\nCommits are in English.\n",
            ),
        ],
        "    prompt commits priority=10 file=\".cursor/rules/commits.mdc\" front-matter=drop",
    ),
    (
        "cursorrules",
        &[(".cursorrules", "Small functions.\n")],
        "    prompt cursorrules priority=10 file=\".cursorrules\"",
    ),
    (
        "github prompts",
        &[(".github/prompts/plan.prompt.md", "---\ndescription: Plan a feature\n---\nPlan it.\n")],
        "    commands \".github/prompts\"",
    ),
    (
        "github instructions",
        &[(
            ".github/instructions/python.instructions.md",
            "---\napplyTo: \"**/*.py\"\ndescription: How we write Python\n---\nUse type hints.\n",
        )],
        "    prompt python file=\".github/instructions/python.instructions.md\" front-matter=drop",
    ),
    (
        "copilot",
        &[(".github/copilot-instructions.md", "Use tabs.\n")],
        "    prompt copilot-instructions priority=10 file=\".github/copilot-instructions.md\"",
    ),
    (
        "gemini",
        &[
            (
                ".gemini/commands/explain.toml",
                "description = \"Explain a file\"\nprompt = \"Explain {{args}}.\"\n",
            ),
            (
                ".gemini/commands/git/log.toml",
                "prompt = \"\"\"\nRead the log.\nSay {{args}}.\n\"\"\"\n",
            ),
        ],
        "    commands \"imported/gemini-commands\"",
    ),
    (
        "skills",
        &[("skills/acme.yaml", GDPR)],
        "        skill request-id \"Attach a request id to each call.\" priority=10",
    ),
    ("prompt list", &[("prompts.json", PROMPTS)], "    folder \"imported/prompts\""),
];

#[test]
fn each_kind_alone_becomes_a_project_without_a_finding() {
    for (name, files, line) in KINDS {
        let sandbox = Sandbox::of(files);
        sandbox.relay("import --name team").ends(0);
        let project = sandbox.read("project.kdl");
        assert!(project.lines().any(|each| each.starts_with(line)), "{name}: {line}\n{project}");
        is_sound(&sandbox, name);
    }
}

#[test]
fn all_kinds_together_become_one_project() {
    let sandbox = everything();
    let report = sandbox.relay("import --name team --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    for (name, _, line) in KINDS {
        assert!(project.lines().any(|each| each.starts_with(line)), "{name}: {line}\n{project}");
    }
    is_sound(&sandbox, "all");
    // Each file is in the report.
    let rows = report["report"].as_array().expect("rows");
    for (name, files, _) in KINDS {
        for (path, _) in files {
            let is_in = |row: &Value| path.starts_with(row["file"].as_str().expect("a path"));
            assert!(rows.iter().any(is_in), "{name}: {path}");
        }
    }
    assert_eq!(report["is_written"], true);
    assert_eq!(report["files"][0]["text"], project.as_str());
    // Agents get the texts after removal of the parts for other programs.
    let text = |name: &str| sandbox.relay(&format!("explain . --prompt {name}")).ends(0).stdout;
    assert!(text("commits").contains("| Commits are in English."), "{}", text("commits"));
    assert!(!text("commits").contains("alwaysApply"), "{}", text("commits"));
    assert!(text("web/typescript").contains("| No default exports."));
    assert!(text("explain").contains("Explain "), "{}", text("explain"));
    assert!(text("common-mistakes").contains("| Pair near the hub."));
    let context = "explain . --tenant acme --tool api-create";
    let context = sandbox.relay(context).ends(0).stdout;
    for skill in ["Attach a request id", "Never include personal data", "Amounts above 10000"] {
        assert!(context.contains(skill), "{skill}: {context}");
    }
}

/// Checks that the project of a folder is clean in every verb.
fn is_sound(sandbox: &Sandbox, name: &str) {
    let project = sandbox.read("project.kdl");
    assert!(project.lines().count() <= 60, "{name}: {project}");
    let check = sandbox.relay("check .").ends(0).silent();
    assert!(check.stdout.contains("no errors, no warnings in "), "{name}: {}", check.stdout);
    sandbox.relay("fmt . --check").ends(0);
    sandbox.relay("build . --unsigned -q -o team.relay").ends(0);
    sandbox.relay("describe team.relay").ends(0).prints("It can request ");
}

/// A folder with files of every kind.
fn everything() -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, text) in KINDS.iter().flat_map(|(_, files, _)| files.iter()) {
        sandbox.write(path, text);
    }
    sandbox
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let written = || {
        let sandbox = everything();
        let report = sandbox.relay("import --name team --json").ends(0).stdout;
        let copies = sandbox.read("imported/prompts/common-mistakes.md");
        (report, sandbox.read("project.kdl"), copies)
    };
    assert_eq!(written(), written());
}

#[test]
fn the_report_says_what_changes() {
    let sandbox = everything();
    let report = sandbox.relay("import --dry-run --json").ends(0).json();
    assert_eq!(report["is_written"], false);
    assert!(!sandbox.path("project.kdl").exists() && !sandbox.path("imported").exists());
    for (outcome, file, line, word) in [
        ("exact", "CLAUDE.md", 1, ""),
        ("exact", "skills/acme.yaml", 2, ""),
        ("changes", ".claude/rules/api.md", 3, "src/**"),
        ("changes", ".cursor/rules/web/typescript.mdc", 3, "*.ts"),
        ("left_out", "prompts.json", 5, "link"),
    ] {
        let is_it = |row: &&Value| {
            row["outcome"] == outcome
                && row["file"] == file
                && row["line"] == line
                && row["reason"].as_str().unwrap_or_default().contains(word)
        };
        let rows = report["report"].as_array().expect("rows");
        assert_eq!(rows.iter().filter(is_it).count(), 1, "{file}:{line} {report:#}");
    }
    let human = sandbox.relay("import --dry-run").ends(0);
    assert_eq!(human.stdout, report["files"][0]["text"].as_str().expect("the project"));
    human.says("exact (").says("changes (").says("left out (");
}

#[test]
fn no_file_is_replaced() {
    let sandbox = everything();
    sandbox.write("imported/mine.md", "Mine.\n");
    let before = sandbox.files();
    sandbox.relay("import").ends(2).says("`imported` already exists");
    assert_eq!(sandbox.files(), before);
    let sandbox = Sandbox::of(&[("CLAUDE.md", "Text.\n"), ("project.kdl", "mine")]);
    sandbox.relay("import").ends(2).says("`project.kdl` already exists");
    assert_eq!(sandbox.read("project.kdl"), "mine");
    sandbox.relay("import -o other.kdl").ends(0);
    sandbox.relay("check other.kdl --strict").ends(0);
    // A link to nothing is there, too.
    let sandbox = Sandbox::of(&[("CLAUDE.md", "Text.\n")]);
    symlink("/nonexistent", sandbox.path("project.kdl")).expect("a link");
    sandbox.relay("import").ends(2).says("already exists");
}

#[test]
fn a_folder_is_imported_from_above() {
    let sandbox = Sandbox::of(&[("shop/CLAUDE.md", "Text.\n"), ("shop/prompts.json", PROMPTS)]);
    sandbox.relay("import shop -o project.kdl").ends(0);
    assert!(sandbox.read("project.kdl").contains("file=\"shop/CLAUDE.md\""));
    sandbox.relay("check . --strict").ends(0);
    sandbox.relay("import shop -o elsewhere/project.kdl").ends(2);
    fs::create_dir(sandbox.path("elsewhere")).expect("a folder");
    sandbox
        .relay("import shop -o elsewhere/project.kdl")
        .ends(2)
        .says("is not in the project's folder");
    sandbox.relay("import shop/prompts.json -o list.kdl --dry-run").ends(0).prints("folder ");
    let nothing = Sandbox::of(&[("README.md", "Text.\n")]);
    nothing.relay("import").ends(1).says("nothing to import");
    assert_eq!(nothing.files(), ["README.md"]);
}

#[test]
fn names_that_clash_are_told_apart() {
    let sandbox = Sandbox::of(&[
        (".cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nOne.\n"),
        (".claude/rules/Style.md", "Two.\n"),
        (".github/instructions/style.instructions.md", "Three.\n"),
        (".cursor/rules/My rule.mdc", "Four.\n"),
        (".cursor/rules/---.mdc", "Five.\n"),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let project = sandbox.read("project.kdl");
    for name in
        ["prompt Style ", "prompt \"cursor/style\" ", "prompt \"github/style\" ", "prompt My-rule "]
    {
        assert!(project.contains(name), "{name}: {project}");
    }
    is_sound(&sandbox, "clash");
    assert!(
        report.to_string().contains("no name of a prompt can be made of its own"),
        "{report:#}"
    );
}

#[test]
fn the_same_text_is_imported_once() {
    let sandbox = Sandbox::of(&[("AGENTS.md", "Ask first.\n"), (".cursorrules", "@AGENTS.md\n")]);
    symlink("AGENTS.md", sandbox.path("CLAUDE.md")).expect("a link");
    let run = sandbox.relay("import").ends(0);
    let run = run.prints("its text is that of `AGENTS.md`");
    run.prints("all that it does is to include `AGENTS.md`");
    assert_eq!(sandbox.read("project.kdl").matches("prompt ").count(), 1);
    let sandbox = Sandbox::of(&[("CLAUDE.md", "See @docs/a.md.\n```\n@b/c\n```\n")]);
    sandbox.relay("import").ends(0).prints("`@docs/a.md.` stays as it is written");
}

#[test]
fn many_prompts_are_not_listed() {
    let text = |number| format!("{{\"name\": \"topic-{number}\", \"content\": \"Say {number}.\"}}");
    let list: Vec<String> = (0..300).map(text).collect();
    let sandbox = Sandbox::of(&[("prompts.json", &format!("[{}]", list.join(",")))]);
    sandbox.relay("import").ends(0).says("too many for the instructions").prints("300 prompts");
    is_sound(&sandbox, "list");
}

#[test]
fn a_project_of_many_files_has_sixty_lines() {
    let sandbox = Sandbox::of(&[("CLAUDE.md", "Text.\n")]);
    for number in 0..80 {
        let text = format!(
            "---\ndescription: Rule number {number} about a thing of its own\n---\nDo {number}.\n"
        );
        sandbox.write(&format!(".cursor/rules/rule-{number}.mdc"), &text);
        sandbox.write(&format!(".claude/commands/command-{number}.md"), &text);
    }
    let report = sandbox.relay("import --json").ends(0).json();
    assert!(sandbox.read("project.kdl").contains("CLAUDE.md"));
    is_sound(&sandbox, "many");
    let rows = report["report"].as_array().expect("rows").iter();
    let over = rows.filter(|row| row["reason"].as_str().unwrap_or_default().contains("60 lines"));
    let written = sandbox.read("project.kdl").matches(".mdc").count();
    assert_eq!(over.count() + written, 80, "{written}");
    assert!(written > 30, "{written}");
    let large = Sandbox::of(&[("CLAUDE.md", &"Be kind to others.\n".repeat(2000))]);
    large.relay("import").ends(0);
    assert!(large.read("project.kdl").contains("budget (bytes)\"38KiB\""));
    large.relay("check . --strict").ends(0);
}

#[test]
fn agent_skills_are_one_line() {
    let sandbox = Sandbox::of(&[
        (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n"),
        (".claude/skills/pdf/scripts/fill.py", "print()\n"),
        ("CLAUDE.md", "Text.\n"),
    ]);
    let run =
        sandbox.relay("import --dry-run").ends(0).prints("    agent-skills \".claude/skills\"\n");
    run.says(".claude/skills: 1 agent skill");
}

#[test]
fn what_an_export_writes_is_imported_as_the_same_project() {
    let sandbox = Sandbox::of(&[]);
    for (path, text) in KINDS.iter().flat_map(|(_, files, _)| files.iter()) {
        sandbox.write(&format!("first/{path}"), text);
    }
    sandbox.relay("import first --name team").ends(0);
    let of = |kind: &str, form: &str, folder: &str, names: &str| {
        let again = format!("{kind}-again");
        let line = format!("export {form} first -o {again}/{folder} {names}");
        let report = sandbox.relay(&line).ends(0);
        assert!(report.stdout.starts_with("exact ("), "{}", report.stdout);
        assert!(!report.stdout.contains("changes ("), "{}", report.stdout);
        sandbox.relay(&format!("import {again} --name team")).ends(0);
        sandbox.relay(&format!("check {again} --strict")).ends(0);
        sandbox.read(&format!("{again}/project.kdl"))
    };
    let first = sandbox.read("first/project.kdl");
    let skills = of("stoa", "stoa", "skills", "");
    let block = |text: &str| text.split_once("skills {").map(|(_, block)| block.to_owned());
    assert_eq!(block(&skills), block(&first));
    let rules = of("mdc", "mdc", ".cursor/rules", "--name commits --name web/typescript");
    let prompts = |text: &str| {
        let lines =
            text.lines().filter(|line| line.contains(".mdc") || line.contains("summary \""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let rules_before: Vec<_> =
        prompts(&first).into_iter().filter(|line| !line.contains("Python")).collect();
    assert_eq!(prompts(&rules), rules_before);
    let commands = of("command", "command", ".claude/commands", "--name review --name git/commit");
    assert!(commands.contains("    commands \".claude/commands\""), "{commands}");
    // The answers are the same, too.
    for name in ["commits", "web/typescript"] {
        assert_eq!(said(&sandbox, "first", name), said(&sandbox, "mdc-again", name));
    }
    for name in ["review", "git/commit"] {
        assert_eq!(said(&sandbox, "first", name), said(&sandbox, "command-again", name));
    }
    let context = |project: &str| {
        let line = format!(
            "explain {project} --tenant acme --tool api-create --user john@acme.example --json"
        );
        sandbox.relay(&line).ends(0).json()["resolved_context"].clone()
    };
    assert_eq!(context("first"), context("stoa-again"));
}

/// The messages that a client gets for a prompt.
fn said(sandbox: &Sandbox, project: &str, prompt: &str) -> Value {
    let line = format!("explain {project} --prompt {prompt} --json");
    sandbox.relay(&line).ends(0).json()["messages"].clone()
}

/// Returns the reasons in a report for a file that is left out.
fn left_out(report: &Value, file: &str) -> Vec<String> {
    let rows = report["report"].as_array().expect("rows").iter();
    let rows = rows.filter(|row| row["file"] == file && row["outcome"] == "left_out");
    rows.map(|row| row["reason"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn each_skill_has_its_own_text() {
    let skill = |name: &str, tenant: &str, word: &str| {
        let text = format!("{word} first.\n      Then go on.");
        format!(
            "kind: Skill\nmetadata: {{ name: {name} }}\nspec:\n  scope: {{ type: tenant, tenantId: {tenant} }}\n  context:\n    instructions: |\n      {text}\n"
        )
    };
    let documents = [
        skill("rules", "a/b", "Alpha"),
        skill("rules", "a-b", "Beta"),
        skill("x y", "acme", "Gamma"),
        skill("x-y", "acme", "Delta"),
        skill("x-y-2", "acme", "Epsilon"),
    ];
    let sandbox = Sandbox::of(&[("skills/all.yaml", &documents.join("---\n"))]);
    let report = sandbox.relay("import --name team --json").ends(0).json();
    let files = report["files"].as_array().expect("files");
    let paths: BTreeSet<_> = files.iter().map(|file| file["path"].as_str()).collect();
    assert_eq!(paths.len(), files.len(), "{report:#}");
    let texts = |word: &str| {
        files.iter().filter(|file| file["text"].as_str().unwrap_or_default().contains(word)).count()
    };
    for word in ["Alpha first.", "Beta first.", "Epsilon first."] {
        assert_eq!(texts(word), 1, "{word}: {report:#}");
    }
    let context = sandbox.relay("explain . --tenant a-b").ends(0).stdout;
    assert!(context.contains("Beta first.") && !context.contains("Alpha"), "{context}");
}

#[test]
fn commands_of_one_name_are_reported() {
    let prompt = |word: &str| format!("prompt = \"\"\"\n{word}.\nThen {{{{args}}}}.\n\"\"\"\n");
    let sandbox = Sandbox::of(&[
        (".gemini/commands/a b.toml", &prompt("One")),
        (".gemini/commands/a-b.toml", &prompt("Two")),
    ]);
    let report = sandbox.relay("import --json").ends(0).json();
    let reasons = left_out(&report, ".gemini/commands/a-b.toml");
    assert_eq!(reasons, ["`.gemini/commands/a b.toml` is called `a-b` too"], "{report:#}");
    assert!(sandbox.read("imported/gemini-commands/a-b.md").contains("One."));
    is_sound(&sandbox, "gemini");
}

#[test]
fn a_file_of_many_documents_is_read_in_pieces() {
    let skill = |number: usize| {
        format!(
            "kind: Skill\nmetadata: {{ name: s{number} }}\nspec: {{ context: {{ instructions: Go. }} }}\n---\n"
        )
    };
    let many: String = (0..1001).map(skill).collect();
    let sandbox = Sandbox::of(&[("many.yaml", &many), ("CLAUDE.md", "Text.\n")]);
    let report = sandbox.relay("import --json").ends(0).json();
    let reasons = left_out(&report, "many.yaml");
    assert!(reasons.contains(&"the file has more than 1000 skills".to_owned()), "{report:#}");
    // Each document with lines of its own for those before it would take 20 GB.
    let separators = "---\n".repeat(200_000);
    let sandbox = Sandbox::of(&[("deep.yaml", &format!("{separators}kind: Skill\n"))]);
    let report = sandbox.relay("import --dry-run --json").ends(1).json();
    let row = &report["report"][0];
    assert_eq!((&row["file"], &row["line"]), (&"deep.yaml".into(), &200_001.into()), "{report:#}");
}

#[test]
fn the_guide_runs_and_shows_the_project() {
    let guide = fs::read_to_string(root().join("docs/adopt.md")).expect("the guide");
    let blocks = |language: &str| -> Vec<String> {
        let opening = format!("```{language}\n");
        let after = guide.split(&opening).skip(1);
        after.filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
    };
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("bash");
    let folder = binaries::relay().parent().expect("a folder").to_owned();
    let path = std::env::var("PATH").expect("a path");
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.args(["-eu", "-c", &blocks("sh").concat()]);
    sandbox.run(command).ends(0);
    assert_eq!(sandbox.read("shop/project.kdl"), blocks("kdl").concat());
    assert!(sandbox.path("exported/.cursor/rules/typescript.mdc").exists());
}
