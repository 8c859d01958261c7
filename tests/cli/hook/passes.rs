//! `relay hook CLIENT`: the same as `relay-hook`, and a denial if that is missing.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use super::Machine;
use crate::binaries;

/// An event of Claude Code about a command.
fn event(command: &str) -> String {
    serde_json::json!({
        "session_id": "s",
        "transcript_path": "/dev/null",
        "cwd": "/srv",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": command },
        "tool_use_id": "t",
    })
    .to_string()
}

#[test]
fn the_answer_and_the_exit_code_pass_through() {
    let machine = Machine::with_audit();
    let config = machine.path(".config/relay/hook.toml");
    let answer = |command: &str| {
        let mut program = machine.sandbox.command(binaries::relay());
        program.args(["hook", "claude-code", "--config"]).arg(&config);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(event(command).as_bytes()).expect("it reads");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    };
    let fine = answer("true");
    assert_eq!((fine.status.code(), fine.stdout.as_slice()), (Some(0), &b""[..]));
    let denied = answer("cat ~/.ssh/id_ed25519");
    assert_eq!(denied.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&denied.stderr).contains("DENIED"));
    let value: serde_json::Value = serde_json::from_slice(&denied.stdout).expect("JSON");
    assert_eq!(value["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_missing_program_and_a_wrong_line_are_denials() {
    let machine = Machine::new();
    let alone = machine.sandbox.path("alone");
    fs::create_dir(&alone).expect("a folder");
    fs::copy(binaries::relay(), alone.join("relay")).expect("a copy");
    let mut command = machine.sandbox.command(alone.join("relay"));
    command.args(["hook", "codex"]).env("PATH", "/nowhere");
    let run = machine.sandbox.run(command).ends(2);
    run.says("this call is denied: cannot find `relay-hook` beside `relay` or in PATH");
    for line in
        ["hook", "hook codx", "hook codex --confg x", "hook codex extra", "hook codex --config"]
    {
        machine.sandbox.relay(line).ends(2);
    }
}
