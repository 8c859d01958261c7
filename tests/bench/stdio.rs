//! A client on standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command};
use std::time::Instant;

use harness::Process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};

use crate::figures::number::{median, quantile};
use crate::figures::{Figure, Part, Report, beside, of};
use crate::limit::ECHO;
use crate::{Result, Setting, cost, generate, limit};

pub(crate) const START: &[Figure] = &[FIRST_ANSWER, AGAIN];
pub(crate) const GET: &[Figure] = &[PROMPTS_GET, RESIDENT];

const FIRST_ANSWER: Figure = Figure {
    id: "start/stdio",
    work: "exec to first answer, 1,000 prompts, stdio, where no copy of the bundle is kept",
    parts: &[
        of("wall", "ms").at_most(15.0),
        of("CPU", "ms"),
        beside("SHA-256 of the bundle", "ms"),
    ],
    note: "such a load checks the whole bundle, and that its derived parts follow from its contents.",
};
const AGAIN: Figure = Figure {
    id: "start/again",
    work: "the same with the checked copy of an earlier start in the cache of the user",
    parts: &[of("wall", "ms").at_most(15.0).next(4.0), of("CPU", "ms")],
    note: "",
};
const PROMPTS_GET: Figure = Figure {
    id: "stdio/prompts-get",
    work: "`prompts/get` of 4 KB over stdio, with audit",
    parts: &[of("p50", "µs").at_most(60.0).next(30.0), of("p99", "µs"), ON_ONE_CORE, ECHO],
    note: "most of p50 wakes a core that is idle, as for `cat`.",
};
const RESIDENT: Figure = Figure {
    id: "stdio/resident",
    work: "resident memory of that server, beside the pages of the bundle that it read",
    parts: &[
        of("idle", "MB").at_most(15.0).next(7.0),
        of("after 6,000 prompts", "MB").at_most(25.0),
        of("pages of the bundle", "MB"),
    ],
    note: "",
};

/// The same with client and server on one core: see [`on_one_core`].
pub(crate) const ON_ONE_CORE: Part = of("p50 on one core", "µs");

/// A server and the client's side of the conversation.
pub(crate) struct Session {
    process: Process,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
}

impl Session {
    pub(crate) fn start(command: Command) -> Result<Self> {
        let mut process = Process::start(command);
        let to = process.stdin().ok_or("no stdin")?;
        let from = BufReader::new(process.stdout());
        Ok(Self { process, to, from, line: String::new() })
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Closes the conversation, and waits for the server to end by itself.
    pub(crate) fn end(self) -> Result<()> {
        let Self { mut process, to, from, line: _ } = self;
        drop(to);
        let ended = process.wait();
        drop(from);
        if ended.code == Some(0) { Ok(()) } else { Err(ended.stderr.into()) }
    }

    /// Sends a request and returns the answer's bytes.
    pub(crate) fn ask(&mut self, request: &str) -> Result<usize> {
        self.to.write_all(request.as_bytes())?;
        self.line.clear();
        let mut length = self.from.read_line(&mut self.line)?;
        while length > 0 && self.line.contains("\"method\"") && !self.line.contains("\"result\"") {
            // A notification.
            self.line.clear();
            length = self.from.read_line(&mut self.line)?;
        }
        if !self.line.contains("\"result\"") {
            return Err(format!("the server said: {}{}", self.line, self.process.log()).into());
        }
        Ok(length)
    }

    /// Returns the line of the last answer.
    pub(crate) fn answer(&self) -> &str {
        &self.line
    }

    /// Sends a request of this method and returns its result.
    pub(crate) fn result(&mut self, method: &str, params: &Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.ask(&format!("{request}\n"))?;
        let mut answer: Value = serde_json::from_str(&self.line)?;
        Ok(answer.get_mut("result").map(Value::take).unwrap_or_default())
    }

    pub(crate) fn initialize(&mut self) -> Result<()> {
        let request = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            },
        });
        self.ask(&format!("{request}\n"))?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.to.write_all(format!("{initialized}\n").as_bytes())?;
        Ok(())
    }
}

pub(crate) fn serve(setting: &Setting, bundle: &std::path::Path) -> Command {
    let mut command = harness::command(&setting.relay_serve, &setting.folder);
    command.arg(bundle).arg("--stdio").arg("--trust").arg(setting.trust_file());
    command.arg("--audit").arg(setting.folder.join("audit.jsonl"));
    command
}

/// From exec to the answer of `initialize`, 1,000 prompts.
pub(crate) fn start(setting: &Setting, report: &mut Report) -> Result<()> {
    let bundle = setting.bundle("1000.relay", &generate::contents(1000))?;
    let cache = setting.folder.join("cache");
    for (figure, cache) in [(&FIRST_ANSWER, None), (&AGAIN, Some(&cache))] {
        let mut wall = Vec::new();
        let mut cpu = Vec::new();
        for round in 0..26 {
            let mut serve = serve(setting, &bundle);
            serve.envs(cache.iter().map(|folder| ("XDG_CACHE_HOME", folder)));
            let start = Instant::now();
            let mut session = Session::start(serve)?;
            session.initialize()?;
            // The first start makes the copy.
            if round > 0 {
                wall.push(start.elapsed().as_secs_f64() * 1e3);
                cpu.push(cost::cpu_ns(session.process())? as f64 / 1e6);
            }
        }
        let mut parts = vec![median(&mut wall), median(&mut cpu)];
        if cache.is_none() {
            parts.push(limit::hashing_s(&bundle)? * 1e3);
        }
        report.put_all(figure, &parts)?;
    }
    Ok(())
}

/// Returns the request for the prompt of this number, of 1,000.
pub(crate) fn prompt_request(number: usize) -> String {
    let params = json!({
        "name": generate::name(number % 1000),
        "arguments": { "arguments": "the kitchen light" },
    });
    let request =
        json!({ "jsonrpc": "2.0", "id": number + 1, "method": "prompts/get", "params": params });
    format!("{request}\n")
}

/// One `prompts/get` after the other.
pub(crate) fn prompts_get(setting: &Setting, report: &mut Report) -> Result<()> {
    let bundle = setting.bundle("1000.relay", &generate::contents(1000))?;
    let mut session = Session::start(serve(setting, &bundle))?;
    session.initialize()?;
    let idle = beside_bundle_mb(session.process())?;
    let mut times = prompt_times(&mut session)?;
    let loaded = beside_bundle_mb(session.process())?;
    let pages = cost::bundle_mb(session.process())?;
    let mut alone = on_one_core(|| {
        let mut session = Session::start(serve(setting, &bundle))?;
        session.initialize()?;
        prompt_times(&mut session)
    })?;
    let p99 = quantile(&mut times, 0.99);
    let echo = limit::echo_us(setting, session.answer())?;
    report.put_all(&PROMPTS_GET, &[median(&mut times), p99, median(&mut alone), echo])?;
    report.put_all(&RESIDENT, &[idle, loaded, pages])
}

/// Returns the times of 5,000 requests, in microseconds, after 1,000 more to warm up.
fn prompt_times(session: &mut Session) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for number in 0..6000 {
        let request = prompt_request(number);
        let start = Instant::now();
        session.ask(&request)?;
        if number >= 1000 {
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(times)
}

/// Does work, and what it starts, on one core alone.
///
/// A client and a server in turn leave a core of two idle at any time. The kernel wakes it for the next of the
/// two, which takes longer than their work on a virtual machine, and depends on the hour.
pub(crate) fn on_one_core<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let all = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)).ok_or("no core")?;
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one)?;
    let done = work();
    sched_setaffinity(None, &all)?;
    done
}

fn beside_bundle_mb(process: &Process) -> Result<f64> {
    let (all, _) = cost::resident_mb(process)?;
    Ok(all - cost::bundle_mb(process)?)
}
