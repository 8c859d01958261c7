//! What depends on the version of a client.

use super::Machine;

const LINE: &str = "install claude-code --bundle team.relay --trust trust.toml";

#[test]
fn claude_code_is_told_to_close_where_it_can() {
    let on_failure = |machine: &Machine| {
        machine.json(".claude/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"]
            .clone()
    };
    let machine = Machine::new();
    machine.hook(LINE).ends(0).says("the version of Claude Code is unknown");
    assert!(on_failure(&machine).is_null());
    let old = [("claude", "2.1.197 (Claude Code)")];
    machine
        .hook_with(&old, LINE)
        .ends(0)
        .says("Claude Code is 2.1.197, and 2.1.321 or newer is needed");
    assert!(on_failure(&machine).is_null());
    let middle = [("claude", "2.1.295 (Claude Code)")];
    machine.hook_with(&middle, LINE).ends(0).says("2.1.321 or newer is needed");
    assert_eq!(on_failure(&machine), "block");
    let new = [("claude", "2.1.331 (Claude Code)")];
    let run = machine.hook_with(&new, LINE).ends(0).prints("nothing to change");
    assert_eq!(run.stderr, "");
    // A copy of a file that relay made would be no copy of what was there before.
    assert!(!machine.path(".claude/settings.json.relay-backup").exists());
    machine.hook("install claude-code --remove").ends(0);
    assert_eq!(machine.files(), Vec::<String>::new());
}

#[test]
fn a_client_that_loads_no_such_plugin_is_refused() {
    let machine = Machine::new();
    let line = "install opencode --bundle team.relay --trust trust.toml";
    let new = [("opencode", "2.1.4")];
    machine.hook_with(&new, line).ends(2).says("OpenCode 2.1.4 cannot be guarded");
    assert_eq!(machine.files(), Vec::<String>::new());
    machine.hook_with(&[("opencode", "1.18.33")], line).ends(0);
}

#[test]
fn settings_that_switch_hooks_off_are_named() {
    let machine = Machine::new();
    machine.sandbox.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    machine
        .hook(LINE)
        .ends(0)
        .says(".claude/settings.local.json` switches hooks off: `disableAllHooks` is true");
    machine
        .sandbox
        .write(".gemini/settings.json", "{ // c\n\"hooksConfig\": {\"disabled\": [\"relay\"]}}");
    machine.install("gemini").ends(0).says("`hooksConfig.disabled` is [\"relay\"]");
    machine.write(".codex/config.toml", "[features]\nhooks = false\n");
    machine.install("codex").ends(0).says("`features.hooks` is false");
}
