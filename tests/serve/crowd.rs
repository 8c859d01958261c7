//! Clients that take more than their share: the others are still answered.

#![expect(clippy::print_stdout, reason = "the figures are what these tests are for")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use super::agent::handle_of;
use super::auth::{config, key};
use super::gate;
use super::house::{self, House};
use super::server::{LEGACY, wait_until};
use super::tools::long_audit;
use super::web::{Request, Web};

const ANN: &str = "Bearer rk_ann_secret-of-ann";
const BOB: &str = "Bearer rk_bob_secret-of-bob";

fn started(house: &House, limits: &str) -> Web {
    house.write("server.toml", limits);
    Web::start(house, &["--config", "server.toml"])
}

/// A server with two callers.
fn shared(limits: &str) -> Web {
    let tables = [key("ann", "secret-of-ann", ""), key("bob", "secret-of-bob", "")];
    started(&House::new(), &format!("{}\n[limits]\n{limits}", config(&tables)))
}

fn list() -> Request {
    Request::modern("prompts/list", json!({}))
}

/// Connects from this address of loopback.
fn connect_from(web: &Web, from: [u8; 4]) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((from, 0)).into()).expect("an address of loopback");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let to: SocketAddr = web.address.parse().expect("an address");
    socket.connect(&to.into()).expect("it listens");
    socket.into()
}

/// Sends requests on one connection and leaves the answers unread, until the server closes it.
fn flood(web: &Web, from: [u8; 4]) -> JoinHandle<()> {
    let requests = list().keeping_alive(&web.address).repeat(50);
    let mut stream = connect_from(web, from);
    thread::spawn(move || while stream.write_all(&requests).is_ok() {})
}

/// Returns the status of an answer; 0 if the server closed the connection at once.
fn status(web: &Web, request: &Request) -> u16 {
    let answer = web.raw(&request.bytes(&web.address));
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn connections_that_never_read_leave_room_and_are_closed() {
    let house = House::of(&house::bundle_of(&house::many(100)));
    let limits = "connections-max = 6\naddress-connections-max = 4\nwrite-s-max = 3\n";
    let web = started(&house, &format!("[limits]\n{limits}"));
    let floods: Vec<_> = (0..4).map(|_| flood(&web, [127, 0, 0, 1])).collect();
    wait_until(|| status(&web, &list()) == 503);
    for path in ["/healthz", "/readyz"] {
        wait_until(|| status(&web, &Request::new("GET", path)) == 200);
    }
    let mut other = connect_from(&web, [127, 0, 0, 2]);
    other.write_all(&list().bytes(&web.address)).expect("it takes a little");
    let mut answer = String::new();
    _ = other.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for flood in floods {
        flood.join().expect("it was closed");
    }
    wait_until(|| status(&web, &list()) == 200);
}

#[test]
fn the_sessions_of_a_caller_are_limited() {
    let web = shared("principal-sessions-max = 2\nsessions-max = 3\n");
    let [first, _second] = [web.begin(Some(ANN)), web.begin(Some(ANN))];
    let third = web.send(&Request::initialize().with("Authorization", ANN));
    assert_eq!((third.status, third.header("retry-after")), (429, "60"), "{third:?}");
    web.begin(Some(BOB));
    let full = web.send(&Request::initialize().with("Authorization", BOB));
    assert_eq!(full.status, 503, "{full:?}");
    let end = Request::new("DELETE", "/mcp").with("Mcp-Session-Id", &first);
    assert_eq!(web.send(&end.with("Authorization", ANN)).status, 204);
    web.begin(Some(ANN));
}

#[test]
fn a_session_whose_client_disconnects_at_once_counts_as_its_own() {
    let web = shared("principal-sessions-max = 2\nsessions-max = 8\n");
    let initialize = || Request::initialize().with("Authorization", ANN);
    wait_until(|| {
        drop(web.open(&initialize()));
        web.send(&initialize()).status == 429
    });
    web.begin(Some(BOB));
}

#[test]
fn the_streams_of_a_caller_are_limited() {
    let web = shared("principal-streams-max = 2\n");
    let of_session = |who: &str| {
        let session = web.begin(Some(who));
        Request::new("GET", "/mcp")
            .with("Accept", "text/event-stream")
            .with("MCP-Protocol-Version", LEGACY)
            .with("Mcp-Session-Id", &session)
            .with("Authorization", who)
    };
    let modern = |who: &str| {
        let wanted = json!({ "notifications": { "promptsListChanged": true } });
        Request::modern("subscriptions/listen", wanted).with("Authorization", who)
    };
    let ann = of_session(ANN);
    let first = web.listen(&ann);
    let mut second = web.listen(&modern(ANN));
    assert_eq!(second.next()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(web.send(&ann).status, 429);
    let third = web.send(&modern(ANN)).json();
    let refused = "2 streams are open, which is the limit: end one first";
    assert_eq!(third["error"]["message"], refused, "{third}");
    // Everything else is answered, and so are the streams of others.
    assert_eq!(web.send(&list().with("Authorization", ANN)).status, 200);
    let _bob = (web.listen(&of_session(BOB)), web.listen(&modern(BOB)));
    drop(first);
    wait_until(|| web.try_listen(&ann).is_some());
}

#[test]
fn two_requests_of_one_id_in_a_session_are_both_ended() {
    let house = gate::house("");
    house.write("server.toml", "");
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let session = web.begin(None);
    let call = |tool: &str, arguments: Value| {
        Request::legacy(&session, "tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    let begun = web.send(&call("begin_session", json!({ "tags": ["vpn"] }))).json();
    let slow = call("audit_tail", json!({ "briefing": handle_of(&begun["result"]), "tool": "y" }));
    long_audit(&house);
    wait_until(|| {
        // Each of them ends; if they overlap, only one is served.
        let answers = thread::scope(|scope| {
            [(); 2].map(|()| scope.spawn(|| web.send(&slow))).map(|it| it.join().expect("an end"))
        });
        let overlap = answers.iter().find(|answer| answer.status == 400);
        for answer in answers.iter().filter(|answer| answer.status != 400) {
            assert_eq!(answer.json()["result"]["isError"], false, "{answer:?}");
        }
        overlap.is_some_and(|answer| {
            assert_eq!(answer.json()["error"]["code"], -32600, "{answer:?}");
            true
        })
    });
    assert_eq!(web.send(&slow).status, 200);
}

/// Returns a size of a process in MB, by its name in `/proc/PID/status`.
fn megabytes(web: &Web, name: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", web.server.id())).expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a size");
    let kib = line.trim_start_matches(':').split_whitespace().next().map(str::parse::<usize>);
    kib.expect("a number").expect("a number") / 1024
}

/// Asks 200 times as bob, and returns the longest but two of the times.
fn p99(web: &Web) -> Duration {
    let note = || {
        let params = json!({ "name": "note", "arguments": { "arguments": "on" } });
        Request::modern("prompts/get", params).with("Authorization", BOB)
    };
    let mut times: Vec<_> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            assert_eq!(web.send(&note()).status, 200);
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[197]
}

/// The head of a request of ann with a body of so many bytes.
fn head(web: &Web, length: usize) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: {ANN}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n",
        web.address
    )
    .into_bytes()
}

#[test]
fn bodies_of_one_caller_that_never_end_leave_memory_and_others_alone() {
    const BODY: usize = 4 << 20;
    let web = shared(&format!("body-bytes-max = {BODY}\n"));
    let before = megabytes(&web, "VmRSS");
    let mut held: Vec<_> = (0..300)
        .map(|_| {
            let stream = web.hold(&head(&web, BODY));
            stream.set_nonblocking(true).expect("a socket");
            (stream, BODY - 1)
        })
        .collect();
    let chunk = vec![b' '; 1 << 16];
    let until = Instant::now() + Duration::from_secs(4);
    let mut p99s = Vec::new();
    while Instant::now() < until {
        for (stream, rest) in &mut held {
            while let Ok(sent @ 1..) = stream.write(&chunk[..chunk.len().min(*rest)]) {
                *rest -= sent;
            }
        }
        p99s.push(p99(&web));
    }
    let (slowest, most) = (p99s.iter().max().expect("one"), megabytes(&web, "VmHWM"));
    drop(held);
    wait_until(|| {
        let large = Request::message(&json!({})).body(vec![b' '; 100_000]);
        web.send(&large.with("Authorization", ANN)).status == 400
    });
    let after = megabytes(&web, "VmRSS");
    println!("{before} MB before, {most} MB at most, {after} MB after; others' p99 {slowest:?}");
    assert!(most <= 64, "{most} MB");
    // The rest is what the connections took, in debug builds.
    assert!(after <= before + 24, "{before} MB before, {after} MB after");
    assert!(*slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
fn a_body_without_room_waits_and_is_then_answered_or_rejected() {
    let limits = "principal-bodies-bytes-max = 100000\nrequest-s-max = 3\n";
    let web = shared(limits);
    let big = |who: &str| {
        let params = json!({ "name": "note", "arguments": { "arguments": "x".repeat(50_000) } });
        Request::modern("prompts/get", params).with("Authorization", who)
    };
    let _held = web.hold(&head(&web, 90_000));
    // The room of a body is taken when its head was read.
    thread::sleep(Duration::from_secs(1));
    assert_eq!(web.send(&big(BOB)).status, 200);
    let begun = Instant::now();
    // The incomplete body is given up after three seconds.
    assert_eq!(web.send(&big(ANN)).status, 200);
    let waited = begun.elapsed();
    assert!(waited > Duration::from_millis(500), "{waited:?}");
    let _held = web.hold(&head(&web, 90_000));
    let _later = web.hold(&head(&web, 90_000));
    thread::sleep(Duration::from_secs(2));
    let small = list().with("Authorization", ANN);
    assert_eq!(web.send(&small).status, 200);
}

#[test]
fn large_bodies_are_parsed_beside_the_others() {
    let web = shared("body-bytes-max = 4194304\nprincipal-bodies-bytes-max = 33554432\n");
    let values = format!("[0{}]", ",0".repeat((4 << 20) / 2 - 600));
    let escapes = format!("\"{}\"", "\\u00e9".repeat((4 << 20) / 6 - 200));
    for (argument, status) in [(values, 400), (escapes, 200)] {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{{"name":"note","arguments":{{"arguments":{argument}}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        let note = json!({ "name": "note" });
        let request = Request::modern("prompts/get", note).with("Authorization", ANN).body(message);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        assert_eq!(web.send(&request).status, status);
                    }
                });
            }
            thread::sleep(Duration::from_millis(200));
            let p99 = p99(&web);
            is_over.store(true, Ordering::Relaxed);
            println!("answered {status}: others' p99 {p99:?}");
            assert!(p99 < Duration::from_secs(1), "{p99:?}");
        });
    }
    println!("{} MB at most", megabytes(&web, "VmHWM"));
}

#[test]
fn two_addresses_that_say_nothing_do_not_lock_out_a_third() {
    let house = House::new();
    let web = started(&house, "[limits]\nconnections-max = 20\naddress-connections-max = 15\n");
    let quiet = |from: [u8; 4]| {
        let mut stream = connect_from(&web, from);
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").expect("it takes a little");
        stream
    };
    let _first: Vec<_> = (0..15).map(|_| quiet([127, 0, 0, 2])).collect();
    let _second: Vec<_> = (0..15).map(|_| quiet([127, 0, 0, 3])).collect();
    for _ in 0..10 {
        assert_eq!(status(&web, &list()), 200);
    }
}
