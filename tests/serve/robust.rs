//! With any input: no panic, no hang, and an orderly end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, Stdio};
use std::thread::{self, JoinHandle};

use harness::{Ended, Process};
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS};
use super::gate;
use super::house::{self, House};
use super::server::{Client, command, modern};
use super::tools::long_audit;

/// Asserts that a server still answers.
fn assert_well(client: &mut Client) {
    assert_eq!(client.note("on"), "Note: on");
    let ended = client.end();
    assert_ended_well(&ended);
}

fn assert_ended_well(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

#[test]
fn a_line_that_is_not_json_is_answered_with_a_parse_error() {
    let deep = [vec![b'['; 100_000], vec![b'\n']].concat();
    let deep_object = [br#"{"a":"#.repeat(100_000), b"\n".to_vec()].concat();
    let garbage: [&[u8]; 7] = [
        b"hello\n",
        b"{\n",
        b"\xff\xfe\x00\x80\n",
        b"\"\xc3\x28\"\n",
        b"\x00\x00\x00\n",
        &deep,
        &deep_object,
    ];
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    let error = json!({ "code": -32700, "message": "the line is not JSON" });
    for bytes in garbage {
        client.write(bytes);
        let answer = client.next_message().expect("an answer");
        assert_eq!((&answer["error"], &answer["id"]), (&error, &json!(null)), "{answer}");
        // An echo of the answer stays unanswered.
        client.write(format!("{answer}\n").as_bytes());
    }
    // Lines with nothing in them are skipped.
    client.write(b"\n\n\r\n\xef\xbb\xbf\n");
    assert_well(&mut client);
}

#[test]
fn garbage_before_the_first_request_is_answered() {
    let house = House::new();
    let mut client = Client::start(&house, &[]);
    client.write(b"hello\n\xff\xff\n{\n");
    for _ in 0..3 {
        assert_eq!(client.next_message().expect("an answer")["error"]["code"], -32700);
    }
    client.initialize("2025-11-25");
    assert_well(&mut client);
}

#[test]
fn calls_that_run_at_the_end_of_input_are_answered() {
    let house = gate::house("");
    let mut client = Client::legacy(&house, &[]);
    let call = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "begin_session", "arguments": { "tags": ["vpn"] } } });
    let lines: String = (100..110).map(|id| format!("{}\n", call(id))).collect();
    client.write(lines.as_bytes());
    client.close();
    for _ in 100..110 {
        let answer = client.next_message().expect("an answer");
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(!text.contains("[CANCELLED]"), "{answer}");
    }
    assert_ended_well(&client.end());
}

#[test]
fn json_that_is_not_a_request_is_answered_with_an_error() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    for text in [
        "[]",
        "null",
        "7",
        "{}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
    ] {
        client.write(format!("{text}\n").as_bytes());
        let answer = client.next_message().expect("an answer");
        assert_eq!(answer["error"]["code"], -32600, "{text}: {answer}");
    }
    assert_well(&mut client);
}

#[test]
fn an_unknown_method_is_answered_with_its_code() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    for method in ["moon/land", "", "prompts/get/x", "tools/call\0"] {
        let answer = client.ask(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    let (code, message) = client.refused("tools/call", json!({ "name": "rm", "arguments": {} }));
    assert_eq!(
        (code, message.as_str()),
        (-32602, "unknown tool `rm`: tools/list names the available tools")
    );
    assert_well(&mut client);
}

#[test]
fn wrong_parameters_are_answered_with_their_code_and_recorded() {
    let house = gate::house("");
    for protocol in PROTOCOLS {
        house.write("audit.jsonl", "");
        let mut agent = Agent::with(&house, protocol, &["--audit", "audit.jsonl"]);
        let recorded = [
            ("prompts/get", json!({}), "prompt:unknown"),
            ("prompts/get", json!({ "name": 7 }), "prompt:unknown"),
            ("prompts/get", json!({ "name": "hunter2", "arguments": [] }), "prompt:unknown"),
            ("prompts/get", json!({ "name": "naming", "arguments": [] }), "prompt:naming"),
            ("resources/read", json!({ "uri": null }), "resource:unknown"),
            ("resources/read", json!({}), "resource:unknown"),
            ("tools/call", json!({ "name": ["hunter2"] }), "tool:unknown"),
            ("tools/call", json!({ "name": "hunter2", "arguments": "hunter2" }), "tool:unknown"),
            ("tools/call", json!({ "name": "server_info", "arguments": [] }), "server_info"),
            ("completion/complete", json!({ "ref": { "type": "ref/moon" } }), "complete:unknown"),
        ];
        for (method, params, _) in &recorded {
            let (code, message) = agent.rejected(method, params.clone());
            assert_eq!(code, -32602, "{method} {params}: {message}");
            let start = format!("the parameters of {method} are not valid: ");
            assert!(message.starts_with(&start), "{message}");
        }
        let log = house.read("audit.jsonl");
        assert!(!log.contains("hunter2"), "{log}");
        let records: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let found: Vec<_> = records.iter().map(|record| record["tool"].as_str().unwrap()).collect();
        let expected: Vec<_> = recorded.iter().map(|(_, _, label)| *label).collect();
        assert_eq!(found, expected, "{protocol:?}");
        assert!(records.iter().all(|record| record["denied"] == true), "{log}");
        assert_ended_well(&agent.client.end());
    }
}

#[test]
fn a_line_over_the_limit_is_answered_with_the_limit() {
    let house = House::new();
    house.write("server.toml", "[limits]\nline-bytes-max = 10000\n");
    let mut client = Client::start(&house, &["--config", "server.toml"]);
    // Also before the first request.
    for number in [99, 98] {
        let text = "x".repeat(1_000_000);
        let long = json!({
            "jsonrpc": "2.0", "id": number, "method": "prompts/get",
            "params": { "name": "note", "arguments": { "arguments": text } },
        });
        client.send(&long);
        let answer = client.answer(number);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        let reason = "the line is over the limit of 10000 bytes (limits.line-bytes-max): send less";
        assert_eq!(answer["error"]["message"], reason);
        if number == 99 {
            client.initialize("2025-11-25");
        }
    }
    client.write(&[&[b'x'; 20_000][..], b"\n"].concat());
    let answer = client.next_message().expect("an answer");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
    assert_well(&mut client);
}

#[test]
fn messages_before_the_first_request_do_not_end_the_server() {
    let house = House::new();
    let mut client = Client::start(&house, &[]);
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "unknown/of/some/editor" }),
        json!({ "jsonrpc": "2.0", "id": 5, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 5, "error": { "code": 1, "message": "x" } }),
    ] {
        client.send(&message);
    }
    client.initialize("2025-11-25");
    assert_well(&mut client);
}

#[test]
fn a_last_line_without_an_end_is_answered() {
    let house = House::new();
    let note = |id: u64| {
        let params = modern(json!({ "name": "note", "arguments": { "arguments": "last" } }));
        json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": params }).to_string()
    };
    for before in [String::new(), note(1) + "\n"] {
        let mut client = Client::start(&house, &[]);
        client.write((before + &note(2)).as_bytes());
        client.close();
        let answer = client.answer(2);
        assert_eq!(answer["result"]["messages"][0]["content"]["text"], "Note: last", "{answer}");
        assert_ended_well(&client.end());
    }
}

#[test]
fn two_requests_of_one_id_are_not_both_in_flight() {
    let house = gate::house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, &["--audit", "audit.jsonl"]);
        let handle = agent.begin(&["vpn"]);
        long_audit(&house);
        let arguments = json!({ "briefing": handle, "tool": "y" });
        let answers = agent.twice_with_one_id("audit_tail", arguments);
        let is_error = |answer: &&Value| answer["error"]["code"] == -32600;
        let refused = answers.iter().find(is_error).expect("one is rejected");
        assert!(refused["id"].is_null(), "{refused}");
        let served = answers.iter().find(|answer| !is_error(answer)).expect("one is served");
        assert_eq!(served["result"]["isError"], false, "{served}");
        // The id can be used again.
        agent.twice_with_one_id("audit_tail", json!({ "briefing": handle }));
    }
}

/// Requests with ids from 1, each with a page of a long list as its answer.
fn lists(count: u64) -> Vec<u8> {
    let list = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/list", "params": modern(json!({})) });
    (1..=count).map(|id| format!("{}\n", list(id))).collect::<String>().into_bytes()
}

/// A server with a long list whose client sends these requests and leaves the answers unread. The
/// client has one end of the input, and the thread that sends another.
fn unread(count: u64) -> (Process, ChildStdin, JoinHandle<()>) {
    let house = House::of(&house::bundle_of(&house::many(100)));
    house.write("server.toml", "[limits]\ndrain-s-max = 1\n");
    let mut server = Process::start(command(&house, &["--stdio", "--config", "server.toml"]));
    server.keep(house.folder());
    let to = server.stdin().expect("a pipe");
    let mut again = to.as_fd().try_clone_to_owned().map(File::from).expect("a second end");
    let sending = thread::spawn(move || _ = again.write_all(&lists(count)));
    server.hear("the client does not read its answers");
    (server, to, sending)
}

#[test]
fn requests_wait_for_a_client_that_does_not_read_and_memory_does_not_grow() {
    const COUNT: u64 = 5000;
    let (mut server, to, sending) = unread(COUNT);
    let mut from = BufReader::new(server.stdout()).lines();
    let answers = from.by_ref().take(COUNT as usize).map(|line| {
        let answer: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        answer["id"].as_u64().expect("an answer")
    });
    let ids: BTreeSet<u64> = answers.collect();
    assert!(ids.into_iter().eq(1..=COUNT), "each is answered once");
    // All answers together are about 50 MB, and more in memory.
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kilobytes < 50_000, "{kilobytes} kB");
    sending.join().expect("all was sent");
    drop(to);
    assert!(from.next().is_none());
    assert_ended_well(&server.wait());
}

#[test]
fn a_signal_ends_a_server_whose_client_does_not_read() {
    for signal in ["TERM", "INT"] {
        let (mut server, _to, _sending) = unread(3000);
        server.signal(signal);
        assert_ended_well(&server.wait());
    }
}

#[test]
fn the_end_of_input_ends_a_server_whose_client_does_not_read() {
    // The unread part fits in the pipe.
    let (mut server, to, sending) = unread(200);
    sending.join().expect("all was sent");
    drop(to);
    assert_ended_well(&server.wait());
}

#[test]
fn before_the_first_request_the_end_of_input_ends_a_server_whose_client_does_not_read() {
    let house = House::new();
    house.write("server.toml", "[limits]\ndrain-s-max = 1\n");
    let mut server = Process::start(command(&house, &["--stdio", "--config", "server.toml"]));
    let mut to = server.stdin().expect("a pipe");
    let discover = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "server/discover", "params": modern(json!({})) });
    // Their answers overflow the pipe.
    let requests = (0..300).map(|id| format!("{}\n", discover(id))).collect::<String>();
    to.write_all(requests.as_bytes()).expect("the pipe takes what is not read");
    drop(to);
    assert_ended_well(&server.wait());
}

#[test]
fn the_end_of_input_in_a_request_ends_the_server() {
    let house = House::new();
    let halves: [&[u8]; 3] = [b"", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", b"\xc3"];
    for half in halves {
        let mut fresh = Client::start(&house, &[]);
        fresh.write(half);
        assert_ended_well(&fresh.end());
        let mut begun = Client::legacy(&house, &[]);
        begun.write(half);
        assert_ended_well(&begun.end());
    }
}

#[test]
fn a_thousand_requests_at_once_are_all_answered() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    let ids: Vec<u64> = (0..1000)
        .map(|number| {
            let arguments = json!({ "arguments": number.to_string() });
            client.request("prompts/get", json!({ "name": "note", "arguments": arguments }))
        })
        .collect();
    let mut answered: Vec<(u64, String)> = ids
        .iter()
        .map(|_| {
            let answer = client.next_message().expect("an answer");
            let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap();
            (answer["id"].as_u64().unwrap(), text.to_owned())
        })
        .collect();
    answered.sort();
    let expected = ids.iter().enumerate().map(|(number, id)| (*id, format!("Note: {number}")));
    assert_eq!(answered, expected.collect::<Vec<_>>());
    assert_well(&mut client);
}

#[test]
fn requests_followed_by_the_end_are_answered() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    let ids: Vec<u64> =
        (0..100).map(|_| client.request("prompts/get", json!({ "name": "note" }))).collect();
    client.close();
    let mut answered = 0;
    while let Some(message) = client.next_message() {
        assert!(message["error"].is_null(), "{message}");
        answered += 1;
    }
    assert_eq!(answered, ids.len());
    assert_ended_well(&client.end());
}

#[test]
fn a_signal_ends_it_while_a_client_is_connected() {
    let house = House::new();
    for signal in ["TERM", "INT"] {
        let mut client = Client::legacy(&house, &[]);
        client.note("x");
        client.server.signal(signal);
        assert_ended_well(&client.server.wait());
        assert_eq!(client.next_message(), None);
    }
}

#[test]
fn an_open_stream_of_changes_does_not_keep_the_server_running() {
    let house = House::new();
    let mut client = Client::start(&house, &[]);
    let wanted = json!({ "notifications": { "promptsListChanged": true } });
    client.request("subscriptions/listen", modern(wanted));
    assert_eq!(client.notified()["method"], "notifications/subscriptions/acknowledged");
    assert_ended_well(&client.end());
}

#[test]
fn two_servers_start_on_one_bundle_and_one_state_folder() {
    let house = House::new();
    for _ in 0..3 {
        let start = || Client::start(&house, &["--state", "state", "--audit", "audit.jsonl"]);
        let mut clients = [start(), start(), start()];
        for client in &mut clients {
            client.initialize("2025-11-25");
            assert_eq!(client.note("x"), "Note: x");
        }
        for client in &mut clients {
            assert_ended_well(&client.end());
        }
    }
    let copies = std::fs::read_dir(house.path("state/bundles")).unwrap().flatten();
    let names: Vec<_> = copies.map(|copy| copy.file_name().into_string().unwrap()).collect();
    assert!(names.len() == 1 && names[0].ends_with(".relay"), "{names:?}");
}

#[test]
fn requests_may_come_from_a_file() {
    let house = House::new();
    let get = json!({
        "jsonrpc": "2.0", "id": 1, "method": "prompts/get",
        "params": modern(json!({ "name": "note", "arguments": { "arguments": "x" } })),
    });
    house.write("requests.jsonl", format!("{get}\n"));
    let mut command = command(&house, &["--stdio"]);
    command.stdin(File::open(house.path("requests.jsonl")).unwrap());
    let mut client = Client::run(command);
    let answer = client.next_message().expect("an answer");
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], "Note: x", "{answer}");
    assert_ended_well(&client.server.wait());
}

#[test]
fn without_any_input_it_ends() {
    let house = House::new();
    let mut command = command(&house, &["--stdio"]);
    command.stdin(Stdio::null());
    assert_ended_well(&Client::run(command).server.wait());
}

#[test]
fn a_client_that_does_not_read_does_not_keep_the_server_running() {
    let house = House::new();
    let mut command = command(&house, &["--stdio"]);
    command.stdout(Stdio::piped());
    let mut server = Process::start(command);
    // Answers stay unread, so that the pipe fills up.
    let list = json!({
        "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": modern(json!({})),
    });
    server.write_unread(format!("{list}\n").repeat(1000).into_bytes());
    server.signal("TERM");
    assert_ended_well(&server.wait());
}
