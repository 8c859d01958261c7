//! A client over HTTP: one connection a request, every byte in sight.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Instant;

use harness::{PATIENCE, Process};
use serde_json::{Value, json};

use super::house::House;
use super::server::{self, LEGACY, MODERN, initialize_params, modern};

/// A server on a free port of loopback.
pub(crate) struct Web {
    pub(crate) server: Process,
    pub(crate) address: String,
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Returns a header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut values = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
        values.next().map_or("", |(_, value)| value.trim())
    }

    /// Returns the values of a header that may appear several times.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        let values = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
        values.map(|(_, value)| value.trim()).collect()
    }

    /// Reads the body: JSON, or the last event of a stream.
    pub(crate) fn json(&self) -> Value {
        let event = self.body.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
        let text = event.unwrap_or(&self.body);
        serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A request in the making.
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// A JSON-RPC message to `/mcp`.
    pub(crate) fn message(message: &Value) -> Self {
        Self::new("POST", "/mcp")
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
            .body(message.to_string())
    }

    /// A request of the modern protocol.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_of(&json!(1), method, params)
    }

    /// A request of the modern protocol with this id.
    pub(crate) fn modern_of(id: &Value, method: &str, params: Value) -> Self {
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": modern(params) });
        let request =
            Self::message(&message).with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method);
        match name {
            Some(name) => request.with("Mcp-Name", &name),
            None => request,
        }
    }

    /// A request of the legacy protocol, in a session.
    pub(crate) fn legacy(session: &str, method: &str, params: Value) -> Self {
        Self::message(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .with("MCP-Protocol-Version", LEGACY)
            .with("Mcp-Session-Id", session)
    }

    /// The first request of the legacy protocol.
    pub(crate) fn initialize() -> Self {
        let params = initialize_params(LEGACY);
        Self::message(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        )
    }

    /// Sets a header, in place of an earlier one of that name.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Returns the bytes of a request that is the last one of its connection.
    pub(crate) fn bytes(&self, address: &str) -> Vec<u8> {
        self.bytes_with(address, "Connection: close\r\n")
    }

    /// Returns the bytes of a request that others follow on its connection.
    pub(crate) fn keeping_alive(&self, address: &str) -> Vec<u8> {
        self.bytes_with(address, "")
    }

    fn bytes_with(&self, address: &str, connection: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let set = |name: &str| self.headers.iter().any(|(known, _)| known == name);
        if !set("Host") {
            head += &format!("Host: {address}\r\n");
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n{connection}\r\n", self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

impl Web {
    /// Starts `relay-serve house.relay --http` and waits until it listens.
    pub(crate) fn start(house: &House, arguments: &[&str]) -> Self {
        let mut command = server::command(house, &["--http", "127.0.0.1:0"]);
        command.args(arguments);
        Self::run(house, command)
    }

    /// Runs a command that serves HTTP and waits until it listens.
    pub(crate) fn run(house: &House, command: Command) -> Self {
        let mut server = Process::start(command);
        server.keep(house.folder());
        // The log says where, and comes in pieces.
        let log = server.hear("/mcp\n");
        let (before, _) = log.split_once("/mcp\n").expect("heard");
        let (_, address) = before.rsplit_once("http://").expect("an address");
        let address = address.to_owned();
        Self { server, address }
    }

    /// Sends a request and reads its answer.
    pub(crate) fn send(&self, request: &Request) -> Answer {
        self.try_send(request).expect("a whole answer in time")
    }

    /// The same; `None` if the connection breaks before the end of the answer.
    pub(crate) fn try_send(&self, request: &Request) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        // A server that refuses a body may leave it unread.
        _ = stream.write_all(&request.bytes(&self.address));
        let mut from = BufReader::new(stream);
        let mut head = String::new();
        while from.read_line(&mut head).ok()? > 2 {}
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let mut answer = Answer { status, head, body: String::new() };
        if answer.header("transfer-encoding").eq_ignore_ascii_case("chunked") {
            answer.body = chunks(&mut from)?;
            return Some(answer);
        }
        let mut body = String::new();
        from.read_to_string(&mut body).ok()?;
        let is_whole =
            answer.header("content-length").parse().is_ok_and(|length: usize| length == body.len());
        answer.body = body;
        (is_whole || answer.header("content-length").is_empty()).then_some(answer)
    }

    /// Sends a request and waits until its answer, a stream of events, begins.
    pub(crate) fn listen(&self, request: &Request) -> Events {
        self.try_listen(request).expect("a stream")
    }

    /// The same; `None` if it is answered otherwise.
    pub(crate) fn try_listen(&self, request: &Request) -> Option<Events> {
        let mut from = self.open(request);
        let mut head = String::new();
        while from.read_line(&mut head).expect("a head in time") > 2 {}
        head.starts_with("HTTP/1.1 200").then_some(Events { from })
    }

    /// Sends a request and leaves its answer for later.
    pub(crate) fn open(&self, request: &Request) -> BufReader<TcpStream> {
        let mut stream = self.hold(b"");
        // A server that refuses a body may leave it unread.
        _ = stream.write_all(&request.bytes(&self.address));
        BufReader::new(stream)
    }

    /// Sends these bytes and returns all bytes until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut answer = Vec::new();
        _ = self.hold(bytes).read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends these bytes and leaves the connection open.
    pub(crate) fn hold(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(bytes).expect("it takes a little");
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&Request::new("GET", path))
    }

    /// Begins a session of the legacy protocol; returns its id.
    pub(crate) fn begin(&self, authorization: Option<&str>) -> String {
        let with = |request: Request| match authorization {
            Some(value) => request.with("Authorization", value),
            None => request,
        };
        let answer = self.send(&with(Request::initialize()));
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let initialized = Request::message(&initialized)
            .with("MCP-Protocol-Version", LEGACY)
            .with("Mcp-Session-Id", &session);
        assert_eq!(self.send(&with(initialized)).status, 202);
        session
    }
}

/// A stream of events.
pub(crate) struct Events {
    from: BufReader<TcpStream>,
}

impl Events {
    /// Waits for the next event with data.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let length = self.from.read_line(&mut line).expect("an event in time");
            assert_ne!(length, 0, "the stream ended");
            if let Some(data) =
                line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty())
            {
                return serde_json::from_str(data)
                    .unwrap_or_else(|error| panic!("{error}: {data}"));
            }
        }
    }

    /// Waits for the end of the stream.
    pub(crate) fn ends(&mut self) {
        let mut rest = Vec::new();
        _ = self.from.read_to_end(&mut rest).expect("an end in time");
    }
}

/// Reads a body in chunks; `None` if the connection breaks before its end.
fn chunks(from: &mut BufReader<TcpStream>) -> Option<String> {
    let mut body = Vec::new();
    // A stream that is kept alive sends something often.
    let limit = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < limit, "the body does not end");
        let mut size = String::new();
        from.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        from.read_exact(&mut chunk).ok()?;
        if size == 0 {
            return String::from_utf8(body).ok();
        }
        body.extend_from_slice(&chunk[..size]);
    }
}
