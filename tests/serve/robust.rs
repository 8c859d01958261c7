//! With any input: no panic, no hang, and an orderly end.

use std::fs::File;
use std::process::Stdio;

use harness::{Ended, Process};
use serde_json::json;

use super::house::House;
use super::server::{Client, command, modern};

/// What a server that is still well does.
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
fn garbage_between_requests_is_skipped() {
    let deep = [vec![b'['; 100_000], vec![b'\n']].concat();
    let deep_object = [br#"{"a":"#.repeat(100_000), b"\n".to_vec()].concat();
    let garbage: [&[u8]; 9] = [
        b"\n\n\r\n",
        b"hello\n",
        b"{\n",
        b"\xff\xfe\x00\x80\n",
        b"\"\xc3\x28\"\n",
        b"\x00\x00\x00\n",
        &deep,
        &deep_object,
        b"\xef\xbb\xbf\n",
    ];
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    for bytes in garbage {
        client.write(bytes);
    }
    assert_well(&mut client);
}

#[test]
fn garbage_before_the_first_request_is_skipped() {
    let house = House::new();
    let mut client = Client::start(&house, &[]);
    client.write(b"hello\n\xff\xff\n{\n");
    client.initialize("2025-11-25");
    assert_well(&mut client);
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
fn wrong_parameters_are_answered_with_an_error() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    for (method, params) in [
        ("prompts/get", json!({})),
        ("prompts/get", json!({ "name": 7 })),
        ("prompts/get", json!({ "name": "note", "arguments": [] })),
        ("resources/read", json!({ "uri": null })),
        ("completion/complete", json!({ "ref": { "type": "ref/moon" } })),
    ] {
        let answer = client.ask(method, params.clone());
        let code = answer["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32602..=-32600)), "{method} {params}: {answer}");
    }
    assert_well(&mut client);
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    let house = House::new();
    house.write("server.toml", "[limits]\nline-bytes-max = 10000\n");
    let mut client = Client::legacy(&house, &["--config", "server.toml"]);
    let long = json!({
        "jsonrpc": "2.0", "id": 99, "method": "prompts/get",
        "params": { "name": "note", "arguments": { "arguments": "x".repeat(1_000_000) } },
    });
    client.send(&long);
    assert_well(&mut client);
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
    // No one reads what is answered, so that the pipe fills up.
    let list = json!({
        "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": modern(json!({})),
    });
    server.write_unread(format!("{list}\n").repeat(1000).into_bytes());
    server.signal("TERM");
    assert_ended_well(&server.wait());
}
