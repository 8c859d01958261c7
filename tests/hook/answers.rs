//! The answers of the hook in the form of each client.

use harness::Ended;
use serde_json::{Value, json};

use super::dialect::{CLIENTS, Play};
use super::guard::Guard;

/// What an answer is for a client, read as the client reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    NoObjection,
    Allow,
    Ask,
    Deny,
}

/// Reads an answer as a client does; `None` if the client takes it for a failure.
pub(crate) fn read(client: &str, ended: &Ended) -> Option<Read> {
    let out = ended.stdout.trim();
    let value: Option<Value> = serde_json::from_str(out).ok();
    let at = |path: &str| {
        let value = value.as_ref()?.pointer(path)?;
        value.as_str().map(str::to_owned).or_else(|| value.as_bool().map(|it| it.to_string()))
    };
    let word = match client {
        "claude-code" | "codex" | "vscode" => at("/hookSpecificOutput/permissionDecision"),
        "cursor" => at("/permission"),
        "copilot" => at("/permissionDecision"),
        "gemini" | "opencode" => at("/decision"),
        "cline" => {
            at("/cancel").map(|cancel| (if cancel == "true" { "deny" } else { "allow" }).to_owned())
        }
        "windsurf" => None,
        other => panic!("{other}"),
    };
    let is_explicit = matches!(client, "cursor" | "opencode" | "cline");
    match (ended.code, word.as_deref()) {
        (Some(2), Some("deny")) => Some(Read::Deny),
        (Some(2), None) if client == "windsurf" => Some(Read::Deny),
        (Some(0), Some("deny")) if client == "cline" => Some(Read::Deny),
        (Some(0), Some("ask")) => Some(Read::Ask),
        (Some(0), Some("allow")) if is_explicit => Some(Read::NoObjection),
        (Some(0), Some("allow")) => Some(Read::Allow),
        (Some(0), None) if !is_explicit && (out.is_empty() || value.is_some()) => {
            Some(Read::NoObjection)
        }
        _ => None,
    }
}

/// Returns the reason that reaches the model.
fn reason(client: &str, ended: &Ended) -> String {
    let value: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    let path = match client {
        "claude-code" => "/hookSpecificOutput/permissionDecisionReason",
        "vscode" => "/hookSpecificOutput/additionalContext",
        "cursor" => "/agent_message",
        "copilot" => "/permissionDecisionReason",
        "gemini" | "opencode" => "/reason",
        "cline" => "/errorMessage",
        // These read standard error.
        _ => return ended.stderr.clone(),
    };
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn each_client_gets_each_decision_in_its_own_form() {
    let guard = Guard::new();
    let cwd = guard.text("work");
    let notes = |tool: &'static str| Play::Server("notes", tool, json!({ "name": "n1" }));
    let plays = [
        (Play::Shell("ls -l"), Read::NoObjection, ""),
        (Play::Shell("echo x > /etc/motd"), Read::Deny, "no-etc: SEC-1 (project.kdl:4)"),
        (Play::Shell("git push"), Read::Ask, "pushes: OPS-3 (project.kdl:9)"),
        (Play::Read("/etc/hostname"), Read::NoObjection, ""),
        (Play::Read("/home/ann/.ssh/id_rsa"), Read::Deny, "no-secrets: SEC-2"),
        (Play::Write("notes.txt"), Read::NoObjection, ""),
        (Play::Write("/etc/motd"), Read::Deny, "no-etc: SEC-1"),
        (Play::Write("/etc/../etc/x"), Read::Deny, "no-etc: SEC-1"),
        (Play::Fetch("https://docs.example/x"), Read::NoObjection, ""),
        (Play::Fetch("https://x.bad.example/x"), Read::Deny, "no-egress: SEC-3"),
        (notes("note-add"), Read::NoObjection, ""),
        (notes("note-drop"), Read::Deny, "no-drop: OPS-1"),
        (notes("note-send"), Read::Ask, "sends: OPS-2"),
        (notes("note_send"), Read::NoObjection, ""),
    ];
    for client in CLIENTS {
        for (play, expected, why) in &plays {
            let Some(event) = play.event(client, &cwd) else { continue };
            // Codex spells both tools alike, so the stricter rule counts.
            let is_alike = matches!(play, Play::Server(_, "note_send", _));
            if client == "codex" && is_alike {
                continue;
            }
            let ended = guard.hook(client, &event);
            // Gemini runs a tool of a trusted server after a question.
            let is_trusted = client == "gemini" && matches!(play, Play::Server(..));
            let can_ask =
                !matches!(client, "codex" | "opencode" | "cline" | "windsurf") && !is_trusted;
            let expected = match expected {
                Read::Ask if !can_ask => Read::Deny,
                expected => *expected,
            };
            let context = format!("{client}: {play:?}\n{ended:?}");
            assert_eq!(read(client, &ended), Some(expected), "{context}");
            if expected == Read::Deny {
                assert!(reason(client, &ended).contains(why), "{context}");
                assert!(ended.stderr.contains(why), "{context}");
            }
            let record = guard.last();
            assert_eq!(record["client"], client, "{record}");
            let answered = match expected {
                Read::NoObjection => "none",
                Read::Allow => "allow",
                Read::Ask => "ask",
                Read::Deny => "deny",
            };
            assert_eq!(record["answered"], answered, "{context}\n{record}");
            assert!(
                record["rule"].as_str().unwrap().contains(why.trim_end_matches(')')),
                "{record}"
            );
        }
    }
    let records = guard.records();
    assert!(records.len() > 90, "{}", records.len());
    let numbers: Vec<_> = records.iter().map(|record| record["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=records.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_question_is_a_denial_where_the_client_would_answer_it_itself() {
    let guard = Guard::new();
    let mut event = Play::Shell("git push").event("claude-code", &guard.text("work")).unwrap();
    for (mode, expected) in [
        ("default", Read::Ask),
        ("acceptEdits", Read::Ask),
        ("plan", Read::Ask),
        ("bypassPermissions", Read::Deny),
        ("dontAsk", Read::Deny),
    ] {
        event["permission_mode"] = mode.into();
        assert_eq!(
            read("claude-code", &guard.hook("claude-code", &event)),
            Some(expected),
            "{mode}"
        );
    }
    // A shell command fires two events in Cursor: the second one asks.
    let before = json!({
        "cursor_version": "2", "hook_event_name": "preToolUse", "tool_name": "Shell",
        "tool_input": { "command": "git push" }, "cwd": guard.text("work"),
    });
    assert_eq!(read("cursor", &guard.hook("cursor", &before)), Some(Read::NoObjection));
}

#[test]
fn the_dialect_is_that_of_the_payload() {
    let guard = Guard::new();
    let denied = Play::Shell("echo x > /etc/motd");
    for installed in CLIENTS {
        for client in CLIENTS {
            let event = denied.event(client, &guard.text("work")).unwrap();
            let ended = guard.hook(installed, &event);
            let context = format!("{client} through {installed}: {ended:?}");
            assert_eq!(read(client, &ended), Some(Read::Deny), "{context}");
            let record = guard.last();
            assert_eq!(record["client"], client, "{context}");
            assert_eq!(
                record["via"].as_str(),
                (client != installed).then_some(installed),
                "{record}"
            );
        }
    }
}

#[test]
fn granted_calls_are_allowed_up_to_the_tier_of_their_mode() {
    let guard = Guard::new();
    guard.configure("allow = \"grant\"\n[grant]\nguarded = 1");
    let cwd = guard.text("work");
    for (play, expected) in [
        (Play::Shell("ls"), Read::Allow),
        (Play::Write("x"), Read::Allow),
        (Play::Shell("rm /tmp/scratch/x"), Read::NoObjection),
        (Play::Shell("git push"), Read::Ask),
        (Play::Shell("echo x > /etc/motd"), Read::Deny),
    ] {
        for client in ["claude-code", "copilot", "vscode"] {
            let event = play.event(client, &cwd).unwrap();
            let ended = guard.hook(client, &event);
            assert_eq!(read(client, &ended), Some(expected), "{client} {play:?} {ended:?}");
        }
        // A bare allow is a failed hook for Codex, which asks by another event.
        let mut event = play.event("codex", &cwd).unwrap();
        let ended = guard.hook("codex", &event);
        let is_free = matches!(expected, Read::Allow | Read::NoObjection);
        let codex = if is_free { Read::NoObjection } else { Read::Deny };
        assert_eq!(read("codex", &ended), Some(codex), "{ended:?}");
        event["hook_event_name"] = "PermissionRequest".into();
        let ended = guard.hook("codex", &event);
        let value: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        let behavior = value.pointer("/hookSpecificOutput/decision/behavior");
        let expected = match expected {
            Read::Allow => Some("allow"),
            Read::Deny | Read::Ask => Some("deny"),
            Read::NoObjection => None,
        };
        assert_eq!(behavior.and_then(Value::as_str), expected, "{play:?} {ended:?}");
    }
}

#[test]
fn an_unknown_tool_is_asked_about_unless_a_rule_allows_it() {
    let guard =
        Guard::of("tools { other \"Beta*\" }\npolicy open { deny no-beta { tool \"Beta*\" } }");
    let cwd = guard.text("work");
    let ask = |tool: &str| {
        let mut event = Play::Shell("x").event("claude-code", &cwd).unwrap();
        event["tool_name"] = tool.into();
        read("claude-code", &guard.hook("claude-code", &event))
    };
    assert_eq!(ask("Alpha"), Some(Read::Ask));
    assert_eq!(guard.last()["tool"], "tool:unknown");
    assert_eq!(guard.last()["client_tool"], "Alpha");
    assert_eq!(ask("BetaTool"), Some(Read::Deny));
    assert_eq!(ask("odd name\n"), Some(Read::Ask));
    assert_eq!(guard.last().get("client_tool"), None);
}
