//! A hook: from the start of `relay-hook` to its answer, with the bundle verified and the event
//! recorded; beside a process that does nothing.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use harness::command;

use crate::figures::number::{median, quantile};
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[EVENT, NODE, NAH, RESIDENT];

/// The names of the commands.
const HARMLESS: &str = "harmless";
/// A command that every policy allows.
pub(crate) const HARMLESS_COMMAND: &str = "git status --short && ls -la src | head -20";
const DENIED: &str = "denied";

const EVENT: Figure = Figure {
    id: "hook/event",
    work: "a hook, exec to answer, 1,000 rules, bundle verified, record appended",
    parts: &[
        of("a harmless command, p50", "ms").at_most(4.0),
        of("p99", "ms").at_most(10.0),
        of("a denied command, p50", "ms").at_most(4.0),
        of("denied, p99", "ms").at_most(10.0),
        of("the first event, which makes the private copy", "ms"),
        beside("`/bin/true`", "ms"),
    ],
    note: "",
};
const NODE: Figure = Figure {
    id: "hook/node",
    work: "that hook, of the time of `node -e 0`",
    parts: &[of("", "×").at_most(0.1), beside("`node -e 0`", "ms")],
    note: "",
};
const NAH: Figure = Figure {
    id: "hook/nah",
    work: "that hook, of the time of the hook of nah 0.11 on the same event",
    parts: &[of("", "×").at_most(0.05), beside("nah", "ms")],
    note: "nah is a guard in Python for the same hooks, without a policy of a team.",
};
const RESIDENT: Figure = Figure {
    id: "hook/resident",
    work: "resident memory of a hook at most",
    parts: &[of("", "MB").at_most(6.0)],
    note: "of it some 2.9 MB are its code, 1.5 the C library and 0.9 the mapped bundle.",
};

const RULES: usize = 1_000;
const RUNS: usize = 300;
/// Runs of a process that takes longer.
const SLOW_RUNS: usize = 30;

/// Writes the configuration of a hook with 1,000 rules, and its signed bundle.
pub(crate) fn configure(setting: &Setting) -> Result<()> {
    let folder = &setting.folder;
    let mut rules = String::new();
    for number in 0..RULES {
        let rule = match number % 4 {
            0 => format!("program git; sub push; operands \"b-{number}\""),
            1 => format!("writes \"/srv/app-{number}/**\""),
            2 => format!("connects \"h{number}.corp.example\""),
            _ => format!("tool \"team-{number}/*\"; arg env prod"),
        };
        writeln!(rules, "    deny r{number} {{ {rule} }}")?;
    }
    let project = format!(
        "project hook version=\"1.0.0\" epoch=1\n\
         tools {{ diagnostics; other \"team-*\" {{ arg path writes }} }}\n\
         policy guarded {{\n{rules}}}\n"
    );
    setting.project("hook", &project)?;
    let line = |key: &str, name: &str| format!("{key} = {:?}\n", folder.join(name));
    // Under Valgrind, the event that makes the private copy takes seconds.
    let config = line("bundle", "hook.relay")
        + &line("trust", "trust.toml")
        + &line("audit", "hook.jsonl")
        + &line("state", "hook-state")
        + "principal = \"bench\"\nbudget = \"8s\"\n";
    fs::write(folder.join("hook.toml"), config)?;
    Ok(())
}

/// Returns the event of a command in a shell.
pub(crate) fn event(setting: &Setting, text: &str) -> String {
    let event = serde_json::json!({
        "session_id": "s", "transcript_path": "/t", "cwd": setting.folder, "prompt_id": "p",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": text }, "tool_use_id": "t",
    });
    event.to_string()
}

/// Returns the command of the hook that is configured.
pub(crate) fn hook(setting: &Setting) -> Command {
    let mut hook = command(&setting.relay_hook, &setting.folder);
    hook.args(["claude-code", "--config"]).arg(setting.folder.join("hook.toml"));
    hook
}

/// All of it.
pub(crate) fn hooks(setting: &Setting, report: &mut Report) -> Result<()> {
    configure(setting)?;
    for (what, text) in [(HARMLESS, HARMLESS_COMMAND), (DENIED, "git push origin b-400")] {
        let event = event(setting, text);
        let run = || timed(hook(setting), event.as_bytes());
        // The first run makes the private copy and checks it whole.
        let first = run()?;
        let mut figures = (0..RUNS).map(|_| run()).collect::<Result<Vec<f64>>>()?;
        let (p50, p99) = (median(&mut figures), quantile(&mut figures, 0.99));
        if what == DENIED {
            report.put(&EVENT, "a denied command, p50", p50)?;
            report.put(&EVENT, "denied, p99", p99)?;
            continue;
        }
        report.put(&EVENT, "a harmless command, p50", p50)?;
        report.put(&EVENT, "p99", p99)?;
        report.put(&EVENT, "the first event, which makes the private copy", first)?;
        let mut nothing = times(RUNS, || Command::new("/bin/true"))?;
        report.put(&EVENT, "`/bin/true`", median(&mut nothing))?;
        let node = times(SLOW_RUNS, || {
            let mut node = Command::new("node");
            node.args(["-e", "0"]);
            node
        });
        match node {
            Ok(mut node) => {
                let node = median(&mut node);
                report.put_all(&NODE, &[p50 / node, node])?;
            }
            Err(_) => report.not_run(&NODE, "node is not in the PATH"),
        }
        let nah = || {
            let mut nah = Command::new("nah");
            nah.arg("_claude-hook").env("HOME", &setting.folder);
            timed(nah, event.as_bytes())
        };
        match (0..SLOW_RUNS).map(|_| nah()).collect::<Result<Vec<f64>>>() {
            Ok(mut nah) => {
                let nah = median(&mut nah);
                report.put_all(&NAH, &[p50 / nah, nah])?;
            }
            Err(_) => report.not_run(&NAH, "nah is not in the PATH"),
        }
    }
    match peak(setting)? {
        Some(megabytes) => report.put_all(&RESIDENT, &[megabytes]),
        None => {
            report.not_run(&RESIDENT, "GNU time is not installed");
            Ok(())
        }
    }
}

/// The most resident memory of a run in MB, if GNU time is here to say it. A child inherits the peak of the
/// process that starts it, so a small one does.
fn peak(setting: &Setting) -> Result<Option<f64>> {
    let event = "{\"session_id\": \"s\", \"transcript_path\": \"/t\", \"cwd\": \"/tmp\", \
        \"prompt_id\": \"p\", \"permission_mode\": \"default\", \
        \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \
        \"tool_input\": {\"command\": \"ls\"}}";
    let mut time = Command::new("/usr/bin/time");
    time.args(["-f", "%M"]).arg(&setting.relay_hook).args(["claude-code", "--config"]);
    time.arg(setting.folder.join("hook.toml"));
    time.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let Ok(mut child) = time.spawn() else { return Ok(None) };
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(event.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let shown = String::from_utf8(output.stderr)?;
    let kilobytes: f64 = shown.lines().last().unwrap_or_default().trim().parse()?;
    Ok(Some(kilobytes * 1024.0 / 1e6))
}

fn times(count: usize, make: impl Fn() -> Command) -> Result<Vec<f64>> {
    (0..count).map(|_| timed(make(), b"")).collect()
}

/// Returns the milliseconds from the start of a process until it was waited for.
fn timed(mut command: Command, input: &[u8]) -> Result<f64> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that reads nothing may have ended.
        _ = stdin.write_all(input);
    }
    let mut answer = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut answer)?;
    }
    child.wait()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
