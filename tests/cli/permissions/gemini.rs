//! Gemini CLI: of the rules that match a command, the one of the highest priority; what no rule is about is asked.

use super::split::{hides, parts};
use super::{Says, commands, exported, imported, judged_for, never_wider};

/// The kind of condition, its text, the decision and the priority.
type Rule = (&'static str, &'static str, &'static str, i64);

const SETS: [&[Rule]; 2] = [
    &[
        ("", "", "ask_user", 1),
        ("commandPrefix", "git", "allow", 100),
        ("commandPrefix", "git push", "ask_user", 200),
        ("commandPrefix", "rm -rf", "deny", 300),
        ("commandPrefix", "npm run test", "allow", 100),
        ("commandRegex", "git (reset|clean)", "deny", 250),
        ("commandPrefix", "ls", "allow", 100),
    ],
    &[
        ("", "", "deny", 1),
        ("commandPrefix", "cargo test", "allow", 500),
        ("commandPrefix", "cargo", "ask_user", 400),
        ("commandRegex", "docker ps", "allow", 500),
        ("commandPrefix", "curl", "deny", 900),
        ("commandPrefix", "make", "allow", 50),
    ],
];

fn matches((kind, text, ..): &Rule, part: &str, decision: Says) -> bool {
    match *kind {
        "" => true,
        "commandPrefix" => {
            let rest = part.strip_prefix(text);
            // Its end is a border of words in the client; the documents say less.
            rest.is_some_and(|rest| {
                decision != Says::Allow || rest.is_empty() || rest.starts_with(' ')
            })
        }
        _ => regex::Regex::new(&format!("^(?:{text})")).expect("a regex").is_match(part),
    }
}

fn says(rules: &[Rule], command: &str) -> Says {
    let word = |rule: &Rule| match rule.2 {
        "allow" => Says::Allow,
        "ask_user" => Says::Ask,
        _ => Says::Deny,
    };
    let parts = parts(command);
    let of = |part: &String| {
        let matching = rules.iter().filter(|rule| matches(rule, part, word(rule)));
        let says = matching.max_by_key(|rule| rule.3).map_or(Says::Ask, word);
        if hides(part) { says.max(Says::Ask) } else { says }
    };
    parts.iter().map(of).max().unwrap_or(Says::Ask)
}

fn file(rules: &[Rule]) -> String {
    let mut text = String::new();
    for (kind, pattern, decision, priority) in rules {
        text.push_str("[[rule]]\ntoolName = \"run_shell_command\"\n");
        if !kind.is_empty() {
            text.push_str(&format!("{kind} = \"{pattern}\"\n"));
        }
        text.push_str(&format!("decision = \"{decision}\"\npriority = {priority}\n\n"));
    }
    text
}

#[test]
fn an_imported_policy_is_never_wider_than_the_rules() {
    for rules in SETS {
        let sandbox = super::Sandbox::of(&[
            ("home/.gemini/policies/team.toml", &file(rules)),
            ("project/x", ""),
        ]);
        sandbox
            .relay("import --permissions gemini --home home --name team -o policy.kdl project")
            .ends(0);
        sandbox.relay("check policy.kdl").ends(0);
        let texts: Vec<String> = rules
            .iter()
            .filter(|rule| !rule.0.is_empty())
            .map(|rule| rule.1.replace("(reset|clean)", "reset"))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        never_wider(&sandbox.read("policy.kdl"), &commands(&texts), |command| says(rules, command));
    }
}

#[test]
fn a_policy_of_a_project_restricts_and_permits_nothing() {
    let project = imported("gemini", &[(".gemini/policies/team.toml", &file(SETS[0]))]);
    assert!(project.contains("deny no-rm-rf"), "{project}");
    assert!(!project.contains("git *"), "{project}");
}

#[test]
fn an_exported_rule_lets_nothing_run_that_the_policy_does_not_allow() {
    let mut count = 0;
    for project in super::PROJECTS {
        let file: toml::Table = toml::from_str(&exported("gemini", project, "")).expect("TOML");
        let rules = file["rule"].as_array().expect("rules");
        let of = |decision: &str| -> Vec<&toml::Value> {
            rules.iter().filter(|rule| rule["decision"].as_str() == Some(decision)).collect()
        };
        let texts = |rules: &[&toml::Value]| -> Vec<String> {
            let regex = |rule: &&toml::Value| {
                rule.get("commandRegex").and_then(|it| it.as_str()).map(str::to_owned)
            };
            rules.iter().filter_map(regex).collect()
        };
        let allowed = texts(&of("allow"));
        count += allowed.len();
        let literal: Vec<String> =
            allowed.iter().map(|regex| regex.trim_end_matches('"').replace('\\', "")).collect();
        let literal: Vec<&str> = literal.iter().map(String::as_str).collect();
        let judged = judged_for(project);
        for command in commands(&literal) {
            let parts = parts(&command);
            let json = |part: &String| {
                format!("{{\"command\":{}}}", serde_json::Value::from(part.as_str()))
            };
            let runs = !parts.is_empty()
                && parts.iter().all(|part| {
                    allowed.iter().any(|text| {
                        let regex =
                            regex::Regex::new(&format!("\"command\":\"{text}")).expect("a regex");
                        regex.is_match(&json(part))
                    })
                });
            if runs {
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
