//! The local tools beside relay-shell, the server in Python whose tools they are, if it is in the `PATH`.

#![expect(clippy::disallowed_methods, reason = "it runs another server")]

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::agent::{Agent, is_installed, serve};
use crate::{Result, Setting, median, row};

/// The program of the other server.
const PROGRAM: &str = "relay-shell";
const STARTS: usize = 9;
const CALLS: usize = 300;
const SESSIONS: usize = 20;

/// The figures of one server, in milliseconds.
#[derive(Default)]
struct Figures {
    starts: Vec<f64>,
    calls: Vec<f64>,
    sessions: Vec<f64>,
    resident_mb: f64,
}

/// All of it, each in turn.
pub(crate) fn beside(setting: &Setting) -> Result<()> {
    if !is_installed(PROGRAM) {
        row("the local tools beside relay-shell", "not measured: it is not in the PATH", "–");
        return Ok(());
    }
    let commands = || -> Result<[Command; 2]> {
        let mut peer = Command::new(PROGRAM);
        peer.current_dir(&setting.folder).env("RELAY_SHELL_AUDIT_PATH", "peer.jsonl");
        peer.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok([serve(setting, "ops.jsonl")?, peer])
    };
    let mut figures = [Figures::default(), Figures::default()];
    for _ in 0..STARTS {
        for (figures, command) in figures.iter_mut().zip(commands()?) {
            let begun = Instant::now();
            Agent::start(command)?;
            figures.starts.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [ours, peer] = commands()?;
    let mut agents = [Agent::start(ours)?, Agent::start(peer)?];
    for _ in 0..CALLS {
        for (figures, agent) in figures.iter_mut().zip(&mut agents) {
            let begun = Instant::now();
            agent.run("true")?;
            figures.calls.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    for _ in 0..SESSIONS {
        for (figures, agent) in figures.iter_mut().zip(&mut agents) {
            let begun = Instant::now();
            let id = agent.spawn("echo ready")?;
            agent.hear(&id, "ready")?;
            figures.sessions.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    for (figures, agent) in figures.iter_mut().zip(&agents) {
        figures.resident_mb = agent.processes()?.resident_mb()?;
    }
    print(figures);
    Ok(())
}

fn print([mut ours, mut peer]: [Figures; 2]) {
    let rows = [
        ("exec to first answer", &mut ours.starts, &mut peer.starts, "≤ 1/100"),
        ("`shell_exec true`", &mut ours.calls, &mut peer.calls, "none"),
        (
            "a session of `echo ready` until its output",
            &mut ours.sessions,
            &mut peer.sessions,
            "none",
        ),
    ];
    for (work, ours, peer, goal) in rows {
        let (ours, peer) = (median(ours), median(peer));
        let measured =
            format!("1/{:.0}: {ours:.2} ms beside {peer:.1} ms (p50, wall)", peer / ours);
        row(&format!("{work} beside relay-shell"), &measured, goal);
    }
    let measured = format!("{:.1} MB beside {:.1} MB", ours.resident_mb, peer.resident_mb);
    row("resident memory after those, with the keeper, beside relay-shell", &measured, "less");
}
