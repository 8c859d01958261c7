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
    let rest = without_assignments(part);
    [vec![part.to_owned()], stripped(rest)].concat()
}

/// Returns a part, and what is left of it after each wrapper.
fn stripped(part: &str) -> Vec<String> {
    let mut forms = vec![part.to_owned()];
    let mut rest = part.to_owned();
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

#[test]
fn rules_of_all_levels_are_read_and_managed_ones_may_be_alone() {
    let rules =
        |answer: &str, rule: &str| format!("{{\"permissions\": {{\"{answer}\": [\"{rule}\"]}}}}");
    let sandbox = super::Sandbox::of(&[
        ("root/etc/claude-code/managed-settings.json", &rules("deny", "Bash(curl *)")),
        (
            "root/etc/claude-code/managed-settings.d/10-more.json",
            &rules("ask", "Bash(npm publish *)"),
        ),
        ("home/.claude/settings.json", &rules("deny", "Read(/keys/**)")),
        ("project/.claude/settings.json", &rules("allow", "Bash(make *)")),
        ("project/.claude/settings.local.json", &rules("allow", "Bash(cargo test)")),
    ]);
    let line = "import --permissions claude-code --home home --system root --name team --json -o policy.kdl project";
    let report = sandbox.relay(line).ends(0).json();
    let levels: Vec<String> = report["report"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            format!(
                "{} {}",
                row["level"].as_str().expect("a level"),
                row["rule"].as_str().expect("a rule")
            )
        })
        .collect();
    let mut sorted = levels.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "local Bash(cargo test)",
            "managed Bash(curl *)",
            "managed Bash(npm publish *)",
            "project Bash(make *)",
            "user Read(/keys/**)"
        ]
    );
    let judged = super::judged(&sandbox.read("policy.kdl"));
    for (command, outcome) in [
        ("curl x", "deny"),
        ("npm publish", "approve"),
        ("cat ~/.claude/keys/a", "deny"),
        ("make all", "allow"),
        ("cargo test", "allow"),
        ("cargo build", "approve"),
    ] {
        assert_eq!(judged.command(("", ""), command).outcome.word(), outcome, "{command}");
    }
    let managed = "{\"allowManagedPermissionRulesOnly\": true, \"permissions\": {\"deny\": [\"Bash(curl *)\"]}}";
    sandbox.write("root/etc/claude-code/managed-settings.json", managed);
    let line = line.replace("policy.kdl", "second.kdl");
    sandbox.relay(&line).ends(0);
    let judged = super::judged(&sandbox.read("second.kdl"));
    assert_eq!(judged.command(("", ""), "make all").outcome.word(), "approve");
}

#[test]
fn rules_for_files_mean_the_paths_of_the_client() {
    let settings = r#"{"permissions": {
        "allow": ["Edit(src/**)", "Edit(/docs/*.md)", "Read(~/notes/**)", "Read(//srv/data/**)"],
        "deny": ["Read(.env)", "Read(secrets/**)", "Edit(//etc/**)", "Edit(src/generated/**)", "Read(~/.ssh/id_?)"]
    }}"#;
    let project = imported("claude-code", &[(".claude/settings.json", settings)]);
    let judged = super::judged(&project);
    for (tool, path, outcome) in [
        ("Read", "README.md", "allow"),
        ("Read", ".env", "deny"),
        ("Read", "app/.env", "deny"),
        ("Read", "secrets/a/b", "deny"),
        ("Read", "app/secrets/a", "deny"),
        ("Read", "/srv/data/x", "allow"),
        ("Read", "/srv/other", "approve"),
        ("Edit", "src/a.rs", "allow"),
        ("Edit", "src/../a.rs", "approve"),
        ("Edit", "app/src/a.rs", "approve"),
        ("Edit", "src/generated/a.rs", "deny"),
        ("Edit", "docs/a.md", "allow"),
        ("Edit", "docs/a/b.md", "approve"),
        ("Edit", "/etc/hosts", "deny"),
        ("Write", "x", "approve"),
    ] {
        let arguments = serde_json::json!({ "file_path": path });
        let decision = judged.call(("", ""), tool, arguments.as_object().expect("an object"));
        assert_eq!(decision.outcome.word(), outcome, "{tool} {path}");
    }
    // A shell knows a home; the argument of a tool has none.
    for (command, outcome) in [
        ("cat ~/.ssh/id_a", "deny"),
        ("cat .env", "deny"),
        ("touch /etc/x", "deny"),
        ("cat README.md", "approve"),
    ] {
        assert_eq!(judged.command(("", ""), command).outcome.word(), outcome, "{command}");
    }
}

/// Returns whether a client with an exported file lets a command run by one of its allows: each part is an allowed text, with
/// the wrappers that are stripped, or one of the commands that run unasked.
fn lets_run(allow: &[String], ask: &[String], command: &str) -> bool {
    let parts = parts(command);
    let inner = |rule: &String| {
        rule.strip_prefix("Bash(").and_then(|it| it.strip_suffix(')')).map(str::to_owned)
    };
    let patterns = |rules: &[String]| rules.iter().filter_map(inner).collect::<Vec<_>>();
    let (allow, ask) = (patterns(allow), patterns(ask));
    if parts
        .iter()
        .any(|part| forms(part).iter().any(|form| ask.iter().any(|it| matches(it, form))))
    {
        return false;
    }
    let mut count = 0;
    let runs = parts.iter().all(|part| {
        let mut part = part.as_str();
        // Redirections of these kinds write no file.
        for end in [" 2>&1", " > /dev/null", " 2> /dev/null"] {
            part = part.strip_suffix(end).unwrap_or(part);
        }
        let part = ["LANG=C ", "NODE_ENV=test "]
            .iter()
            .find_map(|it| part.strip_prefix(it))
            .unwrap_or(part);
        let first = part.split(' ').next().unwrap_or_default();
        // These two run nothing in bash.
        let is_stripped = !["noglob", "builtin"].contains(&first);
        let is_listed = allow.iter().any(|it| it == part)
            || is_stripped && stripped(part).iter().any(|form| allow.contains(form));
        count += usize::from(is_listed);
        is_listed || ["ls", "pwd", "git status", "cat f", "cd x", "head"].contains(&part)
    });
    runs && count > 0
}

#[test]
fn an_exported_allow_lets_nothing_run_that_the_policy_does_not_allow() {
    let mut count = 0;
    for project in super::PROJECTS {
        let file: serde_json::Value =
            serde_json::from_str(&super::exported("claude-code", project, "")).expect("JSON");
        let list = |key: &str| -> Vec<String> {
            serde_json::from_value(file["permissions"][key].clone()).expect("a list")
        };
        let (allow, ask) = (list("allow"), list("ask"));
        count += allow.len();
        let texts: Vec<String> = allow
            .iter()
            .map(|it| it.trim_start_matches("Bash(").trim_end_matches(')').to_owned())
            .collect();
        let mut all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let joined: Vec<String> = texts
            .iter()
            .flat_map(|a| texts.iter().map(move |b| format!("{a} && {b} | {a}")))
            .collect();
        all.extend(joined.iter().take(40).map(String::as_str));
        let judged = super::judged_for(project);
        let mut ran = 0;
        for command in commands(&all) {
            if lets_run(&allow, &ask, &command) {
                ran += 1;
                assert_eq!(
                    judged.command(("", "dev"), &command).outcome.word(),
                    "allow",
                    "{command:?}"
                );
            }
        }
        assert!(ran >= allow.len(), "{ran}");
    }
    assert!(count > 0, "nothing is exported");
}

#[test]
fn an_export_for_a_role_that_may_only_look_allows_nothing() {
    let file: serde_json::Value = serde_json::from_str(&super::exported(
        "claude-code",
        super::PROJECTS[0],
        "--role observer",
    ))
    .expect("JSON");
    assert_eq!(file["permissions"]["allow"], serde_json::json!([]));
}
