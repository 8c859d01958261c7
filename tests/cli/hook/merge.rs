//! Files of people with hooks of others, comments and a layout of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::Machine;

const CLAUDE: &str = r#"{
    "model": "x",
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "/opt/other check" } ] }
        ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ]
    },
    "permissions": { "allow": ["Bash(ls)"] }
}
"#;

const GEMINI: &str =
    "{\n\t// The look.\n\t\"theme\": \"GitHub\", /* mine */\n\t\"mcpServers\": {},\n}\n";

#[test]
fn the_rest_of_a_file_stays_and_comes_back_byte_for_byte() {
    let cases = [
        ("claude-code", ".claude/settings.json", CLAUDE),
        ("claude-code", ".claude/settings.json", "{}"),
        ("claude-code", ".claude/settings.json", ""),
        ("claude-code", ".claude/settings.json", "{\"model\":\"x\",\"hooks\":{}}"),
        ("codex", ".codex/hooks.json", "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n"),
        ("cursor", ".cursor/hooks.json", "{\r\n  \"version\": 1,\r\n  \"hooks\": {}\r\n}\r\n"),
        ("gemini", ".gemini/settings.json", GEMINI),
        ("copilot", ".copilot/hooks/relay.json", "{\n  \"version\": 1\n}\n"),
        (
            "windsurf",
            ".codeium/windsurf/hooks.json",
            "{ \"hooks\": { \"post_cascade_response\": [ { \"command\": \"x\" } ] } }",
        ),
    ];
    for (client, file, text) in cases {
        let machine = Machine::new();
        machine.write(file, text);
        fs::set_permissions(machine.path(file), fs::Permissions::from_mode(0o640)).expect("a mode");
        machine.install(client).ends(0).prints("and kept a copy");
        let installed = machine.read(file);
        let backup = format!("{file}.relay-backup");
        assert_eq!(machine.read(&backup), text, "{client}");
        let mode = |file: &str| fs::metadata(machine.path(file)).expect(file).permissions().mode();
        assert_eq!(mode(file) & 0o777, 0o640, "{client}");
        assert_eq!(mode(&backup) & 0o777, 0o640, "{client}");
        // Each line of the file is still there, in its order.
        let mut lines = installed.lines();
        for line in
            text.lines().map(|line| line.trim().trim_end_matches([',', '{', '}', '[', ']', ' ']))
        {
            assert!(lines.any(|other| other.contains(line)), "{client}: `{line}` in\n{installed}");
        }
        machine.hook(&format!("install {client}")).ends(0).prints("nothing to change");
        machine.hook(&format!("install {client} --remove")).ends(0);
        assert_eq!(machine.read(file), text, "{client}");
        assert!(!machine.path(&backup).exists(), "{client}");
    }
}

#[test]
fn only_relays_entries_are_taken_out_of_a_file_that_changed() {
    let machine = Machine::new();
    machine.write(".claude/settings.json", CLAUDE);
    machine.install("claude-code").ends(0);
    let installed = machine.read(".claude/settings.json");
    let edited = installed.replace("\"model\": \"x\"", "\"model\": \"y\"");
    assert_ne!(edited, installed);
    machine.write(".claude/settings.json", &edited);
    machine.hook("install claude-code --remove").ends(0);
    let expected = CLAUDE.replace("\"model\": \"x\"", "\"model\": \"y\"");
    assert_eq!(machine.read(".claude/settings.json"), expected);
    // The copy is of another text, and stays.
    assert_eq!(machine.read(".claude/settings.json.relay-backup"), CLAUDE);
}

#[test]
fn a_file_that_relay_made_stays_if_others_use_it() {
    let machine = Machine::new();
    machine.install("claude-code").ends(0);
    let installed = machine.read(".claude/settings.json");
    assert!(installed.starts_with("{\n"), "{installed}");
    machine
        .write(".claude/settings.json", &installed.replacen("{\n", "{\n  \"model\": \"x\",\n", 1));
    machine.hook("install claude-code --remove").ends(0);
    assert_eq!(machine.json(".claude/settings.json"), serde_json::json!({ "model": "x" }));
    assert!(!machine.path(".claude/settings.json.relay-backup").exists());
}

#[test]
fn an_entry_that_differs_is_replaced_in_its_place() {
    let machine = Machine::new();
    machine.write(".claude/settings.json", CLAUDE);
    machine.install("claude-code").ends(0);
    let installed = machine.read(".claude/settings.json");
    // An older installation: another program, an event that is gone, the same hook twice, one of them
    // beside a hook of another.
    let old = r#"{
    "hooks": {
        "PreToolUse": [
            { "hooks": [ { "type": "command", "command": "/old/relay-hook claude-code" },
                         { "type": "command", "command": "/opt/other two" } ] },
            { "matcher": "*", "hooks": [ { "type": "command", "command": "/old/relay hook claude-code" } ] },
            { "matcher": "Bash", "hooks": [ { "type": "command", "command": "/opt/other one" } ] },
            { "matcher": "*", "hooks": [ { "type": "command", "command": "/old/relay-hook", "args": ["claude-code"] } ] }
        ],
        "PostToolUse": [ { "hooks": [ { "type": "command", "command": "/old/relay-hook claude-code" } ] } ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "relay-hook codex" } ] } ]
    }
}
"#;
    machine.write(".claude/settings.json", old);
    machine.hook("install claude-code").ends(0);
    let new = machine.json(".claude/settings.json");
    let text = machine.read(".claude/settings.json");
    assert!(!text.contains("/old/"), "{text}");
    let before = new["hooks"]["PreToolUse"].as_array().expect("a list");
    assert_eq!(before.len(), 3, "{text}");
    assert_eq!(before[0]["hooks"][0]["command"], "/opt/other two");
    let wanted: serde_json::Value = serde_json::from_str(&installed).expect("JSON");
    assert_eq!(before[1], wanted["hooks"]["PreToolUse"][1]);
    assert_eq!(before[2]["hooks"][0]["command"], "/opt/other one");
    // An entry of another client is not relay's for this one.
    assert_eq!(new["hooks"]["Stop"][0]["hooks"][0]["command"], "relay-hook codex");
    machine.hook("install claude-code").ends(0).prints("nothing to change");
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let cases = [
        ("claude-code", ".claude/settings.json", "{ // c\n}", "this client reads no comments"),
        ("claude-code", ".claude/settings.json", "{\"a\":1,\"a\":2}", "the key `a` is there twice"),
        ("claude-code", ".claude/settings.json", "[]", "the file is no object"),
        ("claude-code", ".claude/settings.json", "{\"hooks\":[]}", "`hooks` is no object"),
        (
            "codex",
            ".codex/hooks.json",
            "{\"hooks\":{\"PreToolUse\":{}}}",
            "`PreToolUse` is no list of hooks",
        ),
        ("gemini", ".gemini/settings.json", "{\n  \"a\": \n", "line 3: "),
        ("cline", ".cline/hooks/PreToolUse", "#!/bin/sh\nexit 0\n", "it is not relay's"),
        (
            "opencode",
            ".config/opencode/plugins/relay.js",
            "export default {}\n",
            "it is not relay's",
        ),
    ];
    for (client, file, text, words) in cases {
        let machine = Machine::new();
        machine.write(file, text);
        machine.install(client).ends(2).says(words).says("nothing was changed");
        assert_eq!(machine.read(file), text);
        assert_eq!(machine.files().len(), 1, "{client}: {:?}", machine.files());
    }
}
