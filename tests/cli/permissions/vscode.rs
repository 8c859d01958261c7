//! VS Code: every part of a command is approved by a rule, and none is by one that says `false`; `false` asks.

use super::split::{hides, parts};
use super::{Says, commands, exported, imported, judged_for};

/// A pattern as it is written, whether it approves, and whether it is about the whole line.
type Rule = (&'static str, bool, bool);

const RULES: &[Rule] = &[
    ("npm run build", true, false),
    ("git", true, false),
    ("git push", false, false),
    ("rm", false, false),
    ("ls", true, false),
    ("cat", true, false),
    ("/^git (reset|clean)\\b/", false, false),
    ("/--force/", false, true),
    ("/^cargo test$/", true, true),
    ("/^docker ps\\b/", true, false),
    ("/^npm (ci|install)$/", true, false),
];

fn regex_of(pattern: &str) -> regex::Regex {
    let text = match pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(inner) => inner.to_owned(),
        None => format!("^{}\\b", regex::escape(pattern)),
    };
    // JavaScript's border of words is one of ASCII.
    let text = text.replace("\\b", "(?-u:\\b)");
    regex::Regex::new(&text).expect("a regex")
}

fn says(command: &str) -> Says {
    let parts = parts(command);
    let any = |approves: bool, is_line: bool, text: &str| {
        let rules = RULES.iter().filter(|(_, own, line)| *own == approves && *line == is_line);
        rules.into_iter().any(|(pattern, ..)| regex_of(pattern).is_match(text))
    };
    if any(false, true, command) || parts.iter().any(|part| any(false, false, part)) {
        return Says::Ask;
    }
    let is_approved = |part: &String| !hides(part) && any(true, false, part);
    let is_line = any(true, true, command);
    if is_line || !parts.is_empty() && parts.iter().all(is_approved) {
        Says::Allow
    } else {
        Says::Ask
    }
}

fn settings() -> String {
    let entries: Vec<String> = RULES
        .iter()
        .map(|(pattern, approves, line)| {
            let key = serde_json::Value::from(*pattern);
            match line {
                true => format!(
                    "    {key}: {{ \"approve\": {approves}, \"matchCommandLine\": true }},\n"
                ),
                false => format!("    {key}: {approves}, // a comment\n"),
            }
        })
        .collect();
    format!("{{\n  \"chat.tools.terminal.autoApprove\": {{\n{}  }},\n}}\n", entries.concat())
}

#[test]
fn an_imported_policy_is_never_wider_than_the_settings() {
    let project = imported("vscode", &[(".vscode/settings.json", &settings())]);
    let texts = [
        "npm run build",
        "git",
        "git push",
        "rm",
        "ls",
        "cat x",
        "git reset",
        "x --force",
        "cargo test",
        "docker ps",
        "npm ci",
    ];
    let judged = super::judged(&project);
    let (mut allowed, mut asked) = (0, 0);
    for command in commands(&texts) {
        let outcome = judged.command(("", ""), &command).outcome.word();
        if outcome == "allow" {
            allowed += 1;
            assert_eq!(says(&command), Says::Allow, "{command:?}");
        }
        asked += usize::from(outcome == "approve");
    }
    assert!(allowed > 10 && asked > 100, "{allowed} {asked}");
}

#[test]
fn an_exported_line_lets_nothing_run_that_the_policy_does_not_allow() {
    let mut count = 0;
    for project in super::PROJECTS {
        let file: serde_json::Value =
            serde_json::from_str(&exported("vscode", project, "")).expect("JSON");
        let rules = file["chat.tools.terminal.autoApprove"].as_object().expect("rules");
        let approved: Vec<regex::Regex> = rules
            .iter()
            .filter(|(_, value)| value.get("approve").is_some_and(|it| it == true))
            .map(|(pattern, value)| {
                assert_eq!(value["matchCommandLine"], true, "{pattern}");
                let inner =
                    pattern.strip_prefix('/').and_then(|it| it.strip_suffix('/')).expect("a regex");
                regex::Regex::new(&inner.replace("\\/", "/")).expect("a regex")
            })
            .collect();
        count += approved.len();
        let literal: Vec<String> = approved
            .iter()
            .map(|it| it.as_str().trim_matches(['^', '$']).replace('\\', ""))
            .collect();
        let literal: Vec<&str> = literal.iter().map(String::as_str).collect();
        let judged = judged_for(project);
        for command in commands(&literal) {
            if approved.iter().any(|regex| regex.is_match(&command)) {
                assert_eq!(
                    judged.command(("", "dev"), &command).outcome.word(),
                    "allow",
                    "{command:?}"
                );
            }
        }
    }
    assert!(count > 0, "nothing is exported");
}
