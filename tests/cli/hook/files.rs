//! What an installation writes where there is nothing yet, and that it is taken away again.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::{CLIENTS, Machine};
use crate::binaries;

/// The files of each client, below the home.
const FILES: [(&str, &[&str]); 9] = [
    ("claude-code", &[".claude/settings.json"]),
    ("codex", &[".codex/hooks.json"]),
    ("cursor", &[".cursor/hooks.json"]),
    ("gemini", &[".gemini/settings.json"]),
    ("copilot", &[".copilot/hooks/relay.json"]),
    ("vscode", &[".copilot/hooks/relay.json"]),
    ("opencode", &[".config/opencode/plugins/relay.js"]),
    ("cline", &[".cline/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"]),
    ("windsurf", &[".codeium/windsurf/hooks.json"]),
];

#[test]
fn a_client_is_installed_once_and_taken_away_again() {
    assert_eq!(FILES.map(|(client, _)| client), CLIENTS);
    for (client, files) in FILES {
        let machine = Machine::new();
        let run = machine.install(client).ends(0);
        let run = run.prints("Open in ").prints(&format!("relay hook test {client}"));
        for file in files {
            assert!(run.stdout.contains(&format!("/{file}\n")), "{client}: {}", run.stdout);
            let mode = fs::metadata(machine.path(file)).expect(file).permissions().mode();
            assert_eq!(mode & 0o777, if client == "cline" { 0o700 } else { 0o600 }, "{file}");
            let text = machine.read(file);
            assert!(
                text.contains(&binaries::relay_hook().to_string_lossy().into_owned()),
                "{text}"
            );
            assert!(text.contains("/.config/relay/hook.toml"), "{text}");
        }
        let before = machine.files();
        assert_eq!(before.len(), files.len() + 1, "{client}: {before:?}");
        let texts: Vec<String> = files.iter().map(|file| machine.read(file)).collect();
        // Again, and without options: the machine file is there.
        machine.hook(&format!("install {client}")).ends(0).prints("nothing to change");
        assert_eq!(texts, files.iter().map(|file| machine.read(file)).collect::<Vec<_>>());
        assert_eq!(machine.files(), before, "{client}");
        machine.hook(&format!("install {client} --remove")).ends(0).prints("removed ");
        assert_eq!(machine.files(), Vec::<String>::new(), "{client}");
        machine
            .hook(&format!("install {client} --remove"))
            .ends(0)
            .prints("relay is not installed");
    }
}

#[test]
fn the_entries_have_the_form_of_each_client() {
    let machine = Machine::new();
    for client in CLIENTS {
        machine.install(client).ends(0);
    }
    let hook = binaries::relay_hook().to_string_lossy().into_owned();
    let config = machine.path(".config/relay/hook.toml").to_string_lossy().into_owned();
    let closed = |client: &str| {
        format!(
            "/bin/sh -c '\"$0\" \"$@\" || {{ [ $? -eq 2 ] || echo \"[DENIED: relay-hook did not answer]\" >&2; exit 2; }}' {hook} {client} --config {config}"
        )
    };
    let exec = json!({
        "type": "command",
        "command": hook,
        "args": ["claude-code", "--config", config],
        "timeout": 10,
    });
    let claude = machine.json(".claude/settings.json");
    assert_eq!(claude["hooks"]["PreToolUse"], json!([{ "matcher": "*", "hooks": [exec] }]));
    assert_eq!(claude["hooks"]["ConfigChange"], json!([{ "hooks": [exec] }]));
    assert_eq!(claude["hooks"]["SessionStart"], json!([{ "hooks": [exec] }]));
    let codex = machine.json(".codex/hooks.json");
    let expected = json!({ "type": "command", "command": closed("codex"), "timeout": 10 });
    assert_eq!(codex["hooks"]["PreToolUse"], json!([{ "matcher": "*", "hooks": [expected] }]));
    assert!(codex["hooks"].get("PermissionRequest").is_none());
    let gemini = machine.json(".gemini/settings.json");
    let expected = json!({ "type": "command", "name": "relay", "command": closed("gemini"), "timeout": 10_000 });
    assert_eq!(gemini["hooks"]["BeforeTool"], json!([{ "matcher": ".*", "hooks": [expected] }]));
    let cursor = machine.json(".cursor/hooks.json");
    assert_eq!(cursor["version"], 1);
    let expected = json!([{
        "command": format!("{hook} cursor --config {config}"),
        "timeout": 10,
        "failClosed": true,
    }]);
    for event in ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"] {
        assert_eq!(cursor["hooks"][event], expected, "{event}");
    }
    // Copilot CLI and VS Code share a file, with one entry.
    let copilot = machine.json(".copilot/hooks/relay.json");
    let expected = json!([{ "type": "command", "bash": closed("copilot"), "timeoutSec": 10 }]);
    assert_eq!(
        copilot,
        json!({
            "version": 1,
            "hooks": { "preToolUse": expected, "sessionStart": expected },
        })
    );
    let windsurf = machine.json(".codeium/windsurf/hooks.json");
    let expected = json!([{ "command": closed("windsurf"), "show_output": true }]);
    for event in ["pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"] {
        assert_eq!(windsurf["hooks"][event], expected, "{event}");
    }
}

#[test]
fn the_machine_file_is_written_once() {
    let machine = Machine::new();
    machine.hook("install codex").ends(2).says("there is no machine file").says("--bundle FILE");
    machine.hook("install codex --bundle team.relay").ends(2).says("there is no machine file");
    for (option, key) in [("group", "groups"), ("tenant", "tenant"), ("role", "role")] {
        let line = format!("install codex --bundle team.relay --trust trust.toml --{option}=");
        machine.hook(&line).ends(2).says(&format!("`{key}` is empty"));
    }
    assert!(!machine.path(".config").exists() && !machine.path(".codex").exists());
    machine.install("codex").ends(0);
    let written = machine.read(".config/relay/hook.toml");
    let bundle = machine.sandbox.path("team.relay").to_string_lossy().into_owned();
    assert!(written.contains(&format!("bundle = \"{bundle}\"\n")), "{written}");
    assert!(written.contains("principal = \"os-user\"\n"), "{written}");
    // Another option is no silent change of what every client goes by.
    machine.hook("install gemini --principal ann").ends(2).says("says `principal = \"os-user\"`");
    machine.hook("install gemini --bundle team.relay --role x").ends(2).says("`role = (none)`");
    assert_eq!(machine.read(".config/relay/hook.toml"), written);
    assert!(!machine.path(".gemini").exists());
    // It stays as long as a client needs it, and if a person changed it.
    machine.install("gemini").ends(0);
    machine.hook("install codex --remove").ends(0);
    assert_eq!(machine.read(".config/relay/hook.toml"), written);
    let changed = format!("{written}budget = \"1s\"\n");
    machine.write(".config/relay/hook.toml", &changed);
    machine.hook("install gemini --remove").ends(0);
    assert_eq!(machine.read(".config/relay/hook.toml"), changed);
}

#[test]
fn a_machine_file_may_have_another_name() {
    let machine = Machine::new();
    machine
        .hook("install cursor --bundle team.relay --trust trust.toml --config own.toml --principal ann")
        .ends(0);
    let own = machine.sandbox.path("own.toml");
    assert!(super::text(&own).contains("principal = \"ann\""));
    assert!(machine.read(".cursor/hooks.json").contains(&own.to_string_lossy().into_owned()));
    machine.hook("install cursor --remove").ends(0);
    assert!(!own.exists());
}

#[test]
fn a_dry_run_prints_a_diff_and_writes_nothing() {
    for client in CLIENTS {
        let machine = Machine::new();
        let line = format!("install {client} --bundle team.relay --trust trust.toml --dry-run");
        let run = machine.hook(&line).ends(0);
        assert!(run.stdout.contains("--- /dev/null\n+++ "), "{}", run.stdout);
        assert!(run.stdout.contains("+bundle = "), "{}", run.stdout);
        assert_eq!(machine.files(), Vec::<String>::new(), "{client}");
        machine.install(client).ends(0);
        let before = machine.files();
        machine.hook(&format!("install {client} --dry-run")).ends(0).says("nothing to change");
        let run = machine.hook(&format!("install {client} --remove --dry-run")).ends(0);
        assert!(run.stdout.contains("+++ /dev/null\n"), "{}", run.stdout);
        assert_eq!(machine.files(), before, "{client}");
    }
}

#[test]
fn links_out_of_the_home_are_refused() {
    let machine = Machine::new();
    let outside = machine.sandbox.path("outside");
    fs::create_dir(&outside).expect("a folder");
    symlink(&outside, machine.path(".claude")).expect("a link");
    let run = machine.install("claude-code").ends(2);
    run.says("leads to").says("which is outside of");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0);
    assert!(
        !machine.path(".config/relay/hook.toml").exists(),
        "nothing is written before a refusal"
    );
    symlink("nowhere", machine.path(".cursor")).expect("a link");
    machine.install("cursor").ends(2).says("is a link that leads nowhere");
    // A link within the home stays a link.
    machine.write("dotfiles/gemini.json", "{\n  \"theme\": \"x\"\n}\n");
    fs::create_dir(machine.path(".gemini")).expect("a folder");
    symlink(machine.path("dotfiles/gemini.json"), machine.path(".gemini/settings.json"))
        .expect("a link");
    machine.install("gemini").ends(0);
    assert!(machine.path(".gemini/settings.json").is_symlink());
    assert!(machine.read("dotfiles/gemini.json").contains("BeforeTool"));
}

#[test]
fn a_program_that_others_can_change_is_refused() {
    let machine = Machine::new();
    let line = "hook install codex --root root --bundle team.relay --trust trust.toml";
    let folder = machine.sandbox.path("bin-a");
    fs::create_dir(&folder).expect("a folder");
    for program in [binaries::relay(), binaries::relay_hook()] {
        let name = program.file_name().expect("a name");
        fs::copy(program, folder.join(name)).expect("a copy");
    }
    let mut command = machine.sandbox.command(folder.join("relay"));
    command.args(line.split(' ')).env("TMPDIR", machine.sandbox.path("."));
    let words = "cannot be what clients run: ";
    machine.sandbox.run(command).ends(2).says(words).says("a folder for temporary files");
    assert_eq!(machine.files(), Vec::<String>::new());
    // The programs of the tests are in a folder of builds, which may be below one for temporary files.
    let mut command = machine.sandbox.command(binaries::relay());
    command.args(line.split(' '));
    machine.sandbox.run(command).ends(2).says(words);
    assert_eq!(machine.files(), Vec::<String>::new());
}

#[test]
fn a_bundle_that_would_deny_everything_is_refused() {
    let machine = Machine::of("");
    machine.install("codex").ends(0).says("has no policy");
    let machine = Machine::of("policy\nroles { role a tier=2 }\nusers { user ann role=a }\n");
    let line = "install codex --bundle team.relay --trust trust.toml";
    machine.hook(&format!("{line} --principal bob")).ends(0).says("gives this caller no place");
    let machine = Machine::of("policy\nroles { role a tier=2 }\nusers { user ann role=a }\n");
    let run = machine.hook(&format!("{line} --principal ann --role a")).ends(0);
    assert!(!run.stderr.contains("no place"), "{}", run.stderr);
    let machine = Machine::of("policy\nroles { role a tier=2 }\nusers { group ops role=a }\n");
    let run = machine.hook(&format!("{line} --principal bob --group ops --group dev")).ends(0);
    assert!(!run.stderr.contains("no place"), "{}", run.stderr);
    let written = super::text(&machine.path(".config/relay/hook.toml"));
    assert!(written.contains("groups = [\"ops\", \"dev\"]\n"), "{written}");
    machine.hook("install gemini --group ops").ends(2).says("says `groups = [\"ops\", \"dev\"]`");
    machine.hook("install gemini --group ops --group dev").ends(0);
    machine.hook("install codex --remove").ends(0);
    machine.hook("install gemini --remove").ends(0);
    assert_eq!(machine.files(), Vec::<String>::new());
    let machine = Machine::of("policy\nroles { role a tier=2 }\nusers { user ann role=a }\n");
    machine.hook(&format!("{line} --principal ann --role a")).ends(0);
    let other = machine.sandbox.relay("keygen -o other").ends(0).stdout;
    machine.sandbox.write("other.toml", &other);
    let machine_file = machine.path(".config/relay/hook.toml");
    fs::remove_file(machine_file).expect("it was written");
    machine
        .hook("install gemini --bundle team.relay --trust other.toml")
        .ends(1)
        .says("is not trusted, and every call would be denied");
    assert!(!machine.path(".gemini").exists());
}
