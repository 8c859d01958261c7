//! Commands through a server, beside the same commands that this process starts itself.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::agent::{Agent, serve};
use crate::{Result, Setting, cost, median, row};

const CALLS: usize = 1_000;
/// Calls before those that are timed.
const WARM_UP: usize = 100;
/// The bytes of a long output.
const LONG_BYTES: usize = 100_000_000;
const LONG_RUNS: usize = 9;
/// How long an idle server is watched.
const REST: Duration = Duration::from_secs(5);

/// All of it.
pub(crate) fn commands(setting: &Setting) -> Result<()> {
    start(setting)?;
    beside_bare(setting)?;
    audit(setting)?;
    long_output(setting)
}

/// From exec to the answer of `initialize`, and a server that does nothing.
fn start(setting: &Setting) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..25 {
        let command = serve(setting, "ops.jsonl")?;
        let begun = Instant::now();
        Agent::start(command)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let measured = format!("{:.1} ms wall", median(&mut times));
    row("exec to first answer with the local tools, stdio", &measured, "≤ 15 ms");
    let mut agent = Agent::start(serve(setting, "ops.jsonl")?)?;
    agent.ping()?;
    let idle = agent.processes()?;
    let before = idle.resident_mb()?;
    let (cpu, wakes) = idle.rest(REST)?;
    agent.run("true")?;
    let used = agent.processes()?;
    let after = used.resident_mb()?;
    let keeper = used.keeper.map(cost::resident_mb_of).transpose()?.map_or(0.0, |(all, _)| all);
    let measured = format!("{before:.1} MB / {after:.1} MB, of it {keeper:.1} MB the keeper");
    row("resident memory with the local tools, idle / after a command", &measured, "≤ 15 / 25 MB");
    let (cpu_keeper, wakes_keeper) = used.rest(REST)?;
    let measured = format!(
        "{cpu:.0} µs and {wakes} wakes before a command; {cpu_keeper:.0} µs and {wakes_keeper} wakes after it, with the keeper"
    );
    row("CPU of a server without a session in 5 seconds", &measured, "none");
    Ok(())
}

/// A command through a server and by itself, in turn.
fn beside_bare(setting: &Setting) -> Result<()> {
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
    let measured = format!(
        "{:.2} ×: {call:.0} µs less {ping:.0} for the round trip of a `ping`, beside {bare:.0} (p50, wall); {:.2} × with the round trip",
        (call - ping) / bare,
        call / bare,
    );
    let work = "`shell_exec true` without its transport, stdio, with audit, beside a bare spawn with pipes";
    row(work, &measured, "≤ 1.3 ×");
    Ok(())
}

/// A call with a record and without, in turn.
fn audit(setting: &Setting) -> Result<()> {
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
    let measured = format!(
        "{:.1} % of {wall_with:.0} µs p50 (wall); {:.1} % of {cpu_with:.0} µs CPU of server and keeper",
        share(wall_with, wall_without),
        share(cpu_with, cpu_without),
    );
    row("the audit's share of a `shell_exec true`", &measured, "≤ 10 %");
    Ok(())
}

/// A command that prints far more than a call returns.
fn long_output(setting: &Setting) -> Result<()> {
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
    let measured = format!(
        "{:.2} ×: {call:.0} ms beside {bare:.0} ms (p50, wall); the server's peak {before:.1} → {peak:.1} MB",
        call / bare
    );
    row(
        "a call that prints 100 MB and returns 64 KiB, beside the bare command",
        &measured,
        "memory bounded",
    );
    Ok(())
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
