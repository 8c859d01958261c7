//! The files of the system, for all users.

use serde_json::{Value, json};

use super::{Machine, text};

#[test]
fn managed_files_hold_for_all_users() {
    let machine = Machine::new();
    let line =
        |client: &str| format!("install {client} --managed --bundle team.relay --trust trust.toml");
    for client in ["claude-code", "codex", "cursor", "gemini", "windsurf"] {
        let run = machine.hook(&line(client)).ends(0);
        assert!(!run.stdout.contains("the agent runs as you"), "{}", run.stdout);
    }
    assert_eq!(
        machine.files(),
        [
            "etc/claude-code/managed-settings.d/50-relay.json",
            "etc/codex/requirements.toml",
            "etc/cursor/hooks.json",
            "etc/gemini-cli/settings.json",
            "etc/relay/hook.toml",
            "etc/windsurf/hooks.json",
        ]
    );
    let read = |file: &str| text(&machine.system(file));
    let parse = |file: &str| serde_json::from_str::<Value>(&read(file)).expect(file);
    let claude = parse("etc/claude-code/managed-settings.d/50-relay.json");
    assert_eq!(claude["allowManagedHooksOnly"], true);
    assert_eq!(claude["hooks"]["PreToolUse"][0]["matcher"], "*");
    // It would undo each change of a person's settings, which have no entry of relay in this form.
    assert!(claude["hooks"].get("ConfigChange").is_none());
    assert_eq!(parse("etc/gemini-cli/settings.json")["hooksConfig"], json!({ "enabled": true }));
    let codex: toml::Table = toml::from_str(&read("etc/codex/requirements.toml")).expect("TOML");
    assert_eq!(codex["allow_managed_hooks_only"].as_bool(), Some(true));
    assert_eq!(codex["features"]["hooks"].as_bool(), Some(true));
    let entry = &codex["hooks"]["PreToolUse"][0];
    assert_eq!(entry["matcher"].as_str(), Some("*"));
    let command = entry["hooks"][0]["command"].as_str().expect("a text");
    assert!(command.contains("/etc/relay/hook.toml"), "{command}");
    for client in ["copilot", "vscode", "opencode", "cline"] {
        machine.hook(&line(client)).ends(2).says("has no managed files");
    }
    // With a file of all users, one of a person does not count.
    machine.hook("install codex --config own.toml").ends(2).says("so `--config` would be idle");
    for client in ["claude-code", "codex", "cursor", "gemini", "windsurf"] {
        machine.hook(&format!("install {client} --managed")).ends(0).prints("nothing to change");
        machine.hook(&format!("install {client} --managed --remove")).ends(0);
    }
    assert_eq!(machine.files(), Vec::<String>::new());
}

#[test]
fn requirements_of_codex_keep_their_comments() {
    let machine = Machine::new();
    let own = "# Of the security team.\nallowed_sandbox_modes = [\"read-only\"] # strict\n\n[features]\n# off for now\nx = false\nhooks = false # none\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"/opt/other\"\n";
    let path = machine.system("etc/codex/requirements.toml");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, own).expect("a file");
    machine.hook("install codex --managed --bundle team.relay --trust trust.toml").ends(0);
    let installed = text(&path);
    for line in ["# Of the security team.", "# strict", "# off for now", "\"/opt/other\""] {
        assert!(installed.contains(line), "{line}\n{installed}");
    }
    let read: toml::Table = toml::from_str(&installed).expect("TOML");
    assert_eq!(read["features"]["hooks"].as_bool(), Some(true));
    assert_eq!(read["hooks"]["PreToolUse"].as_array().map(Vec::len), Some(2));
    machine.hook("install codex --managed").ends(0).prints("nothing to change");
    machine.hook("install codex --managed --remove").ends(0);
    assert_eq!(text(&path), own);
}
