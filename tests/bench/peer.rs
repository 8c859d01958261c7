//! The local tools beside relay-shell, the server in Python whose tools they are, if it is in the `PATH`.

#![expect(clippy::disallowed_methods, reason = "it runs another server")]

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::agent::{Agent, is_installed, serve};
use crate::figures::number::median;
use crate::figures::{Figure, Report, beside as peer, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[START, CALL, SESSION, RESIDENT];

const START: Figure = Figure {
    id: "peer/start",
    work: "exec to first answer with the local tools, beside relay-shell",
    parts: &[of("", "ms"), of("of the peer's", "×").at_most(0.01), peer("relay-shell", "ms")],
    note: "relay-shell 0.5.0 is a server in Python 3.12 with the same tools.",
};
const CALL: Figure = Figure {
    id: "peer/call",
    work: "`shell_exec true`, beside relay-shell",
    parts: &[of("p50", "ms"), of("of the peer's", "×"), peer("relay-shell", "ms")],
    note: "",
};
const SESSION: Figure = Figure {
    id: "peer/session",
    work: "a session of `echo ready` until its output, beside relay-shell",
    parts: &[of("p50", "ms"), of("of the peer's", "×"), peer("relay-shell", "ms")],
    note: "",
};
const RESIDENT: Figure = Figure {
    id: "peer/resident",
    work: "resident memory after those, with the keeper, beside relay-shell",
    parts: &[of("", "MB"), of("of the peer's", "×").at_most(1.0), peer("relay-shell", "MB")],
    note: "",
};

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
pub(crate) fn beside(setting: &Setting, report: &mut Report) -> Result<()> {
    if !is_installed(PROGRAM) {
        for figure in FIGURES {
            report.not_run(figure, "relay-shell is not in the PATH");
        }
        return Ok(());
    }
    let commands = || -> Result<[Command; 2]> {
        let mut peer = Command::new(PROGRAM);
        peer.current_dir(&setting.folder).env("RELAY_SHELL_AUDIT_PATH", "peer.jsonl");
        peer.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ours = serve(setting, "ops.jsonl")?;
        // Both find the files that an earlier start left: a checked bundle here, compiled modules there.
        ours.env("XDG_CACHE_HOME", &setting.folder);
        Ok([ours, peer])
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
    put(figures, report)
}

fn put([mut ours, mut peer]: [Figures; 2], report: &mut Report) -> Result<()> {
    let rows = [
        (&START, &mut ours.starts, &mut peer.starts),
        (&CALL, &mut ours.calls, &mut peer.calls),
        (&SESSION, &mut ours.sessions, &mut peer.sessions),
    ];
    for (figure, ours, peer) in rows {
        let (ours, peer) = (median(ours), median(peer));
        report.put_all(figure, &[ours, ours / peer, peer])?;
    }
    let (ours, peer) = (ours.resident_mb, peer.resident_mb);
    report.put_all(&RESIDENT, &[ours, ours / peer, peer])
}
