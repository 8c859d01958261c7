//! A client on standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command};
use std::time::Instant;

use harness::Process;
use serde_json::{Value, json};

use crate::{Result, Setting, cost, generate, median, quantile, row};

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
pub(crate) fn start(setting: &Setting) -> Result<()> {
    let bundle = setting.bundle("1000.relay", &generate::contents(1000))?;
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    for _ in 0..25 {
        let start = Instant::now();
        let mut session = Session::start(serve(setting, &bundle))?;
        session.initialize()?;
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        cpu.push(cost::cpu_ns(session.process())? as f64 / 1e6);
    }
    let measured = format!("{:.1} ms wall, {:.1} ms CPU", median(&mut wall), median(&mut cpu));
    row("exec to first answer, 1,000 prompts, stdio", &measured, "≤ 15 ms");
    Ok(())
}

/// One `prompts/get` after the other.
pub(crate) fn prompts_get(setting: &Setting) -> Result<()> {
    let bundle = setting.bundle("1000.relay", &generate::contents(1000))?;
    let mut session = Session::start(serve(setting, &bundle))?;
    session.initialize()?;
    let (idle, _) = cost::resident_mb(session.process())?;
    let request = |number: usize| -> String {
        let params: Value = json!({
            "name": generate::name(number % 1000),
            "arguments": { "arguments": "the kitchen light" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": number + 1, "method": "prompts/get", "params": params });
        format!("{request}\n")
    };
    let mut times = Vec::new();
    for number in 0..6000 {
        let request = request(number);
        let start = Instant::now();
        session.ask(&request)?;
        if number >= 1000 {
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let (loaded, _) = cost::resident_mb(session.process())?;
    let p99 = quantile(&mut times, 0.99);
    let measured = format!("{:.0} µs p50, {p99:.0} µs p99 (wall)", median(&mut times));
    row("prompts/get of 4 KB over stdio, with audit", &measured, "≤ 60 µs p50");
    row(
        "resident memory idle / after 6,000 prompts",
        &format!("{idle:.1} / {loaded:.1} MB"),
        "≤ 15 / 25 MB + touched pages",
    );
    Ok(())
}
