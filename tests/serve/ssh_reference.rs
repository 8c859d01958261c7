//! The rows of the tool reference about other hosts: arguments, defaults, ranges, tiers and texts.

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS};
use super::house;
use super::ssh::{house_of, house_with, last, web};
use super::ssh_server::Host;
use super::tool_reference::{
    AS_OPERATOR, Listed, MAX_OUTPUT, REQUIRED, TIMEOUT, assert_schema, operator, said,
};

const HOST: [&str; 4] = ["host", "string", REQUIRED, ""];
const USER: [&str; 4] = ["user", "string", "\"\"", ""];
const PORT: [&str; 4] = ["port", "integer", "0", "0 to 65535"];
const KEY_PATH: [&str; 4] = ["key_path", "string", "\"\"", ""];
const KNOWN_HOSTS: [&str; 4] = ["known_hosts", "string", "\"\"", ""];
const JUMP: [&str; 4] = ["jump", "string", "\"\"", ""];
const HOSTS: [&str; 4] = ["hosts", "string", "\"\"", ""];
const LOCAL: [&str; 4] = ["local_path", "string", REQUIRED, ""];
const REMOTE: [&str; 4] = ["remote_path", "string", REQUIRED, ""];
const RECURSIVE: [&str; 4] = ["recursive", "boolean", "false", ""];

const LISTED: &[Listed] = &[
    (
        "ssh_exec",
        false,
        &[
            HOST,
            ["command", "string", REQUIRED, ""],
            TIMEOUT,
            MAX_OUTPUT,
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
    ),
    (
        "ssh_spawn",
        false,
        &[
            HOST,
            ["command", "string", "\"\"", ""],
            ["cols", "integer", "120", "1 to 65535"],
            ["rows", "integer", "40", "1 to 65535"],
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
    ),
    (
        "ssh_upload",
        false,
        &[HOST, LOCAL, REMOTE, RECURSIVE, TIMEOUT, USER, PORT, KEY_PATH, KNOWN_HOSTS, JUMP],
    ),
    (
        "ssh_download",
        false,
        &[HOST, REMOTE, LOCAL, RECURSIVE, TIMEOUT, USER, PORT, KEY_PATH, KNOWN_HOSTS, JUMP],
    ),
    (
        "ssh_forward",
        false,
        &[HOST, ["spec", "string", REQUIRED, ""], USER, PORT, KEY_PATH, KNOWN_HOSTS, JUMP],
    ),
    ("ssh_forward_list", true, &[]),
    ("ssh_forward_close", false, &[["forward_id", "string", REQUIRED, ""]]),
    ("ssh_check", true, &[HOSTS, ["timeout", "integer", "5", "1 to 60"]]),
    (
        "ssh_fanout",
        false,
        &[
            ["command", "string", REQUIRED, ""],
            HOSTS,
            ["timeout", "integer", "30", "1 to 900"],
            ["concurrency", "integer", "8", "1 to 32"],
        ],
    ),
    (
        "ssh_keyscan",
        false,
        &[
            ["hosts", "string", REQUIRED, ""],
            PORT,
            ["key_types", "string", "\"rsa,ecdsa,ed25519\"", ""],
            ["timeout", "integer", "10", "1 to 60"],
        ],
    ),
    ("ssh_hosts", true, &[]),
];

#[test]
fn the_tools_are_listed_with_their_arguments_defaults_and_ranges() {
    for protocol in PROTOCOLS {
        let house = house_of("open", "", "");
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        let list = agent.get("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools");
        let about_hosts =
            tools.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("ssh_"));
        let about_hosts: Vec<&Value> = about_hosts.collect();
        let names: Vec<&str> = about_hosts.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, LISTED.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
        for (tool, (name, reads, arguments)) in about_hosts.into_iter().zip(LISTED) {
            assert_eq!(tool["annotations"]["readOnlyHint"], *reads, "{name}");
            assert_schema(name, &tool["inputSchema"], arguments);
        }
    }
}

/// `ssh_spawn` is driven by the tools of sessions, so it comes with them.
#[test]
fn sessions_on_hosts_are_offered_with_the_tools_that_drive_them() {
    for (tools, is_offered) in [("ssh", false), ("sessions", false), ("ssh; sessions", true)] {
        let project = format!("project p epoch=1\ntools {{ {tools} }}\npolicy open\n");
        let house = house::House::of(&house::bundle_of(&project));
        let names = Agent::with(&house, PROTOCOLS[0], &[]).tools();
        assert_eq!(names.iter().any(|name| name == "ssh_spawn"), is_offered, "{tools}");
    }
}

/// The tiers of the tools themselves, as the record of a call has them.
#[test]
fn each_tool_has_its_tier() {
    let host = Host::start();
    let house = house_with(&host, "");
    house.write("file", "x");
    let path = |name: &str| house.path(name).display().to_string();
    let (up, down) = (path("up"), path("down"));
    let mut agent = operator(&house);
    let transfer = |remote: &str, local: &str| json!({ "host": "web", "remote_path": remote, "local_path": local });
    for (tool, arguments, tier) in [
        ("ssh_exec", json!({ "host": "web", "command": "ls" }), 0),
        ("ssh_exec", json!({ "host": "web", "command": "systemctl restart x" }), 2),
        ("ssh_exec", json!({ "host": "web", "command": "rm -rf /srv/x" }), 3),
        ("ssh_spawn", json!({ "host": "web" }), 1),
        ("ssh_upload", transfer(&up, &path("file")), 2),
        ("ssh_download", transfer(&path("file"), &down), 2),
        ("ssh_forward", json!({ "host": "web", "spec": "L:0:localhost:1" }), 2),
        ("ssh_forward_list", json!({}), 0),
        ("ssh_forward_close", json!({ "forward_id": "fwd-0" }), 1),
        ("ssh_check", json!({}), 0),
        ("ssh_check", json!({ "hosts": "elsewhere" }), 1),
        ("ssh_fanout", json!({ "command": "ls" }), 0),
        ("ssh_fanout", json!({ "command": "systemctl restart nginx" }), 2),
        ("ssh_keyscan", json!({ "hosts": "web" }), 1),
        ("ssh_hosts", json!({}), 0),
    ] {
        said(&mut agent, tool, arguments.clone());
        let record = last(&house);
        assert!(record["tier"].as_u64() >= Some(tier), "{tool} {arguments}: {record}");
        let is_exact = !matches!(
            tool,
            "ssh_spawn" | "ssh_check" | "ssh_upload" | "ssh_download" | "ssh_forward"
        );
        assert!(!is_exact || record["tier"] == tier, "{tool} {arguments}: {record}");
    }
}

#[test]
fn a_number_out_of_range_is_the_nearest_one() {
    let host = Host::start();
    let house = house_with(&host, "limits fanout=3 fanout-hosts=2");
    let mut agent = operator(&house);
    let mut fanout = |more: Value| -> Value {
        let mut arguments = json!({ "command": "true", "hosts": "web" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_str(&said(&mut agent, "ssh_fanout", arguments)).expect("JSON")
    };
    for (given, concurrency) in
        [(Value::Null, 3), (json!(0), 1), (json!(-4), 1), (json!(33), 32), (json!(1e9), 32)]
    {
        assert_eq!(fanout(json!({ "concurrency": given }))["concurrency"], concurrency, "{given}");
    }
    for (given, timeout) in
        [(Value::Null, 30), (json!(0), 30), (json!(-1), 1), (json!(100_000), 900)]
    {
        assert_eq!(fanout(json!({ "timeout": given }))["timeout"], timeout, "{given}");
    }
    let answer = said(&mut agent, "ssh_fanout", json!({ "command": "true", "hosts": "a b c" }));
    assert!(answer.starts_with("[DENIED"), "hosts outside are refused first: {answer}");
    let hosts = format!("hosts outside=permit {{ groups edge; {} }}", web(&host, &host.pin()));
    let house = house_of("open", &hosts, "limits fanout-hosts=2");
    let mut agent = operator(&house);
    for tool in ["ssh_fanout", "ssh_check"] {
        let answer = said(
            &mut agent,
            tool,
            json!({ "command": "true", "hosts": "a b c" })
                .as_object()
                .map(|all| {
                    let mut all = all.clone();
                    if tool == "ssh_check" {
                        all.remove("command");
                    }
                    Value::Object(all)
                })
                .unwrap(),
        );
        assert_eq!(answer, "[ERROR: a call takes 2 hosts at most, and these are 3]", "{tool}");
    }
    let many: Vec<String> = (0..33).map(|number| format!("h{number}")).collect();
    let answer = said(&mut agent, "ssh_keyscan", json!({ "hosts": many.join(",") }));
    assert_eq!(answer, "[ERROR: a call takes 32 hosts at most, and these are 33]");
}

#[test]
fn a_call_that_cannot_run_says_why_in_brackets() {
    let host = Host::start();
    let hosts = format!("hosts outside=permit {{ groups edge; {} }}", web(&host, &host.pin()));
    let house = house_of("open", &hosts, "");
    let mut agent = operator(&house);
    let exec = |more: Value| {
        let mut arguments = json!({ "host": "web", "command": "true" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("ssh_exec", arguments)
    };
    let no_host = "this is not the name of a host: write an alias of ssh_hosts, or USER@HOST; the port is `port`";
    let kinds = "`key_types` takes rsa, ecdsa and ed25519, separated by commas";
    let file = json!({ "host": "web", "remote_path": "x", "local_path": "x" });
    for ((tool, arguments), text) in [
        (("ssh_exec", json!({ "command": "true" })), "`host` is required: a string"),
        (("ssh_exec", json!({ "host": "web" })), "`command` is required: a string"),
        (exec(json!({ "port": "22" })), "`port` must be a whole number"),
        (exec(json!({ "host": "" })), no_host),
        (exec(json!({ "host": "-oProxyCommand=x" })), no_host),
        (exec(json!({ "host": "a b" })), no_host),
        (exec(json!({ "host": "web:22" })), no_host),
        (
            exec(json!({ "user": "-l" })),
            "this is not the name of a user: write letters, digits, `-`, `_` and `.`",
        ),
        (exec(json!({ "user": "root" })), "the user of `web` is set: leave `user` out"),
        (exec(json!({ "port": 1 })), "the port of `web` is set: leave `port` out"),
        (
            exec(json!({ "known_hosts": "no" })),
            "`known_hosts` is one of strict, accept-new and ignore",
        ),
        (
            exec(json!({ "known_hosts": "ignore" })),
            "the project asks for `strict` as the check of this host's key, and a call may ask only for a stricter one",
        ),
        (("ssh_upload", file.clone()), "`local_path` is not absolute: begin it with `/`"),
        (("ssh_download", file), "`local_path` is not absolute: begin it with `/`"),
        (
            ("ssh_forward", json!({ "host": "web", "spec": "L" })),
            "`spec` is L:PORT:HOST:PORT, R:PORT:HOST:PORT or D:PORT, with an IPv6 address in brackets",
        ),
        (
            ("ssh_forward_close", json!({ "forward_id": "x" })),
            "unknown forward: x; ssh_forward_list names yours",
        ),
        (("ssh_keyscan", json!({ "hosts": " , " })), "`hosts` names no host"),
        (("ssh_keyscan", json!({ "hosts": "web", "key_types": "dsa" })), kinds),
        (("ssh_hosts", json!({ "x": 1 })), "unknown argument `x`; it takes: briefing"),
    ] {
        let answer = said(&mut agent, tool, arguments.clone());
        assert_eq!(answer, format!("[ERROR: {text}]"), "{tool} {arguments}");
    }
    assert_eq!(host.logins(), 0);
    let house = house_of("open", "", "");
    let mut agent = operator(&house);
    for tool in ["ssh_check", "ssh_fanout"] {
        let arguments = if tool == "ssh_check" { json!({}) } else { json!({ "command": "true" }) };
        assert_eq!(said(&mut agent, tool, arguments), "[no hosts configured; pass hosts]");
    }
    assert_eq!(said(&mut agent, "ssh_hosts", json!({})), "[no hosts configured]");
}
