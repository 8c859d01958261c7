//! Ways to get a call past the hook: broken events, broken files, a machine that fails. None is an
//! allow.

#![expect(clippy::disallowed_methods, reason = "it looks at the clock")]

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::thread;
use std::time::{Duration, SystemTime};

use harness::{Ended, Process};
use relay_bundle::trust::Time;
use relay_engine::audit_chain;
use serde_json::{Value, json};

use super::answers::{Read, read};
use super::dialect::{CLIENTS, Play};
use super::guard::{Guard, POLICY, fed};
use crate::bundle::sample;
use crate::serve::house::{SIGNER, trusted};

fn harmless(guard: &Guard, client: &str) -> Value {
    Play::Shell("ls").event(client, &guard.text("work")).expect("every client has a shell")
}

/// Asserts that an answer denies, and says why.
fn assert_denied(client: &str, ended: &Ended, why: &str) {
    assert_eq!(read(client, ended), Some(Read::Deny), "{client}: {ended:?}");
    assert!(ended.stderr.contains(why), "{client}: no `{why}` in {ended:?}");
}

#[test]
fn a_broken_event_is_denied_in_the_dialect_of_the_hook() {
    let guard = Guard::new();
    for client in CLIENTS {
        let good = harmless(&guard, client).to_string();
        let deep =
            format!("{}\"deep\":{}1{}}}", &good[..1], "[".repeat(10_000), "]".repeat(10_000));
        let large = format!("{{\"x\":\"{}\",{}", "x".repeat(10 << 20), &good[1..]);
        let doubled = format!("{{\"cwd\":\"/\",\"cwd\":\"/\",{}", &good[1..]);
        let half = &good[..good.len() / 2];
        for bad in [
            "",
            "null",
            "[]",
            "{}",
            "{\"hello\":1}",
            half,
            &doubled,
            &format!("{good} {good}"),
            &format!("\u{feff}{good}"),
            &format!("x{good}"),
            &deep,
            &large,
        ] {
            let ended = guard.run(client, bad.as_bytes());
            assert_denied(client, &ended, "relay cannot decide this call");
        }
        assert_ne!(read(client, &guard.run(client, good.as_bytes())), Some(Read::Deny));
    }
}

/// The first hooks of a machine start together: each makes the private copy of the bundle, and adds to
/// one audit file.
#[test]
fn many_hooks_at_once_decide_each_for_itself_and_keep_one_chain() {
    const EACH: usize = 8;
    let guard = Guard::new();
    let work = guard.text("work");
    let denied = Play::Shell("echo x > /etc/x").event("claude-code", &work).expect("a shell");
    let allowed = harmless(&guard, "claude-code");
    let answers = thread::scope(|scope| {
        let start = |event: &Value| {
            let (guard, event) = (&guard, event.clone());
            scope.spawn(move || read("claude-code", &guard.hook("claude-code", &event)))
        };
        let running: Vec<_> = (0..EACH).flat_map(|_| [start(&denied), start(&allowed)]).collect();
        running.into_iter().map(|it| it.join().expect("no panic")).collect::<Vec<_>>()
    });
    for (place, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer == Some(Read::Deny), place % 2 == 0, "{place}: {answer:?}");
        assert!(answer.is_some(), "{place}");
    }
    let file = guard.text("audit.jsonl");
    let text = fs::read_to_string(&file).expect("records");
    assert_eq!(text.lines().count(), 2 * EACH);
    let mut before = audit_chain::START;
    for line in text.lines() {
        let record = audit_chain::read(line).expect("a record of a chain");
        assert_eq!((record.prev, record.link.seq), (before.hash, before.seq + 1));
        before = record.link;
    }
}

#[test]
fn half_an_event_is_no_event() {
    let guard = Guard::new();
    for client in CLIENTS {
        let event = harmless(&guard, client);
        let parts: &[&str] = match client {
            "copilot" => &["/toolName", "/toolArgs"],
            "cursor" => &["/command"],
            "opencode" => &["/tool", "/args"],
            "cline" => &["/preToolUse", "/preToolUse/toolName", "/preToolUse/parameters"],
            "windsurf" => &["/tool_info", "/tool_info/command_line"],
            _ => &["/tool_name", "/tool_input", "/cwd"],
        };
        for part in parts {
            for odd in [None, Some(json!(7)), Some(json!(["ls"])), Some(json!({ "a": 1 }))] {
                let mut event = event.clone();
                let (object, name) = part.rsplit_once('/').unwrap();
                let object = event.pointer_mut(object).unwrap().as_object_mut().unwrap();
                match odd.clone() {
                    // An unknown argument of a shell is one that it lacks.
                    Some(odd) => object.insert(name.to_owned(), odd),
                    None => object.remove(name),
                };
                let ended = guard.hook(client, &event);
                let context = format!("{client} {part} {odd:?}: {ended:?}");
                let is_list = *part == "/tool_info/command_line" && odd == Some(json!(["ls"]));
                assert!(is_list || read(client, &ended) == Some(Read::Deny), "{context}");
            }
        }
    }
}

#[test]
fn a_machine_file_that_others_write_or_that_is_wrong_denies() {
    let guard = Guard::new();
    let event = harmless(&guard, "claude-code");
    let ask = || guard.hook("claude-code", &event);
    fs::set_permissions(guard.path("hook.toml"), Permissions::from_mode(0o666)).unwrap();
    assert_denied("claude-code", &ask(), "others may write");
    fs::set_permissions(guard.path("hook.toml"), Permissions::from_mode(0o600)).unwrap();
    for (line, why) in [
        ("nonsense = 1", "nonsense"),
        ("allow = \"maybe\"", "allow"),
        ("budget = \"9h\"", "budget"),
        ("budget = \"0s\"", "budget"),
        ("[grant]\nopen = 1", "grant"),
        ("role = 7", "role"),
        ("role = \" \"", "`role` is empty"),
        ("groups = [\"\"]", "`groups` is empty"),
    ] {
        guard.configure(line);
        assert_denied("claude-code", &ask(), why);
    }
    guard.write("hook.toml", "bundle = \"guard.relay\"\ntrust = \"trust.toml\"\n");
    assert_denied("claude-code", &ask(), "relative path");
    fs::remove_file(guard.path("hook.toml")).unwrap();
    assert_denied("claude-code", &ask(), "cannot read the machine file");
    fs::create_dir(guard.path("hook.toml")).unwrap();
    assert_denied("claude-code", &ask(), "machine file");
}

#[test]
fn a_bundle_that_no_server_would_serve_denies() {
    let guard = Guard::new();
    let event = harmless(&guard, "codex");
    let ask = || guard.hook("codex", &event);
    let is_free = |ended: &Ended| read("codex", ended) == Some(Read::NoObjection);
    assert!(is_free(&ask()), "{:?}", ask());
    let good = fs::read(guard.path("guard.relay")).unwrap();
    // A later epoch was in force.
    guard.put_bundle(5, POLICY);
    assert!(is_free(&ask()));
    fs::write(guard.path("guard.relay"), &good).unwrap();
    assert_denied("codex", &ask(), "epoch");
    guard.put_bundle(6, POLICY);
    assert!(is_free(&ask()));
    // Revoked.
    let bundle = fs::read(guard.path("guard.relay")).unwrap();
    let digest = sample::open(&bundle).unwrap().digest();
    let trust =
        format!("version = 2\n{}\n[revoked]\ndigests = [\"{digest}\"]\n", trusted(SIGNER, ""));
    guard.write("trust.toml", &trust);
    assert_denied("codex", &ask(), "revoked");
    assert_eq!(guard.last()["decision"], "deny");
    // The trust file from before.
    guard.write("trust.toml", &format!("version = 1\n{}", trusted(SIGNER, "")));
    assert_denied("codex", &ask(), "version");
    guard.write("trust.toml", &format!("version = 3\n{}", trusted(9, "")));
    assert_denied("codex", &ask(), "guard.relay");
    guard.write("trust.toml", &format!("version = 3\n{}", trusted(SIGNER, "")));
    assert!(is_free(&ask()));
    let mut cut = bundle.clone();
    cut.truncate(bundle.len() / 2);
    for bad in [&cut[..], b"", b"nonsense"] {
        fs::write(guard.path("guard.relay"), bad).unwrap();
        assert_denied("codex", &ask(), "relay cannot decide this call");
    }
    // A page that nothing has read yet.
    let mut changed = bundle.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(guard.path("guard.relay"), &changed).unwrap();
    fs::remove_dir_all(guard.path("state")).unwrap();
    assert_denied("codex", &ask(), "relay cannot decide this call");
    fs::remove_file(guard.path("guard.relay")).unwrap();
    assert_denied("codex", &ask(), "guard.relay");
}

#[test]
fn a_clock_that_was_set_back_makes_no_expired_key_good() {
    let guard = Guard::new();
    let event = harmless(&guard, "gemini");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let end = now + Duration::from_secs(3600);
    let end = Time(end.as_secs());
    let trust = format!("version = 1\n{}", trusted(SIGNER, &format!("not-after = \"{end}\"")));
    guard.write("trust.toml", &trust);
    assert_eq!(read("gemini", &guard.hook("gemini", &event)), Some(Read::NoObjection));
    // The machine was at a later time before: as if its clock were set back by two hours now.
    let later = SystemTime::now() + Duration::from_secs(7200);
    fs::File::open(guard.path("state/clock")).unwrap().set_modified(later).unwrap();
    let ended = guard.hook("gemini", &event);
    assert_eq!(read("gemini", &ended), Some(Read::Deny), "{ended:?}");
}

#[test]
fn an_event_that_cannot_be_recorded_runs_nothing_of_tier_2() {
    let guard = Guard::of("policy open");
    let cwd = guard.text("work");
    let ask = |text: &str| {
        let event = Play::Shell(text).event("copilot", &cwd).unwrap();
        guard.hook("copilot", &event)
    };
    assert_eq!(read("copilot", &ask("rm x")), Some(Read::NoObjection));
    fs::remove_file(guard.path("audit.jsonl")).unwrap();
    fs::create_dir(guard.path("audit.jsonl")).unwrap();
    assert_denied("copilot", &ask("rm x"), "record cannot be written");
    let ended = ask("ls");
    assert_eq!(read("copilot", &ended), Some(Read::NoObjection), "{ended:?}");
    assert!(ended.stderr.contains("not recorded"), "{ended:?}");
}

#[test]
fn a_full_disk_runs_nothing_of_tier_2() {
    let guard = Guard::of("policy open");
    let event = Play::Shell("rm x").event("claude-code", &guard.text("work")).unwrap();
    assert_eq!(read("claude-code", &guard.hook("claude-code", &event)), Some(Read::NoObjection));
    // No file may grow: the write of the record fails, or a signal comes.
    let mut command = harness::command("sh", &guard.path(""));
    command.args(["-c", "ulimit -f 0; exec \"$0\" claude-code --config \"$1\""]);
    command.arg(crate::binaries::relay_hook()).arg(guard.path("hook.toml"));
    let ended = fed(command, event.to_string().as_bytes());
    assert_eq!(read("claude-code", &ended), Some(Read::Deny), "{ended:?}");
}

#[test]
fn a_signal_or_the_deadline_ends_in_a_denial() {
    for client in CLIENTS {
        let guard = Guard::new();
        for signal in ["TERM", "INT", "HUP", "SEGV", "BUS", "ABRT", "XCPU"] {
            let mut process = Process::start(guard.command(client));
            let mut stdin = process.stdin().unwrap();
            // It waits for the rest of the event.
            stdin.write_all(b"{\"session_id\":").unwrap();
            thread::sleep(Duration::from_millis(60));
            process.signal(signal);
            let mut stdout = process.stdout();
            let mut out = String::new();
            std::io::Read::read_to_string(&mut stdout, &mut out).unwrap();
            let ended = Ended { stdout: out, ..process.wait() };
            assert_denied(client, &ended, "relay could not finish its decision");
        }
    }
    // Several signals that are pending at once.
    let guard = Guard::new();
    let mut process = Process::start(guard.command("gemini"));
    let mut stdin = process.stdin().unwrap();
    stdin.write_all(b"{").unwrap();
    thread::sleep(Duration::from_millis(60));
    for signal in ["STOP", "TERM", "HUP", "INT", "ABRT", "SEGV", "BUS", "CONT"] {
        process.signal(signal);
    }
    let mut stdout = process.stdout();
    let mut out = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut out).unwrap();
    let ended = Ended { stdout: out, ..process.wait() };
    assert_denied("gemini", &ended, "relay could not finish its decision");
    // The event never ends.
    let guard = Guard::new();
    let mut process = Process::start(guard.command("codex"));
    let _stdin = process.stdin().unwrap();
    let mut stdout = process.stdout();
    let mut out = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut out).unwrap();
    let ended = Ended { stdout: out, ..process.wait() };
    assert_denied("codex", &ended, "relay could not finish its decision");
}

#[test]
fn links_lead_around_no_rule() {
    let guard = Guard::of(&format!("{POLICY}\n").replace("policy guarded", "policy open"));
    let work = guard.path("work");
    symlink("/etc", work.join("link")).unwrap();
    symlink("/etc/motd", work.join("file")).unwrap();
    fs::create_dir(guard.path("home")).unwrap();
    fs::create_dir_all(guard.path("keys/.ssh")).unwrap();
    fs::write(guard.path("keys/.ssh/id_rsa"), "x").unwrap();
    symlink(guard.path("keys/.ssh/id_rsa"), work.join("notes.txt")).unwrap();
    let cwd = guard.text("work");
    for play in [
        Play::Write("link/motd"),
        Play::Write("file"),
        Play::Shell("echo x > link/motd"),
        Play::Shell("tee file"),
        Play::Read("notes.txt"),
        Play::Shell("cat notes.txt"),
        Play::Shell("cp a link/"),
    ] {
        let ended = guard.hook("claude-code", &play.event("claude-code", &cwd).unwrap());
        assert_eq!(read("claude-code", &ended), Some(Read::Deny), "{play:?} {ended:?}");
    }
    // The folder of the call is a link itself.
    let linked = guard.text("work/link");
    for play in [Play::Write("motd"), Play::Shell("echo x > motd")] {
        let ended = guard.hook("claude-code", &play.event("claude-code", &linked).unwrap());
        assert_eq!(read("claude-code", &ended), Some(Read::Deny), "{play:?} {ended:?}");
    }
}

#[test]
fn the_files_that_decide_about_the_agent_need_a_person() {
    let guard = Guard::of("policy open");
    let cwd = guard.text("work");
    let own = |name: &str| guard.text(name);
    let mut plays = vec![
        ".claude/settings.json".to_owned(),
        ".claude/settings.local.json".to_owned(),
        "~/.claude/settings.json".to_owned(),
        ".CLAUDE/settings.json".to_owned(),
        "~/.codex/hooks.json".to_owned(),
        ".cursor/hooks.json".to_owned(),
        ".gemini/settings.json".to_owned(),
        ".github/hooks/relay.json".to_owned(),
        "opencode.json".to_owned(),
    ];
    for name in ["guard.relay", "trust.toml", "hook.toml", "audit.jsonl", "state/clock"] {
        plays.push(own(name));
    }
    for path in &plays {
        let shell = [format!("echo x > {path}"), format!("rm -rf {path}"), format!("mv a {path}")];
        let shells = shell.iter().map(|text| Play::Shell(text));
        for play in [Play::Write(path)].into_iter().chain(shells) {
            let ended = guard.hook("claude-code", &play.event("claude-code", &cwd).unwrap());
            let read = read("claude-code", &ended);
            assert!(matches!(read, Some(Read::Ask | Read::Deny)), "{play:?} {ended:?}");
        }
    }
    let folder = format!("rm -r {}", guard.text(""));
    let ended =
        guard.hook("claude-code", &Play::Shell(&folder).event("claude-code", &cwd).unwrap());
    assert!(matches!(read("claude-code", &ended), Some(Read::Ask | Read::Deny)), "{ended:?}");
}

#[test]
fn settings_that_switch_the_hook_off_do_not_count() {
    let guard = Guard::of("policy open");
    let entry = json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{
        "type": "command", "command": "/opt/relay/relay-hook", "args": ["claude-code"],
    }] }] } });
    let with = |name: &str, value: Value| {
        let mut settings = entry.clone();
        settings[name] = value;
        settings
    };
    for (source, settings, is_kept) in [
        ("user_settings", entry.clone(), true),
        ("user_settings", json!({}), false),
        ("user_settings", with("disableAllHooks", json!(true)), false),
        ("project_settings", json!({}), true),
        ("project_settings", json!({ "disableAllHooks": true }), false),
        ("local_settings", json!({ "disableAllHooks": "yes" }), false),
        ("local_settings", json!({ "env": { "LD_PRELOAD": "/tmp/x.so" } }), false),
        ("local_settings", json!({ "env": { "PATH": "/tmp" } }), false),
        ("local_settings", json!({ "env": { "EDITOR_THEME": "dark" } }), true),
    ] {
        guard.write("work/settings.json", &settings.to_string());
        let event = json!({
            "session_id": "s", "transcript_path": "/t", "cwd": guard.text("work"),
            "hook_event_name": "ConfigChange", "source": source,
            "file_path": guard.text("work/settings.json"),
        });
        let ended = guard.hook("claude-code", &event);
        assert_eq!(ended.code, Some(if is_kept { 0 } else { 2 }), "{source} {settings} {ended:?}");
    }
    guard.write("work/settings.json", "{\"a\":1,\"a\":2}");
    let event = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "ConfigChange",
        "source": "local_settings", "file_path": guard.text("work/settings.json"),
    });
    assert_eq!(guard.hook("claude-code", &event).code, Some(2));
}

#[test]
fn codex_gets_no_program_that_waits_for_typed_commands() {
    let guard = Guard::of("policy open");
    let cwd = guard.text("work");
    for text in ["bash --norc", "python3", "psql", "ssh host", "cat | sh", "sudo -i", "node"] {
        let ended = guard.hook("codex", &Play::Shell(text).event("codex", &cwd).unwrap());
        assert_eq!(read("codex", &ended), Some(Read::Deny), "{text} {ended:?}");
        let ended = guard.hook("copilot", &Play::Shell(text).event("copilot", &cwd).unwrap());
        assert_ne!(read("copilot", &ended), Some(Read::Deny), "{text} {ended:?}");
    }
    for text in ["bash -c 'ls'", "echo ls | sh", "python3 -c 'print(1)'", "ssh host ls"] {
        let ended = guard.hook("codex", &Play::Shell(text).event("codex", &cwd).unwrap());
        assert_eq!(read("codex", &ended), Some(Read::NoObjection), "{text} {ended:?}");
    }
}

#[test]
fn the_environment_decides_nothing() {
    let guard = Guard::new();
    let event =
        Play::Shell("echo x > /etc/motd").event("claude-code", &guard.text("work")).unwrap();
    let mut command = guard.command("claude-code");
    command.env("HOME", guard.path("work")).env("XDG_CONFIG_HOME", guard.path("work"));
    command.env("RELAY_CONFIG", "/dev/null").env("RELAY_POLICY", "open").env("PATH", "/nowhere");
    command.arg0("other");
    let ended = fed(command, event.to_string().as_bytes());
    assert_eq!(read("claude-code", &ended), Some(Read::Deny), "{ended:?}");
}

#[test]
fn arguments_that_are_wrong_are_denied() {
    for arguments in [&[][..], &["claude"], &["codex", "more"], &["codex", "--nonsense"]] {
        let mut command = harness::command(crate::binaries::relay_hook(), "/".as_ref());
        command.args(arguments);
        let ended = harness::run(command);
        assert_eq!(ended.code, Some(2), "{arguments:?} {ended:?}");
        assert!(!ended.stderr.is_empty());
    }
}

#[test]
fn an_agent_neither_approves_itself_nor_starts_another_without_hooks() {
    let guard = Guard::of("policy open { deny irreversible { tier min=3 } }");
    let cwd = guard.text("work");
    for (text, is_denied) in [
        ("relay approve k7mq2xw9ab", true),
        ("relay hook install claude-code --remove", true),
        ("sudo relay trust add t.toml --key k.pub", true),
        ("claude --bare -p x", true),
        ("claude -p x --setting-sources project", true),
        ("codex exec --dangerously-bypass-hook-trust x", true),
        ("codex --disable hooks", true),
        ("opencode --pure", true),
        ("relay check project.kdl", false),
        ("relay hook status", false),
        ("claude -p x", false),
    ] {
        let ended =
            guard.hook("claude-code", &Play::Shell(text).event("claude-code", &cwd).unwrap());
        let expected = if is_denied { Read::Deny } else { Read::NoObjection };
        assert_eq!(read("claude-code", &ended), Some(expected), "{text} {ended:?}");
    }
    // Another folder of settings may lack the hook.
    let guard = Guard::of("policy open { deny hidden { runs opaque } }");
    let text = "CODEX_HOME=/tmp/x codex exec y";
    let ended = guard.hook("copilot", &Play::Shell(text).event("copilot", &cwd).unwrap());
    assert_eq!(read("copilot", &ended), Some(Read::Deny), "{ended:?}");
}
