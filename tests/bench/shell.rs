//! Commands through a server, beside the same commands that this process starts itself.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::agent::{Agent, serve};
use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting, cost};

pub(crate) const FIGURES: &[Figure] = &[START, RESIDENT, IDLE, CALL, AUDIT, LONG];

const START: Figure = Figure {
    id: "shell/start",
    work: "exec to first answer with the local tools, stdio",
    parts: &[of("wall", "ms").at_most(15.0)],
    note: "",
};
const RESIDENT: Figure = Figure {
    id: "shell/resident",
    work: "resident memory with the local tools",
    parts: &[
        of("idle", "MB").at_most(15.0),
        of("after a command, with the keeper", "MB").at_most(25.0),
        of("of it the keeper", "MB"),
    ],
    note: "",
};
const IDLE: Figure = Figure {
    id: "shell/idle",
    work: "a server without a session in 5 seconds",
    parts: &[
        of("before a command", "µs CPU"),
        of("wakes before it", ""),
        of("after it, with the keeper", "µs CPU"),
        of("wakes after it", ""),
    ],
    note: "",
};
const CALL: Figure = Figure {
    id: "shell/call",
    work: "`shell_exec true`, stdio, with audit, less the round trip of a `ping`",
    parts: &[
        of("of the bare spawn", "×").at_most(1.3),
        of("p50, wall", "µs"),
        beside("a bare spawn with pipes", "µs"),
        beside("the round trip", "µs"),
    ],
    note: "",
};
const AUDIT: Figure = Figure {
    id: "shell/audit",
    work: "the audit's share of a `shell_exec true`",
    parts: &[
        of("of the wall time, p50", "%").at_most(10.0),
        of("of the CPU of server and keeper", "%").at_most(10.0),
        beside("the call", "µs"),
        beside("its CPU", "µs"),
    ],
    note: "",
};
const LONG: Figure = Figure {
    id: "shell/long",
    work: "a call that prints 100 MB and returns 64 KiB",
    parts: &[
        of("of the bare command", "×"),
        of("growth of the server's peak", "MB").at_most(8.0),
        beside("the bare command", "ms"),
    ],
    note: "the goal is bounded memory: far below the output.",
};

const CALLS: usize = 1_000;
/// Calls before those that are timed.
const WARM_UP: usize = 100;
/// The bytes of a long output.
const LONG_BYTES: usize = 100_000_000;
const LONG_RUNS: usize = 9;
/// How long an idle server is watched.
const REST: Duration = Duration::from_secs(5);

/// All of it.
pub(crate) fn commands(setting: &Setting, report: &mut Report) -> Result<()> {
    start(setting, report)?;
    beside_bare(setting, report)?;
    audit(setting, report)?;
    long_output(setting, report)
}

/// From exec to the answer of `initialize`, and a server that does nothing.
fn start(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..25 {
        let command = serve(setting, "ops.jsonl")?;
        let begun = Instant::now();
        Agent::start(command)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    report.put_all(&START, &[median(&mut times)])?;
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    agent.ping()?;
    let idle = agent.processes()?;
    let before = idle.resident_mb()?;
    let (cpu, wakes) = idle.rest(REST)?;
    agent.run("true")?;
    let used = agent.processes()?;
    let after = used.resident_mb()?;
    let keeper = used.keeper.map(cost::resident_mb_of).transpose()?.map_or(0.0, |(all, _)| all);
    report.put_all(&RESIDENT, &[before, after, keeper])?;
    let (cpu_keeper, wakes_keeper) = used.rest(REST)?;
    report.put_all(&IDLE, &[cpu, wakes as f64, cpu_keeper, wakes_keeper as f64])
}

/// A command through a server and by itself, in turn.
fn beside_bare(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    let (mut bare, mut pings, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..WARM_UP + CALLS {
        let times = [
            time(|| agent.ping())?,
            time(|| agent.run("true").map(|_| ()))?,
            time(|| output("/usr/bin/true", &[]).map(|_| ()))?,
        ];
        if number >= WARM_UP {
            let figures = [&mut pings, &mut calls, &mut bare];
            figures.into_iter().zip(times).for_each(|(figures, time)| figures.push(time));
        }
    }
    let (ping, call, bare) = (median(&mut pings), median(&mut calls), median(&mut bare));
    report.put_all(&CALL, &[(call - ping) / bare, call, bare, ping])
}

/// A call with a record and without, in turn.
fn audit(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut with = Agent::start(serve(setting, "ops.jsonl")?)?;
    let mut without = Agent::start(serve(setting, "none")?)?;
    for _ in 0..WARM_UP {
        with.run("true")?;
        without.run("true")?;
    }
    let ids = [with.processes()?, without.processes()?];
    let before = [ids[0].cpu_us()?, ids[1].cpu_us()?];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..CALLS {
        times[0].push(time(|| with.run("true").map(|_| ()))?);
        times[1].push(time(|| without.run("true").map(|_| ()))?);
    }
    let cpu = [ids[0].cpu_us()? - before[0], ids[1].cpu_us()? - before[1]];
    let [cpu_with, cpu_without] = cpu.map(|cpu| cpu / CALLS as f64);
    let [wall_with, wall_without] = times.each_mut().map(|times| median(times));
    let share = |with: f64, without: f64| (with - without) / with * 100.0;
    let shares = [share(wall_with, wall_without), share(cpu_with, cpu_without)];
    report.put_all(&AUDIT, &[shares[0], shares[1], wall_with, cpu_with])
}

/// A command that prints far more than a call returns.
fn long_output(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    let command = format!("head -c {LONG_BYTES} /dev/zero");
    let marker = format!("[TRUNCATED - {LONG_BYTES} bytes total, 65536 shown]");
    let (mut calls, mut bare) = (Vec::new(), Vec::new());
    agent.run("true")?;
    let server = agent.processes()?.server;
    let before = cost::peak_mb(server)?;
    for _ in 0..LONG_RUNS {
        calls.push(time(|| match agent.run(&command)? {
            text if text.ends_with(&marker) => Ok(()),
            _ => Err("the length of the output is wrong".into()),
        })?);
        bare.push(time(|| {
            match output("/usr/bin/head", &["-c", &LONG_BYTES.to_string(), "/dev/zero"])? {
                LONG_BYTES => Ok(()),
                length => Err(format!("{length} bytes of output").into()),
            }
        })?);
    }
    let peak = cost::peak_mb(server)?;
    let (call, bare) = (median(&mut calls) / 1e3, median(&mut bare) / 1e3);
    report.put_all(&LONG, &[call / bare, peak - before, bare])
}

/// Runs a program and reads its output in blocks of 64 KiB; returns how many bytes there were.
fn output(program: &str, arguments: &[&str]) -> Result<usize> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take().ok_or("no output")?;
    let mut block = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        match stdout.read(&mut block)? {
            0 => break,
            length => bytes += length,
        }
    }
    if child.wait()?.success() { Ok(bytes) } else { Err(format!("{program} failed").into()) }
}

/// Returns the microseconds that something takes.
fn time(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}
