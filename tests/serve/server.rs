//! `relay-serve` and its client on standard input and output.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use harness::{Ended, PATIENCE, Process};
use serde_json::{Value, json};

use super::house::House;
use crate::binaries::relay_serve;

/// The newest version of the protocol, which is stateless.
pub(crate) const MODERN: &str = "2026-07-28";
/// The newest version of those that begin with `initialize`.
pub(crate) const LEGACY: &str = "2025-11-25";

/// Waits until this is so.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "it is never so");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Makes the command `relay-serve house.relay`, with the house's trust file and nothing of this
/// user's environment.
pub(crate) fn command(house: &House, arguments: &[&str]) -> Command {
    let mut command = bare(house, &["house.relay", "--trust", "trust.toml"]);
    command.args(arguments);
    command
}

/// Makes the command `relay-serve` with just these arguments.
pub(crate) fn bare(house: &House, arguments: &[&str]) -> Command {
    let mut command = harness::command(relay_serve(), &house.path(""));
    command.args(arguments).env("HOME", house.path("home"));
    command
}

/// A client on standard input and output.
pub(crate) struct Client {
    pub(crate) server: Process,
    to: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    /// Notifications and requests of the server that are still to be read.
    unasked: VecDeque<Value>,
    /// Answers that are still to be read, by the id of their request.
    answers: BTreeMap<u64, Value>,
    next: u64,
}

impl Client {
    /// Starts `relay-serve house.relay --stdio`.
    pub(crate) fn start(house: &House, arguments: &[&str]) -> Self {
        let mut command = command(house, arguments);
        command.arg("--stdio");
        let mut client = Self::run(command);
        client.server.keep(house.folder());
        client
    }

    /// Starts it and initializes a legacy session.
    pub(crate) fn legacy(house: &House, arguments: &[&str]) -> Self {
        let mut client = Self::start(house, arguments);
        client.initialize(LEGACY);
        client
    }

    pub(crate) fn run(command: Command) -> Self {
        let mut server = Process::start(command);
        let to = server.stdin();
        let mut from = BufReader::new(server.stdout());
        let (sender, lines) = channel();
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match from.read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self { server, to, lines, unasked: VecDeque::new(), answers: BTreeMap::new(), next: 0 }
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let answer = self.ask("initialize", initialize_params(version));
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Sends bytes as they are. The server may have left.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().expect("standard input is open");
        _ = to.write_all(bytes).and_then(|()| to.flush());
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its answer: an object with `result` or `error`.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the answer to a request. Answers may come in any order.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let message = self.next_message().expect("an answer before the end");
            match message["id"].as_u64() {
                Some(id) => _ = self.answers.insert(id, message),
                None => self.unasked.push_back(message),
            }
        }
    }

    /// Sends a request that is expected to succeed, and returns its result.
    pub(crate) fn get(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Sends a request that is expected to fail, and returns code and message.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.ask(method, params);
        let error = &answer["error"];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (error["code"].as_i64().expect("an error code"), text(&error["message"]))
    }

    /// Waits for what comes unasked.
    pub(crate) fn notified(&mut self) -> Value {
        match self.unasked.pop_front() {
            Some(message) => message,
            None => self.next_message().expect("a notification before the end"),
        }
    }

    /// Returns the methods that came unasked until now.
    pub(crate) fn unasked(&mut self) -> Vec<String> {
        // They are sent in the background.
        thread::sleep(Duration::from_millis(300));
        while let Ok(line) = self.lines.try_recv() {
            self.unasked.push_back(parse(&line));
        }
        let messages = self.unasked.drain(..);
        messages.map(|message| message["method"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// Returns the next message; `None` at the end of what the server says.
    pub(crate) fn next_message(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(parse(&line)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("it says nothing; the log:\n{}", self.server.log())
            }
        }
    }

    /// Closes standard input.
    pub(crate) fn close(&mut self) {
        drop(self.to.take());
    }

    /// Closes standard input and waits for the end.
    pub(crate) fn end(&mut self) -> Ended {
        self.close();
        self.server.wait()
    }

    /// Asks for the prompt `note`; returns what it says.
    pub(crate) fn note(&mut self, text: &str) -> String {
        let params = json!({ "name": "note", "arguments": { "arguments": text } });
        let mut result = self.get("prompts/get", params);
        match result["messages"][0]["content"]["text"].take() {
            Value::String(text) => text,
            other => panic!("{other}"),
        }
    }
}

fn parse(line: &[u8]) -> Value {
    let text = String::from_utf8_lossy(line);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("standard output: {error}: {text}"))
}

pub(crate) fn initialize_params(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// Adds what every request of the modern protocol carries.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    params
}
