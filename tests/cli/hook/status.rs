//! `relay hook status`: installed, as it should be, trusted, alive.

use std::fs;

use serde_json::{Value, json};

use super::{CLIENTS, Machine};
use crate::cli::schemas::assert_conforms;

fn client<'s>(status: &'s Value, name: &str) -> &'s Value {
    let clients = status["clients"].as_array().expect("a list");
    clients.iter().find(|client| client["client"] == name).expect("every client is listed")
}

#[test]
fn without_an_installation_there_is_nothing_that_guards() {
    let machine = Machine::new();
    let status = machine.hook("status --json").ends(1).json();
    assert_conforms("hook-status", &status);
    assert_eq!(status["state"], "absent");
    let names: Vec<&str> = status["clients"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|client| client["client"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, CLIENTS);
    let run = machine.hook("status").ends(1);
    run.prints("not installed: claude-code, codex").says("relay hook install CLIENT");
}

#[test]
fn an_installed_client_is_well_until_something_changes() {
    let machine = Machine::with_audit();
    let versions = [("claude", "2.1.331 (Claude Code)")];
    machine.hook_with(&versions, "install claude-code").ends(0);
    let status = machine.hook_with(&versions, "status --json").ends(0).json();
    assert_conforms("hook-status", &status);
    assert_eq!(status["state"], "well");
    let machine_status = &status["machine"];
    assert_eq!(
        (&machine_status["valid"], &machine_status["trusted"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(machine_status["epoch"], 1);
    let claude = client(&status, "claude-code");
    assert_eq!(claude["state"], "well");
    assert_eq!(claude["installed"][0]["scope"], "user");
    assert_eq!(claude["installed"][0]["differs"], false);
    assert_eq!((&claude["version"], &claude["is_new_enough"]), (&json!("2.1.331"), &json!(true)));
    assert_eq!(claude["last_record"], Value::Null);
    machine.hook_with(&versions, "status").ends(0).prints("Claude Code well").prints("none yet");

    // Records of trials prove nothing about the client.
    machine.hook("test claude-code").ends(0);
    let status = machine.hook_with(&versions, "status --json").ends(0).json();
    assert_eq!(client(&status, "claude-code")["last_record"], Value::Null);
    // One of the client does, and it may name a tool that no table has.
    let audit = machine.sandbox.path("hook.jsonl");
    let records = fs::read_to_string(&audit).expect("records");
    let mut record: Value =
        serde_json::from_str(records.lines().next().expect("a record")).expect("JSON");
    record["session"] = json!("0123456789abcdef");
    record["client_version"] = json!("2.1.330");
    record["tool"] = json!("tool:unknown");
    record["client_tool"] = json!("Teleport");
    fs::write(&audit, format!("{records}{record}\n")).expect("a file");
    let status = machine.hook_with(&versions, "status --json").ends(0).json();
    assert_conforms("hook-status", &status);
    let claude = client(&status, "claude-code");
    assert_eq!(claude["last_record"]["client_version"], "2.1.330");
    assert!(claude["last_record"]["ago_s"].as_u64().is_some_and(|seconds| seconds < 3600));
    assert_eq!(claude["unknown_tools"], json!(["Teleport"]));

    // A hook of another beside it is named.
    let path = ".claude/settings.json";
    let text = machine.read(path);
    let other = text.replacen(
        "\"PreToolUse\": [",
        "\"PreToolUse\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"/opt/other\" }] },",
        1,
    );
    machine.write(path, &other);
    let status = machine.hook_with(&versions, "status --json").ends(0).json();
    assert_eq!(client(&status, "claude-code")["other_hooks"], 1);

    // Each of these is a fault.
    let faulty = |words: &str| {
        let status = machine.hook_with(&versions, "status --json").ends(1).json();
        assert_conforms("hook-status", &status);
        assert_eq!(status["state"], "faulty");
        let faults =
            format!("{}{}", client(&status, "claude-code")["faults"], status["machine"]["faults"]);
        assert!(faults.contains(words), "{words}: {faults}");
        machine.hook_with(&versions, "status").ends(1).prints("fault: ");
    };
    machine.write(path, &text.replace("\"timeout\": 10", "\"timeout\": 1"));
    faulty("is not as `relay hook install` would write it");
    machine.write(path, &text.replace("\"PreToolUse\"", "\"PostToolUse\""));
    faulty("but not before each tool");
    machine.write(path, &text.replacen('{', "{ \"disableAllHooks\": true,", 1));
    faulty("switches hooks off");
    machine.write(path, &text);
    let old = [("claude", "2.1.200 (Claude Code)")];
    let status = machine.hook_with(&old, "status --json").ends(1).json();
    assert_eq!(client(&status, "claude-code")["is_new_enough"], false);
    let other = machine.sandbox.relay("keygen -o other").ends(0).stdout;
    machine.sandbox.write("trust.toml", &other);
    faulty("the bundle is not trusted");
}

#[test]
fn a_file_that_cannot_be_read_is_not_a_yes() {
    let machine = Machine::with_audit();
    machine.hook("install cursor").ends(0);
    machine.hook("status").ends(0).prints("Cursor well");
    machine.write(".cursor/hooks.json", "{");
    let status = machine.hook("status --json").ends(2).json();
    assert_eq!(client(&status, "cursor")["state"], "unknown");
    machine.hook("install cursor").ends(2);
    fs::remove_file(machine.path(".cursor/hooks.json")).expect("it was there");
    machine.hook("install cursor").ends(0);
    fs::remove_file(machine.sandbox.path("team.relay")).expect("it was there");
    machine.hook("status --json").ends(2);
}

#[test]
fn an_empty_file_of_a_client_has_no_hooks() {
    let machine = Machine::new();
    machine.write(".claude/settings.json", "");
    let status = machine.hook("status --json").ends(1).json();
    assert_eq!(client(&status, "claude-code")["state"], "absent");
    machine.hook("install claude-code --remove").ends(0).prints("relay is not installed");
    assert_eq!(machine.read(".claude/settings.json"), "");
}

#[test]
fn codex_is_faulty_until_a_person_trusts_the_hook() {
    let machine = Machine::with_audit();
    machine.hook("install codex").ends(0).prints("trust the hook in `/hooks`");
    let status = machine.hook("status --json").ends(1).json();
    assert_eq!(client(&status, "codex")["trusted"], false);
    let path = machine.path(".codex/hooks.json").to_string_lossy().into_owned();
    let trusted = |key: &str, more: &str| {
        let text = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:00\"\n{more}");
        machine.write(".codex/config.toml", &text);
        machine.hook("status --json").json()
    };
    let key = format!("{path}:pre_tool_use:0:0");
    assert_eq!(client(&trusted(&key, "enabled = false\n"), "codex")["trusted"], false);
    assert_eq!(client(&trusted(&format!("{path}:stop:0:0"), ""), "codex")["trusted"], false);
    let status = trusted(&key, "enabled = true\n");
    assert_eq!(
        (&client(&status, "codex")["trusted"], &status["state"]),
        (&json!(true), &json!("well"))
    );
}

#[test]
fn clients_that_share_a_file_are_installed_together() {
    let machine = Machine::with_audit();
    machine.hook("install vscode").ends(0);
    let status = machine.hook("status --json").ends(0).json();
    for name in ["copilot", "vscode"] {
        assert_eq!(client(&status, name)["state"], "well", "{name}");
    }
    machine.hook("test copilot").ends(0);
    machine.hook("test vscode").ends(0);
    machine.hook("install copilot --remove").ends(0);
    let status = machine.hook("status --json").ends(1).json();
    assert_eq!(client(&status, "vscode")["state"], "absent");
}
