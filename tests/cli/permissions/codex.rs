//! Codex: prefix rules over the words of each command; what no rule is about runs in the sandbox.

use super::split::{hides, parts, words};
use super::{Says, commands, exported, imported, judged_for, never_wider};

/// Words, each with its alternatives, and the decision.
type Prefix = (&'static [&'static [&'static str]], &'static str);

/// Returns the words of each command; none if the text is more than commands of plain words.
fn plain(command: &str) -> Option<Vec<Vec<String>>> {
    let parts = parts(command);
    if parts.iter().any(|part| hides(part)) {
        return None;
    }
    parts.iter().map(|part| words(part)).collect()
}

fn says(rules: &[Prefix], command: &str) -> Says {
    // A text that is not understood is one command of a shell, which no rule here names.
    let Some(all) = plain(command) else { return Says::Allow };
    let matches = |(prefix, _): &&Prefix, words: &[String]| {
        words.len() >= prefix.len()
            && prefix.iter().zip(words).all(|(any, word)| any.contains(&word.as_str()))
    };
    let mut most = Says::Allow;
    for words in &all {
        for (_, decision) in rules.iter().filter(|rule| matches(rule, words)) {
            most = most.max(match *decision {
                "allow" => Says::Allow,
                "prompt" => Says::Ask,
                _ => Says::Deny,
            });
        }
    }
    most
}

fn file(rules: &[Prefix]) -> String {
    let mut text = String::from("# Rules of the team.\n");
    for (prefix, decision) in rules {
        let words: Vec<String> = prefix
            .iter()
            .map(|any| match any {
                [word] => format!("{word:?}"),
                any => format!("{any:?}"),
            })
            .collect();
        text.push_str(&format!(
            "prefix_rule(pattern = [{}], decision = \"{decision}\")\n",
            words.join(", ")
        ));
    }
    text
}

#[test]
fn an_imported_policy_is_never_wider_than_the_rules() {
    let sets: [&[Prefix]; 2] = [
        &[
            (&[&["git"], &["push", "fetch"]], "prompt"),
            (&[&["git"], &["push"], &["--force"]], "forbidden"),
            (&[&["rm"], &["-rf"]], "forbidden"),
            (&[&["npm"], &["publish"]], "prompt"),
            (&[&["systemctl"], &["restart"], &["nginx"]], "allow"),
            (&[&["our-tool"], &["wipe"]], "forbidden"),
        ],
        &[
            (&[&["kubectl"], &["delete"]], "forbidden"),
            (&[&["docker"], &["system"], &["prune"]], "forbidden"),
            (&[&["curl"]], "forbidden"),
            (&[&["sudo"]], "prompt"),
            (&[&["git"]], "prompt"),
            (&[&["python3"], &["-m"], &["http.server"]], "forbidden"),
            (&[&["ls"]], "allow"),
        ],
    ];
    for rules in sets {
        let project = imported("codex", &[(".codex/rules/team.rules", &file(rules))]);
        let texts: Vec<String> = rules
            .iter()
            .map(|(prefix, _)| prefix.iter().map(|any| any[0]).collect::<Vec<_>>().join(" "))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        never_wider(&project, &commands(&texts), |command| says(rules, command));
    }
}

#[test]
fn requirements_have_prefix_rules_and_a_mode() {
    let text = "allowed_sandbox_modes = [\"read-only\"]\n[rules]\nprefix_rules = [\n  { pattern = [{ token = \"npm\" }, { any_of = [\"publish\", \"unpublish\"] }], decision = \"forbidden\" },\n]\n";
    let sandbox =
        super::Sandbox::of(&[("root/etc/codex/requirements.toml", text), ("project/x", "")]);
    sandbox
        .relay("import --permissions codex --system root --name team -o policy.kdl project")
        .ends(0);
    let project = sandbox.read("policy.kdl");
    assert!(project.contains("policy readonly"), "{project}");
    let judged = super::judged(&project);
    for (command, outcome) in
        [("npm publish", "deny"), ("npm unpublish x", "deny"), ("touch x", "deny"), ("ls", "allow")]
    {
        assert_eq!(judged.command(("", ""), command).outcome.word(), outcome, "{command}");
    }
}

#[test]
fn an_exported_prefix_lets_nothing_run_that_the_policy_does_not_allow() {
    for project in super::PROJECTS {
        let file = exported("codex", project, "");
        let allowed: Vec<Vec<String>> = file
            .lines()
            .filter(|line| line.contains("\"allow\""))
            .map(|line| {
                let (_, rest) = line.split_once("pattern = ").expect("a pattern");
                let (list, _) = rest.split_once("], ").expect("its end");
                serde_json::from_str(&format!("{list}]")).expect("a list of texts")
            })
            .collect();
        let texts: Vec<String> = allowed.iter().map(|words| words.join(" ")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let judged = judged_for(project);
        for command in commands(&texts) {
            let Some(all) = plain(&command) else { continue };
            let runs = !all.is_empty()
                && all.iter().all(|words| allowed.iter().any(|prefix| words.starts_with(prefix)));
            if runs {
                assert_eq!(
                    judged.command(("", "dev"), &command).outcome.word(),
                    "allow",
                    "{command:?}"
                );
            }
        }
    }
}
