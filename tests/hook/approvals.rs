//! A person's yes where the client cannot ask: once, for the same call, by a signature.

use std::fs;
use std::process::Command;

use ed25519_dalek::{Signer as _, SigningKey};
use relay_bundle::trust::PublicKey;
use relay_hook::approval::{self, Waiting};
use serde_json::Value;

use super::answers::{Read, read};
use super::dialect::Play;
use super::guard::{Guard, fed};
use crate::binaries::relay;
use crate::bundle::sample::key;

const NOW: u64 = 4_000_000_000;

/// Denies the call, and returns its code.
fn denied(guard: &Guard, event: &Value) -> String {
    let ended = guard.hook("codex", event);
    assert_eq!(read("codex", &ended), Some(Read::Deny), "{ended:?}");
    let rest = ended.stderr.split("`relay approve ").nth(1).expect("a code");
    rest.split('`').next().expect("its end").to_owned()
}

fn put_key(guard: &Guard, key: &SigningKey) {
    let line = format!("{} ann\n", PublicKey(key.verifying_key()));
    guard.write("state/approve.pub", &line);
}

fn approve(guard: &Guard, waiting: &Waiting, until: u64, key: &SigningKey) {
    let signature = key.sign(approval::signed(waiting, until).as_bytes());
    approval::approve(&guard.path("state"), waiting, until, &signature).expect("an approval");
}

#[test]
fn an_approved_call_runs_once() {
    let guard = Guard::new();
    put_key_after_first_call(&guard);
    let event = Play::Shell("git push").event("codex", &guard.text("work")).unwrap();
    let code = denied(&guard, &event);
    assert_eq!(denied(&guard, &event), code, "the same call has the same code");
    let waiting = approval::waiting(&guard.path("state"), &code).expect("it waits");
    assert_eq!((waiting.text.as_str(), waiting.tool.as_str()), ("git push", "shell_exec"));
    assert!(waiting.reason.contains("pushes: OPS-3"), "{waiting:?}");
    approve(&guard, &waiting, NOW, &key(7));
    let ended = guard.hook("codex", &event);
    assert_eq!(read("codex", &ended), Some(Read::NoObjection), "{ended:?}");
    let record = guard.last();
    assert!(record["rule"].as_str().unwrap().ends_with("approved once by a person"), "{record}");
    assert_eq!(denied(&guard, &event), code, "once");
}

/// Runs the hook once, which makes the state folder, and puts the public key there.
fn put_key_after_first_call(guard: &Guard) {
    let event = Play::Shell("ls").event("codex", &guard.text("work")).unwrap();
    guard.hook("codex", &event);
    put_key(guard, &key(7));
}

#[test]
fn an_approval_is_for_one_text_folder_caller_and_bundle() {
    let guard = Guard::new();
    put_key_after_first_call(&guard);
    let event = Play::Shell("git push").event("codex", &guard.text("work")).unwrap();
    let code = denied(&guard, &event);
    let waiting = approval::waiting(&guard.path("state"), &code).expect("it waits");
    approve(&guard, &waiting, NOW, &key(7));
    fs::create_dir(guard.path("work/other")).unwrap();
    let others = [
        Play::Shell("git push ").event("codex", &guard.text("work")).unwrap(),
        Play::Shell("git push --force").event("codex", &guard.text("work")).unwrap(),
        Play::Shell("git push").event("codex", &guard.text("work/other")).unwrap(),
    ];
    for other in &others {
        assert_ne!(denied(&guard, other), code);
    }
    let file = fs::read_to_string(guard.path("hook.toml")).unwrap();
    guard.write("hook.toml", &file.replace("'ann'", "'bob'"));
    assert_ne!(denied(&guard, &event), code);
    guard.write("hook.toml", &file);
    guard.put_bundle(2, &super::guard::POLICY.replace("OPS-3", "OPS-4"));
    assert_ne!(denied(&guard, &event), code);
    guard.put_bundle(3, super::guard::POLICY);
    assert_ne!(denied(&guard, &event), code, "another epoch is another bundle");
}

#[test]
fn a_false_approval_is_none() {
    let guard = Guard::new();
    put_key_after_first_call(&guard);
    let event = Play::Shell("git push").event("codex", &guard.text("work")).unwrap();
    let code = denied(&guard, &event);
    let waiting = approval::waiting(&guard.path("state"), &code).expect("it waits");
    // Signed by another key, expired, for another call, and not signed at all.
    approve(&guard, &waiting, NOW, &key(8));
    assert_eq!(denied(&guard, &event), code);
    approve(&guard, &waiting, 1_000, &key(7));
    assert_eq!(denied(&guard, &event), code);
    let other = Waiting { key: "0".repeat(64), ..waiting.clone() };
    let signature = key(7).sign(approval::signed(&other, NOW).as_bytes());
    approval::approve(&guard.path("state"), &waiting, NOW, &signature).expect("an approval");
    assert_eq!(denied(&guard, &event), code);
    guard.write(&format!("state/approvals/{}.yes", waiting.key), "{}");
    assert_eq!(denied(&guard, &event), code);
    fs::remove_file(guard.path("state/approve.pub")).unwrap();
    approve(&guard, &waiting, NOW, &key(7));
    assert_eq!(denied(&guard, &event), code);
}

#[test]
fn a_denied_call_has_no_code_and_a_client_that_asks_needs_none() {
    let guard = Guard::new();
    let event = Play::Shell("echo x > /etc/motd").event("codex", &guard.text("work")).unwrap();
    assert!(!guard.hook("codex", &event).stderr.contains("relay approve"));
    let event = Play::Shell("git push").event("claude-code", &guard.text("work")).unwrap();
    assert!(!guard.hook("claude-code", &event).stdout.contains("relay approve"));
}

#[test]
fn an_approval_needs_a_terminal_and_no_agent_above() {
    let guard = Guard::new();
    let event = Play::Shell("git push").event("codex", &guard.text("work")).unwrap();
    let code = denied(&guard, &event);
    let approve = |command: &mut Command| {
        command.args(["approve", &code, "--config"]).arg(guard.path("hook.toml"));
        command.env("HOME", guard.path("home"));
    };
    let mut command = harness::command(relay(), &guard.path(""));
    approve(&mut command);
    let ended = fed(command, b"yes\n");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("in a terminal"), "{ended:?}");
    // In a terminal, below a program that is called like an agent's client.
    fs::copy("/bin/sh", guard.path("claude")).expect("a shell");
    let line = format!(
        "'{}' -c '\"{}\" approve {code} --config \"{}\"; echo ended $?'",
        guard.text("claude"),
        relay().display(),
        guard.text("hook.toml")
    );
    let mut command = harness::command("script", &guard.path(""));
    command.args(["-qec", &line, "/dev/null"]).env("HOME", guard.path("home"));
    let ended = fed(command, b"yes\n");
    assert!(ended.stdout.contains("an agent approves nothing"), "{ended:?}");
    assert!(ended.stdout.contains("ended 1"), "{ended:?}");
    assert_eq!(denied(&guard, &event), code);
    // In a terminal of its own, unless these tests themselves run below an agent.
    let line = line.replacen(&guard.text("claude"), "/bin/sh", 1);
    let mut command = harness::command("script", &guard.path(""));
    command.args(["-qec", &line, "/dev/null"]).env("HOME", guard.path("home"));
    let ended = fed(command, b"yes\n");
    if !ended.stdout.contains("an agent approves nothing") {
        assert!(ended.stdout.contains("git push") && ended.stdout.contains("ended 0"), "{ended:?}");
        assert_eq!(read("codex", &guard.hook("codex", &event)), Some(Read::NoObjection));
    }
}
