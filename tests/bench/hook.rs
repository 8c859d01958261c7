//! A hook: from the start of `relay-hook` to its answer, with the bundle verified and the event
//! recorded; beside a process that does nothing.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use harness::command;

use crate::{Result, Setting, median, quantile, row};

const RULES: usize = 1_000;
const RUNS: usize = 300;
/// Runs of a process that takes longer.
const SLOW_RUNS: usize = 30;

/// All of it.
pub(crate) fn hooks(setting: &Setting) -> Result<()> {
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
    let config = line("bundle", "hook.relay")
        + &line("trust", "trust.toml")
        + &line("audit", "hook.jsonl")
        + &line("state", "hook-state")
        + "principal = \"bench\"\n";
    fs::write(folder.join("hook.toml"), config)?;
    for (what, text) in [
        ("a harmless command", "git status --short && ls -la src | head -20"),
        ("a denied command", "git push origin b-400"),
    ] {
        let event = serde_json::json!({
            "session_id": "s", "transcript_path": "/t", "cwd": folder, "prompt_id": "p",
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": text }, "tool_use_id": "t",
        });
        let event = event.to_string();
        let run = || {
            let mut hook = command(&setting.relay_hook, folder);
            hook.args(["claude-code", "--config"]).arg(folder.join("hook.toml"));
            timed(hook, event.as_bytes())
        };
        // The first run makes the private copy and checks it whole.
        let first = run()?;
        let mut figures = (0..RUNS).map(|_| run()).collect::<Result<Vec<f64>>>()?;
        let (p50, p99) = (median(&mut figures), quantile(&mut figures, 0.99));
        let work = format!("a hook, exec to answer, {RULES} rules, {what}");
        let shown = format!("{p50:.2} ms p50, {p99:.2} ms p99, the first one {first:.0} ms");
        row(&work, &shown, "≤ 4 ms p50, ≤ 10 ms p99");
        let mut nothing = times(RUNS, || Command::new("/bin/true"))?;
        let nothing = median(&mut nothing);
        row("beside: `/bin/true`", &format!("{nothing:.2} ms p50"), "none");
        if let Ok(mut node) = times(SLOW_RUNS, || {
            let mut node = Command::new("node");
            node.args(["-e", "0"]);
            node
        }) {
            let node = median(&mut node);
            let shown = format!("1/{:.0} of {node:.0} ms", node / p50);
            row("the same beside `node -e 0`", &shown, "≤ 1/10");
        }
    }
    row("resident memory of a hook at most", &peak(setting)?, "≤ 6 MB");
    let bytes = fs::metadata(&setting.relay_hook)?.len();
    let megabytes = bytes as f64 / 1e6;
    row("size of `relay-hook`, stripped", &format!("{megabytes:.1} MB"), "≤ 4 MB");
    Ok(())
}

/// The most resident memory of a run. A child inherits the peak of the process that starts it, so a small
/// one does: GNU time.
fn peak(setting: &Setting) -> Result<String> {
    let event = "{\"session_id\": \"s\", \"transcript_path\": \"/t\", \"cwd\": \"/tmp\", \
        \"prompt_id\": \"p\", \"permission_mode\": \"default\", \
        \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \
        \"tool_input\": {\"command\": \"ls\"}}";
    let mut time = Command::new("/usr/bin/time");
    time.args(["-f", "%M"]).arg(&setting.relay_hook).args(["claude-code", "--config"]);
    time.arg(setting.folder.join("hook.toml"));
    time.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let Ok(mut child) = time.spawn() else { return Ok("not measured: GNU time is missing".into()) };
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(event.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let shown = String::from_utf8(output.stderr)?;
    let kilobytes: f64 = shown.lines().last().unwrap_or_default().trim().parse()?;
    Ok(format!("{:.1} MB", kilobytes * 1024.0 / 1e6))
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
