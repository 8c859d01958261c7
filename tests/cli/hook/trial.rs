//! `relay hook test`: the installed command line of each client, played with the real `relay-hook`.

use std::fs;

use super::{CLIENTS, Machine};

/// The kinds of tools that a client has an event for.
fn kinds(client: &str) -> usize {
    match client {
        "codex" | "cursor" | "vscode" | "windsurf" => 3,
        _ => 4,
    }
}

#[test]
fn an_installed_client_passes_and_leaves_records_of_trials() {
    for client in CLIENTS {
        let machine = Machine::with_audit();
        machine.hook(&format!("test {client}")).ends(1).says("relay is not installed in");
        machine.hook(&format!("install {client}")).ends(0);
        let run = machine.hook(&format!("test {client}")).ends(0);
        let files = if client == "cline" { 2 } else { 1 };
        let events = kinds(client) * 2 * files;
        let run = run.prints(&format!("every check passed: {events} events, 0 failures"));
        assert_eq!(run.stdout.matches("  ok   ").count(), events, "{}", run.stdout);
        // An event that cannot be read has no record, and every other one has.
        let unread = (kinds(client) - 2) * files;
        let records = fs::read_to_string(machine.sandbox.path("hook.jsonl")).expect("records");
        assert_eq!(records.lines().count(), events - unread, "{client}: {records}");
        assert_eq!(
            run.stdout.matches("its arguments are not readable").count(),
            unread,
            "{client}"
        );
        // The forbidden file was not written: events only describe calls.
        let written = fs::read_to_string(machine.path(".config/relay/hook.toml")).expect("there");
        assert!(written.starts_with("bundle = "), "{written}");
    }
}

#[test]
fn managed_hooks_are_played_too() {
    for client in ["claude-code", "codex", "cursor", "gemini", "windsurf"] {
        let machine = Machine::with_audit();
        let own = machine.path(".config/relay/hook.toml");
        let of_all = machine.system("etc/relay/hook.toml");
        fs::create_dir_all(of_all.parent().expect("a folder")).expect("a folder");
        fs::rename(own, of_all).expect("it moves");
        machine.hook(&format!("install {client} --managed")).ends(0);
        machine
            .hook(&format!("test {client}"))
            .ends(0)
            .prints("(managed)")
            .prints("every check passed");
    }
}

#[test]
fn an_installation_that_lets_calls_run_fails() {
    for (client, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("cursor", ".cursor/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("copilot", ".copilot/hooks/relay.json"),
        ("windsurf", ".codeium/windsurf/hooks.json"),
    ] {
        let machine = Machine::with_audit();
        machine.hook(&format!("install {client}")).ends(0);
        // Another program of that name, which has no objection to anything.
        let silent = machine.sandbox.path("silent/relay-hook");
        fs::create_dir_all(silent.parent().expect("a folder")).expect("a folder");
        fs::copy("/bin/true", &silent).expect("a copy");
        let hook = crate::binaries::relay_hook().to_string_lossy().into_owned();
        let text = machine.read(file).replace(&hook, &silent.to_string_lossy());
        machine.write(file, &text);
        let run = machine.hook(&format!("test {client}")).ends(1).prints("FAIL shell forbidden");
        assert!(!run.stdout.contains("ok   shell"), "{}", run.stdout);
        // A program that is not there: what the wrapper is for.
        fs::remove_file(&silent).expect("it was there");
        let run = machine.hook(&format!("test {client}")).ends(1);
        if !matches!(client, "claude-code" | "cursor") {
            assert!(run.stdout.contains("FAIL shell harmless"), "{}", run.stdout);
            assert!(run.stdout.contains("relay-hook did not answer"), "{}", run.stdout);
        }
    }
}

#[test]
fn scripts_and_plugins_deny_if_relay_does_not_answer() {
    for (client, file) in
        [("opencode", ".config/opencode/plugins/relay.js"), ("cline", ".cline/hooks/PreToolUse")]
    {
        for program in ["/bin/true", "/bin/false", "/bin/cat"] {
            let machine = Machine::with_audit();
            machine.hook(&format!("install {client}")).ends(0);
            let other = machine.sandbox.path("other/relay-hook");
            fs::create_dir_all(other.parent().expect("a folder")).expect("a folder");
            fs::copy(program, &other).expect("a copy");
            let hook = crate::binaries::relay_hook().to_string_lossy().into_owned();
            let text = machine.read(file).replace(&hook, &other.to_string_lossy());
            fs::write(machine.path(file), &text).expect("a file");
            let run = machine.hook(&format!("test {client}")).ends(1);
            let start = run.stdout.find(file).expect("the file is named");
            let harmless = run.stdout[start..].lines().find(|line| line.contains("shell harmless"));
            let harmless = harmless.expect("a check");
            assert!(
                harmless.contains("FAIL") && harmless.contains("DENIED"),
                "{program}: {harmless}"
            );
        }
    }
}

#[test]
fn a_machine_file_that_others_can_write_fails() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::with_audit();
    machine.hook("install codex").ends(0);
    let path = machine.path(".config/relay/hook.toml");
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("a mode");
    machine.hook("test codex").ends(1).prints("FAIL machine file").prints("others may write to it");
}
