//! Sessions: what idle ones cost, and how fast a program's output is taken from its terminal.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::agent::{Agent, SESSIONS, serve};
use crate::figures::number::median;
use crate::figures::{Figure, Part, Report, beside, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[IDLE, REST_OF_IDLE, RAW, COOKED];

const IDLE: Figure = Figure {
    id: "terminal/idle",
    work: "64 idle terminal sessions: resident memory of server and keeper",
    parts: &[of("more", "MB").at_most(30.0), of("to begin one, p50", "ms")],
    note: "",
};
const REST_OF_IDLE: Figure = Figure {
    id: "terminal/rest",
    work: "server and keeper with those in 5 seconds",
    parts: &[of("CPU", "µs"), of("wakes", "")],
    note: "",
};
const RAW: Figure = Figure {
    id: "terminal/raw",
    work: "output of a terminal, raw, as a session takes it",
    parts: &[of("", "MB/s").at_least(100.0), OF_A_READER, CPU, READER],
    note: "the kernel limits it: a bare reader of a terminal is beside it.",
};
const COOKED: Figure = Figure {
    id: "terminal/cooked",
    work: "the same in lines of 100 bytes, cooked",
    parts: &[of("", "MB/s"), OF_A_READER, CPU, READER],
    note: "",
};
const OF_A_READER: Part = of("of a bare reader", "×");
const CPU: Part = of("server and keeper", "µs CPU a MB");
const READER: Part = beside("a bare reader", "MB/s");

/// How long idle sessions are watched.
const REST: Duration = Duration::from_secs(5);
/// The bytes that a program writes to a raw terminal.
const RAW_BYTES: u64 = 200_000_000;
/// The bytes that it writes as lines, each of which the kernel looks at byte by byte.
const COOKED_BYTES: u64 = 20_000_000;
const RUNS: usize = 7;
/// The bytes of one read of a terminal.
const BLOCK_BYTES: usize = 4 << 10;

/// All of it.
pub(crate) fn sessions(setting: &Setting, report: &mut Report) -> Result<()> {
    idle(setting, report)?;
    output(setting, report)
}

/// Shells at their prompts.
fn idle(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    agent.run("true")?;
    let processes = agent.processes()?;
    let before = processes.resident_mb()?;
    let (mut begins, mut ids) = (Vec::new(), Vec::new());
    for _ in 0..SESSIONS {
        let begun = Instant::now();
        ids.push(agent.spawn("")?);
        begins.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    for id in &ids {
        agent.hear(id, "# ")?;
    }
    let after = processes.resident_mb()?;
    let (cpu, wakes) = processes.rest(REST)?;
    report.put_all(&IDLE, &[after - before, median(&mut begins)])?;
    report.put_all(&REST_OF_IDLE, &[cpu, wakes as f64])
}

/// A program that writes to its terminal as fast as it can, under a server and read by this process, in
/// turn.
fn output(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    let line = "x".repeat(99);
    let ways = [
        (&RAW, RAW_BYTES, format!("stty raw; exec head -c {RAW_BYTES} /dev/zero")),
        (&COOKED, COOKED_BYTES, format!("yes {line} | head -c {COOKED_BYTES}")),
    ];
    for (figure, bytes, command) in ways {
        let (mut by_server, mut by_us, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let processes = agent.processes()?;
            let before = processes.cpu_us()?;
            by_server.push(taken_by_server(&mut agent, &command, bytes)?);
            cpu.push((processes.cpu_us()? - before) / (bytes as f64 / 1e6));
            by_us.push(taken_here(setting, &command)?);
        }
        let (server, us) = (median(&mut by_server), median(&mut by_us));
        report.put_all(figure, &[server, server / us, median(&mut cpu), us])?;
    }
    Ok(())
}

/// Begins a session with a command, and returns the MB a second until its program ended.
fn taken_by_server(agent: &mut Agent, command: &str, bytes: u64) -> Result<f64> {
    let begun = Instant::now();
    let id = agent.spawn(command)?;
    let shown = loop {
        let list: Vec<Value> = serde_json::from_str(&agent.call("session_list", &json!({}))?)?;
        let shown = list.into_iter().find(|shown| shown["id"] == id.as_str());
        let shown = shown.ok_or("the session is unknown")?;
        if shown.get("closed") == Some(&Value::Bool(true)) {
            break shown;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let seconds = begun.elapsed().as_secs_f64();
    let produced = shown.get("produced").and_then(Value::as_u64).unwrap_or(0);
    agent.call("session_kill", &json!({ "session_id": id }))?;
    if produced < bytes {
        return Err(format!("{produced} bytes of {bytes}: {shown}").into());
    }
    Ok(produced as f64 / 1e6 / seconds)
}

/// Runs a command in a terminal of this process, and returns the MB a second until its end.
fn taken_here(setting: &Setting, command: &str) -> Result<f64> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(ptsname(&master, Vec::new())?, flags, Mode::empty())?;
    let begun = Instant::now();
    let mut shell = Command::new("/bin/bash");
    shell.args(["--norc", "--noprofile", "-p", "-c", command]).current_dir(&setting.folder);
    shell.stdin(theirs.try_clone()?).stdout(theirs.try_clone()?).stderr(theirs);
    let mut child = shell.spawn()?;
    drop(shell);
    let (mut master, mut block, mut bytes) = (File::from(master), [0; BLOCK_BYTES], 0);
    // A terminal that no program has open fails.
    while let Ok(length @ 1..) = master.read(&mut block) {
        bytes += length;
    }
    child.wait()?;
    Ok(bytes as f64 / 1e6 / begun.elapsed().as_secs_f64())
}
