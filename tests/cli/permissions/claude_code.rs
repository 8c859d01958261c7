//! Claude Code: its rules for commands, as its documentation of permissions describes them.

use super::split::{hides, parts, star};
use super::{Says, commands, imported, never_wider};

/// The rules of a settings file.
struct Rules {
    allow: &'static [&'static str],
    ask: &'static [&'static str],
    deny: &'static [&'static str],
}

/// Commands that run unasked: the documented set, as far as it reads nothing that a rule may be about.
const READ_ONLY: &[&str] = &["ls", "pwd", "git status", "git log", "git diff"];
/// Wrappers that are stripped before rules are asked.
const STRIPPED: &[&str] =
    &["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "noglob", "xargs"];
/// Programs that no prefix allows.
const NEVER: &[&str] = &["watch", "setsid", "ionice", "flock"];

/// Returns whether a rule's pattern matches a part of a command.
fn matches(pattern: &str, part: &str) -> bool {
    let pattern = match pattern.strip_suffix(":*") {
        Some(before) => format!("{before} *"),
        None => pattern.to_owned(),
    };
    // A blank before the last star is a border of words, and may stand for nothing.
    let bare = pattern.strip_suffix(" *").is_some_and(|before| star(before, part));
    bare || star(&pattern, part)
}

/// Returns a part without leading assignments.
fn without_assignments(part: &str) -> &str {
    let mut rest = part;
    while let Some((word, after)) = rest.split_once(' ') {
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        });
        if !is_assignment {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Returns the forms of a part that rules which restrict look at.
fn forms(part: &str) -> Vec<String> {
    let mut forms = vec![part.to_owned()];
    let mut rest = without_assignments(part).to_owned();
    forms.push(rest.clone());
    while let Some((first, after)) = rest.split_once(' ') {
        if !STRIPPED.contains(&first) {
            break;
        }
        let mut after = after.trim_start();
        // The wrapper's own words.
        while after.starts_with('-') || after.starts_with(|it: char| it.is_ascii_digit()) {
            let Some((_, next)) = after.split_once(' ') else { break };
            after = next.trim_start();
        }
        rest = after.to_owned();
        forms.push(rest.clone());
    }
    forms
}

fn says(rules: &Rules, command: &str) -> Says {
    let parts = parts(command);
    let any = |patterns: &[&str]| {
        parts
            .iter()
            .any(|part| forms(part).iter().any(|form| patterns.iter().any(|it| matches(it, form))))
    };
    if any(rules.deny) {
        return Says::Deny;
    }
    if any(rules.ask) || command.len() > 10_000 || parts.is_empty() {
        return Says::Ask;
    }
    let is_allowed = |part: &String| {
        if hides(part) {
            return false;
        }
        let first = part.split(' ').next().unwrap_or_default();
        let is_never = NEVER.contains(&first)
            || first == "find" && ["-exec", "-ok", "-delete"].iter().any(|it| part.contains(it));
        READ_ONLY.contains(&part.as_str())
            || rules
                .allow
                .iter()
                .any(|pattern| matches(pattern, part) && (!is_never || *pattern == part))
    };
    if parts.iter().all(is_allowed) { Says::Allow } else { Says::Ask }
}

fn settings(rules: &Rules) -> String {
    let list = |patterns: &[&str]| {
        let all: Vec<_> = patterns.iter().map(|it| format!("Bash({it})")).collect();
        serde_json::to_string(&all).expect("JSON")
    };
    format!(
        "{{\"permissions\": {{\n\"allow\": {},\n\"ask\": {},\n\"deny\": {}\n}}}}",
        list(rules.allow),
        list(rules.ask),
        list(rules.deny)
    )
}

const SETS: [Rules; 4] = [
    Rules {
        allow: &[
            "npm run build",
            "npm run test *",
            "git diff:*",
            "git commit *",
            "git *",
            "ls *",
            "cargo test",
        ],
        ask: &["git push *", "git reset *", "npm publish"],
        deny: &["rm -rf *", "curl *", "git push --force *", "sudo *", "wget:*"],
    },
    Rules {
        allow: &[
            "find *",
            "watch *",
            "echo *",
            "make",
            "make *",
            "python3 -m pytest *",
            "docker ps",
            "kubectl get *",
        ],
        ask: &["kubectl *", "docker run *"],
        deny: &[
            "kubectl delete *",
            "docker system prune *",
            "* --force",
            "python3 -c *",
            "ls*",
            "git * main",
        ],
    },
    Rules {
        allow: &["*"],
        ask: &["terraform *"],
        deny: &[
            "rm *",
            "dd *",
            "mkfs*",
            "terraform apply *",
            "npm run deploy",
            "git push * main",
            "chmod 777 *",
            "our-tool wipe *",
        ],
    },
    Rules {
        allow: &[
            "git log --oneline",
            "cargo build --release",
            "go test ./... -v",
            "our-tool status *",
            "* --version",
            "cat README.md",
            "jq . *",
        ],
        ask: &["*.sh *"],
        deny: &[
            "cat .env",
            "git commit -m *",
            "cargo publish *",
            "env",
            "docker compose down -v *",
        ],
    },
];

#[test]
fn an_imported_policy_is_never_wider_than_the_settings() {
    for rules in &SETS {
        let text = settings(rules);
        let project = imported("claude-code", &[(".claude/settings.json", &text)]);
        let texts = [rules.allow, rules.ask, rules.deny].concat();
        let texts: Vec<String> =
            texts.iter().map(|it| it.replace(":*", " x").replace('*', "x")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let commands = commands(&texts);
        never_wider(&project, &commands, |command| says(rules, command));
    }
}
