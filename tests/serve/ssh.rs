//! The `ssh_` tools on a real server, with a host in the test process: answers, host keys, and the rules
//! about hosts, commands and files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use relay_engine::tool::Group;
use relay_machine::load::{Loader, Sources};
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol};
use super::house::{self, House};
use super::server::wait_until;
use super::ssh_server::{Host, USER, other_pin};
use super::tool_reference::{AS_OPERATOR, operator, said};

/// A project in this mode with these hosts, and these lines in its policy.
pub(super) fn house_of(mode: &str, hosts: &str, lines: &str) -> House {
    House::of(&house::bundle_of(&format!(
        "project fleet epoch=1\ntools {{ ssh; sessions; diagnostics }}\n\
         roles {{ role operator tier=3 }}\nusers {{ user op role=operator }}\n\
         {hosts}\npolicy {mode} {{ {lines} }}\n"
    )))
}

/// The node of a host named `web`.
pub(super) fn web(host: &Host, pin: &str) -> String {
    let address = host.address();
    format!(
        "host web address=\"{}\" port={} user={USER} {{ groups edge; pin \"{pin}\" }}",
        address.ip(),
        address.port()
    )
}

/// A house in open mode whose project knows the host as `web`, with these lines in its policy.
pub(super) fn house_with(host: &Host, lines: &str) -> House {
    let web = web(host, &host.pin());
    let house = house_of("open", &format!("hosts {{ groups edge; {web} }}"), lines);
    host.admit(&house);
    house
}

fn exec(agent: &mut Agent, host: &str, command: &str) -> String {
    said(agent, "ssh_exec", json!({ "host": host, "command": command }))
}

/// The last record of a house.
pub(super) fn last(house: &House) -> Value {
    let records = house.read("audit.jsonl");
    serde_json::from_str(records.lines().next_back().expect("a record")).expect("JSON")
}

#[test]
fn a_command_returns_its_exit_and_output() {
    let host = Host::start();
    for protocol in PROTOCOLS {
        let house = house_with(&host, "");
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        assert_eq!(exec(&mut agent, "web", "printf a; exit 3"), "[exit 3]\na");
        let record = last(&house);
        assert_eq!(record["tool"], "ssh_exec", "{record}");
        assert_eq!((&record["exit_code"], &record["args"]["host"]), (&json!(3), &json!("web")));
    }
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let mut run = |command: &str| exec(&mut agent, "web", command);
    assert_eq!(run("echo err >&2"), "[exit 0]\nerr\n");
    assert_eq!(run("kill -KILL $$"), "[exit -9]\n");
    assert_eq!(run("cat"), "[exit 0]\n", "the input is empty");
    let lost = run("fault:disconnect");
    assert!(lost.contains("its outcome is unknown"), "{lost}");
    assert!(lost.contains("may still run"), "{lost}");
    assert_eq!(run("true"), "[exit 0]\n", "the next call connects again");
    let no_status = run("fault:no-status");
    assert!(no_status.contains("outcome is unknown") && no_status.contains("out"), "{no_status}");
    let refused = run("fault:refuse");
    assert!(refused.contains("the host refuses to run commands"), "{refused}");
}

#[test]
fn a_command_keeps_its_limits() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let mut run = |command: &str, more: Value| {
        let mut arguments = more.as_object().cloned().unwrap();
        arguments
            .extend([("host".to_owned(), json!("web")), ("command".to_owned(), command.into())]);
        said(&mut agent, "ssh_exec", Value::Object(arguments))
    };
    let answer = run("printf '%05000d' 0", json!({ "max_output": 1024 }));
    assert!(answer.ends_with("\n\n[TRUNCATED - 5000 bytes total, 1024 shown]"), "{answer}");
    let answer = run("echo begun; sleep 60", json!({ "timeout": 1 }));
    assert_eq!(answer, "[TIMEOUT after 1s]\nbegun\n", "the host ended it");
    assert_eq!(last(&house)["action"], "timed_out");
    let deaf = Host::with(|settings| settings.deaf = true);
    let house = house_with(&deaf, "");
    let mut agent = operator(&house);
    let arguments = json!({ "host": "web", "command": "sleep 60", "timeout": 1 });
    let answer = said(&mut agent, "ssh_exec", arguments);
    assert!(answer.starts_with("[TIMEOUT after 1s] It may still run on the host"), "{answer}");
}

#[test]
fn one_connection_serves_many_calls() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    for _ in 0..5 {
        assert_eq!(exec(&mut agent, "web", "true"), "[exit 0]\n");
    }
    assert_eq!(host.logins(), 1);
}

/// Calls each tool about a host, and returns the answers.
fn about(agent: &mut Agent, name: &str) -> Vec<String> {
    let down = json!({ "host": name, "remote_path": "/etc/hostname", "local_path": "/nowhere/x" });
    let up = json!({ "host": name, "remote_path": "/nowhere/x", "local_path": "/etc/hostname" });
    [
        ("ssh_exec", json!({ "host": name, "command": "true" })),
        ("ssh_check", json!({ "hosts": name })),
        ("ssh_fanout", json!({ "hosts": name, "command": "true" })),
        ("ssh_keyscan", json!({ "hosts": name })),
        ("ssh_download", down),
        ("ssh_upload", up),
    ]
    .into_iter()
    .map(|(tool, arguments)| said(agent, tool, arguments))
    .collect()
}

#[test]
fn a_denied_host_is_out_of_reach_by_each_of_its_names() {
    let host = Host::start();
    // Others are permitted, so that the rule alone denies.
    let hosts = format!(
        "hosts outside=permit {{ groups edge; {}; host db address=\"127.0.0.3\" port=1 }}",
        web(&host, &host.pin())
    );
    let lines = "deny edge-is-closed because=\"NET-4\" { host web }";
    let house = house_of("open", &hosts, lines);
    host.admit(&house);
    let mut agent = operator(&house);
    let names = [
        "web",
        "WEB",
        "web.",
        "tester@web",
        "a@b@web",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "tester@127.0.0.1",
        "::ffff:127.0.0.1",
        "[::ffff:7f00:1]",
        "ssh://tester@web",
        "web:22",
        "web/",
        "db,web",
        "db @web",
        "db\t@127.0.0.1",
        "@web",
        "db@web@web",
        "db/@web",
        "ssh://db/://@web",
        "db:22/x@web",
        "ssh://db:22/@127.1",
    ];
    for name in names {
        for answer in about(&mut agent, name) {
            assert!(answer.starts_with("[DENIED") && answer.contains("NET-4"), "{name}: {answer}");
        }
    }
    // Others are names of no host.
    for name in
        ["we\u{200b}b", "web%", "-web", "127.0.0.1%lo", "web\u{0}", "ｗｅｂ", "localhost/@db"]
    {
        for answer in about(&mut agent, name) {
            let is_refused = answer.starts_with("[DENIED") || answer.contains("not the name of");
            assert!(is_refused, "{name}: {answer}");
        }
    }
    for none in ["", " ", ",, ,"] {
        for (tool, given) in [
            ("ssh_fanout", json!({ "hosts": none, "command": "true" })),
            ("ssh_check", json!({ "hosts": none })),
        ] {
            let all = said(&mut agent, tool, given);
            assert!(all.starts_with("[DENIED"), "a fleet is each of its hosts: {all}");
        }
        let scanned = said(&mut agent, "ssh_keyscan", json!({ "hosts": none }));
        assert_eq!(scanned, "[ERROR: `hosts` names no host]");
    }
    let through = json!({ "host": "db", "command": "true", "jump": "web" });
    assert!(said(&mut agent, "ssh_exec", through).starts_with("[DENIED"));
    assert_eq!(host.logins(), 0, "no connection was made");
    assert_eq!(host.commands(), [] as [&str; 0]);
}

#[test]
fn a_host_outside_the_project_is_refused() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let refused = "it names a host that the project does not list";
    for name in ["other.example", "127.0.0.2", "localhost", "tester@localhost"] {
        let answer = exec(&mut agent, name, "true");
        assert!(answer.starts_with("[DENIED tier 0") && answer.contains(refused), "{answer}");
    }
    let through = json!({ "host": "web", "command": "true", "jump": "other.example" });
    let answer = said(&mut agent, "ssh_exec", through);
    assert!(answer.contains(refused), "{answer}");
    assert_eq!(host.logins(), 0);
    let web = web(&host, &host.pin());
    let open = house_of("open", &format!("hosts outside=permit {{ groups edge; {web} }}"), "");
    host.admit(&open);
    let mut agent = operator(&open);
    let port = host.address().port();
    let elsewhere = json!({ "host": "localhost", "command": "true", "port": port, "user": USER });
    let answer = said(&mut agent, "ssh_exec", elsewhere);
    assert!(answer.contains("localhost") && answer.contains("known"), "no key is known: {answer}");
}

#[test]
fn a_host_proves_itself_before_anything_is_sent() {
    let host = Host::start();
    let pinned = web(&host, &other_pin());
    let house = house_of("open", &format!("hosts {{ groups edge; {pinned} }}"), "");
    host.admit(&house);
    let mut agent = operator(&house);
    let answer = exec(&mut agent, "web", "true");
    assert!(answer.starts_with("[ERROR: ") && answer.contains("key"), "{answer}");
    let weaker = json!({ "host": "web", "command": "true", "known_hosts": "ignore" });
    let answer = said(&mut agent, "ssh_exec", weaker);
    assert!(answer.contains("a call may ask only for a stricter one"), "{answer}");
    assert_eq!((host.logins(), host.commands().len()), (0, 0));
}

#[test]
fn accept_new_learns_a_key_and_refuses_another() {
    let (host, other) = (Host::start(), Host::start());
    let address = host.address();
    let node = |address: std::net::SocketAddr| {
        format!(
            "hosts known-hosts=accept-new {{ host web address=\"127.0.0.1\" port={} user={USER} }}",
            address.port()
        )
    };
    let house = house_of("open", &node(address), "");
    host.admit(&house);
    let mut agent = operator(&house);
    assert_eq!(exec(&mut agent, "web", "true"), "[exit 0]\n");
    let learned = house.read("home/.ssh/known_hosts");
    assert_eq!(learned.trim(), format!("[127.0.0.1]:{} {}", address.port(), host.pin()));
    // Another host answers at the address of the first.
    let changed = learned.replace(&address.port().to_string(), &other.address().port().to_string());
    let house = house_of("open", &node(other.address()), "");
    other.admit(&house);
    fs::write(house.path("home/.ssh/known_hosts"), changed).unwrap();
    let answer = exec(&mut operator(&house), "web", "true");
    assert!(answer.starts_with("[ERROR: ") && answer.contains("known_hosts:1"), "{answer}");
    assert_eq!(other.logins(), 0);
    fs::write(house.path("home/.ssh/known_hosts"), format!("@revoked * {}\n", other.pin()))
        .unwrap();
    let answer = exec(&mut operator(&house), "web", "true");
    assert!(answer.contains("REVOKED by"), "{answer}");
}

#[test]
fn files_go_there_and_come_back() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let at = |name: &str| house.path(name).to_str().unwrap().to_owned();
    house.write("file", "some bytes\n");
    fs::set_permissions(house.path("file"), fs::Permissions::from_mode(0o640)).unwrap();
    let up = json!({ "host": "web", "local_path": at("file"), "remote_path": at("there") });
    let answer = said(&mut agent, "ssh_upload", up);
    assert_eq!(answer, format!("uploaded {} -> web:{} (11 bytes)", at("file"), at("there")));
    let down = json!({ "host": "web", "remote_path": at("there"), "local_path": at("back") });
    let answer = said(&mut agent, "ssh_download", down);
    assert_eq!(answer, format!("downloaded web:{} -> {} (11 bytes)", at("there"), at("back")));
    assert_eq!(house.read("back"), "some bytes\n");
    let mode = fs::metadata(house.path("back")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    fs::create_dir_all(house.path("tree/below")).unwrap();
    house.write("tree/below/one", "1");
    std::os::unix::fs::symlink("/etc/hostname", house.path("tree/link")).unwrap();
    let tree = json!({
        "host": "web", "local_path": at("tree"), "remote_path": at("copy"), "recursive": true
    });
    let answer = said(&mut agent, "ssh_upload", tree);
    let left_out = format!("1 links and special files were left out: {}", at("tree/link"));
    assert!(answer.ends_with(&left_out), "{answer}");
    assert_eq!(house.read("copy/below/one"), "1");
    assert!(!house.path("copy/link").exists());
    house.write("stall", "x");
    let stalled = json!({
        "host": "web", "remote_path": at("stall"), "local_path": at("x"), "timeout": 1
    });
    assert_eq!(said(&mut agent, "ssh_download", stalled), "[TIMEOUT after 1s]");
    assert_eq!(last(&house)["action"], "timed_out");
    std::os::unix::fs::symlink(house.path("tree"), house.path("door")).unwrap();
    for through in ["door/below/one", "door/new", "tree/../file", "new/../../x"] {
        let given = json!({ "host": "web", "local_path": at(through), "remote_path": at("x") });
        for tool in ["ssh_upload", "ssh_download"] {
            let answer = said(&mut agent, tool, given.clone());
            assert!(answer.contains("goes through a link or `..`"), "{through}: {answer}");
        }
    }
    let relative = json!({ "host": "web", "local_path": "file", "remote_path": at("there") });
    let answer = said(&mut agent, "ssh_upload", relative);
    assert!(answer.contains("`local_path` is not absolute"), "{answer}");
}

#[test]
fn rules_see_the_paths_of_both_ends() {
    let host = Host::start();
    let lines = "deny no-keys { reads \"**/.ssh/**\" }; deny no-units { writes \"/etc/**\" }";
    let house = house_with(&host, lines);
    let mut agent = operator(&house);
    let mut upload = |local: &str, remote: &str, recursive: bool| {
        let given = json!({
            "host": "web", "local_path": local, "remote_path": remote, "recursive": recursive
        });
        said(&mut agent, "ssh_upload", given)
    };
    for (local, remote, recursive) in [
        ("/root/.ssh/id_ed25519", "/tmp/x", false),
        ("/root/./.ssh/../.ssh/id_ed25519", "/tmp/x", false),
        ("/root", "/tmp/x", true),
        ("/tmp/x", "/etc/systemd/system/a.service", false),
        ("/tmp/x", "/tmp/../etc/passwd", false),
        ("/tmp/x", "/", true),
    ] {
        let answer = upload(local, remote, recursive);
        assert!(answer.starts_with("[DENIED"), "{local} {remote}: {answer}");
    }
    for remote in [".ssh/authorized_keys", "~/.ssh/id_rsa", "/home/a/.ssh/id_rsa"] {
        let given = json!({ "host": "web", "remote_path": remote, "local_path": "/tmp/x" });
        let answer = said(&mut agent, "ssh_download", given);
        assert!(answer.starts_with("[DENIED"), "{remote}: {answer}");
    }
    assert_eq!(host.logins(), 0);
}

#[test]
fn a_command_is_decided_by_its_text_and_its_host() {
    let host = Host::start();
    let web = web(&host, &host.pin());
    let lines = "allow restart-web { program systemctl; sub restart; host web }";
    let house = house_of("guarded", &format!("hosts {{ groups edge; {web} }}"), lines);
    host.admit(&house);
    let mut agent = operator(&house);
    let answer = exec(&mut agent, "web", "uptime >/dev/null");
    assert_eq!(answer, "[exit 0]\n");
    let answer = exec(&mut agent, "web", "rm -rf /srv/data");
    assert!(answer.starts_with("[DENIED tier 3 (IRREVERSIBLE)"), "{answer}");
    let answer = said(&mut agent, "ssh_fanout", json!({ "command": "rm -rf /srv/data" }));
    assert!(answer.starts_with("[DENIED tier 3 (IRREVERSIBLE)"), "{answer}");
    let answer = exec(&mut agent, "web", "systemctl restart no-such-unit-of-a-test");
    assert!(answer.starts_with("[exit "), "the rule allows it: {answer}");
    assert_eq!(host.commands().len(), 2);
}

#[test]
fn a_fleet_is_probed_and_driven() {
    let (host, gone) = (Host::start(), Host::start());
    let closed = gone.address();
    drop(gone);
    let (web, port) = (web(&host, &host.pin()), closed.port());
    let hosts = format!(
        "hosts {{ groups edge; {web}; \
         host db address=\"127.0.0.1\" port={port} user={USER} {{ pin \"{}\" }} }}",
        other_pin()
    );
    let house = house_of("open", &hosts, "");
    host.admit(&house);
    let mut agent = operator(&house);
    let checked = said(&mut agent, "ssh_check", json!({}));
    let lines: Vec<&str> = checked.lines().collect();
    assert!(lines[0].starts_with("db: UNREACHABLE ("), "{checked}");
    assert_eq!(lines[1..], ["web: ok"]);
    let all = said(&mut agent, "ssh_fanout", json!({ "command": "echo hi; exit 2" }));
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!(all["host_count"], 2, "{all}");
    let [db, web] = all["results"].as_array().unwrap().as_slice() else { panic!("{all}") };
    assert_eq!((&db["host"], &db["exit_code"]), (&json!("db"), &Value::Null), "{all}");
    assert_eq!(
        (&web["host"], &web["exit_code"], &web["output"]),
        (&json!("web"), &json!(2), &json!("[exit 2]\nhi\n"))
    );
    let long =
        json!({ "command": "head -c 90000 /dev/zero | tr '\\0' '\"'", "hosts": "web,web,WEB" });
    let long: Value = serde_json::from_str(&said(&mut agent, "ssh_fanout", long)).expect("JSON");
    let output = long["results"][0]["output"].as_str().expect("an output");
    assert!(output.contains("[TRUNCATED - 90000 bytes total, 4096 shown]"), "{long}");
    let twice = json!({ "command": "true", "hosts": "web,127.0.0.1,WEB" });
    let twice: Value = serde_json::from_str(&said(&mut agent, "ssh_fanout", twice)).expect("JSON");
    let outputs: Vec<_> =
        twice["results"].as_array().unwrap().iter().map(|it| &it["output"]).collect();
    assert_eq!(outputs[2], "[ERROR: this is the same host as `web`, where it was done]", "{twice}");
    let listed = said(&mut agent, "ssh_hosts", json!({}));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed[1]["name"], "web");
    assert_eq!(listed[1]["groups"], json!(["edge"]));
    let port = host.address().port();
    let keys = said(&mut agent, "ssh_keyscan", json!({ "hosts": "web" }));
    let line = format!("[127.0.0.1]:{port} {}", host.pin());
    assert!(keys.lines().any(|found| found == line), "{keys}");
    assert!(keys.starts_with("# web SHA256:"), "{keys}");
}

/// Without `hosts` any host may be named; its key must be known all the same.
#[test]
fn a_project_without_hosts_may_name_any() {
    let host = Host::start();
    let house = house_of("open", "", "");
    host.admit(&house);
    let mut agent = Agent::with(&house, Protocol::Modern, AS_OPERATOR);
    let port = host.address().port();
    let given = json!({
        "host": "tester@127.0.0.1", "command": "true", "port": port, "known_hosts": "strict"
    });
    let answer = said(&mut agent, "ssh_exec", given);
    assert!(answer.starts_with("[ERROR: ") && answer.contains("known"), "{answer}");
    let given = json!({ "host": "tester@127.0.0.1", "command": "true", "port": port });
    assert_eq!(said(&mut agent, "ssh_exec", given), "[exit 0]\n", "accept-new is the default");
    let given = json!({ "host": "-oProxyCommand=x", "command": "true" });
    let answer = said(&mut agent, "ssh_exec", given);
    assert!(answer.contains("this is not the name of a host"), "{answer}");
}

#[test]
fn a_new_bundle_ends_the_connections_that_it_would_not_begin() {
    let host = Host::start();
    let (port, pin) = (host.address().port(), host.pin());
    let project = |epoch: u32, hosts: &str, tools: &str| {
        house::bundle_of(&format!(
            "project fleet epoch={epoch}\ntools {{ {tools}; diagnostics }}\n\
             roles {{ role operator tier=3 }}\nusers {{ user op role=operator }}\n\
             hosts {{ {hosts} }}\npolicy open\n"
        ))
    };
    let web = format!("host web address=\"127.0.0.1\" port={port} user={USER} {{ pin \"{pin}\" }}");
    let db = "host db address=\"10.0.0.1\"";
    let both = format!("{web}; {db}");
    let house = House::of(&project(1, &web, "ssh"));
    host.admit(&house);
    let mut agent = operator(&house);
    let mut epoch = 1;
    let mut replace = |agent: &mut Agent, hosts: &str, tools: &str| {
        assert_eq!(exec(agent, "web", "true"), "[exit 0]\n");
        assert_eq!(host.open_connections(), 1);
        epoch += 1;
        let bundle = project(epoch, hosts, tools);
        house.replace(&bundle);
        let reloads = epoch as usize - 1;
        wait_until(|| house.read("audit.jsonl").matches("\"bundle:reload\"").count() == reloads);
    };
    // The way to the host is the same.
    replace(&mut agent, &both, "ssh");
    assert_eq!((host.open_connections(), host.logins()), (1, 1));
    let ended = |count: usize| {
        wait_until(|| host.open_connections() == 0);
        wait_until(|| house.read("audit.jsonl").matches("\"connection:ended\"").count() == count);
    };
    replace(&mut agent, db, "ssh");
    ended(1);
    let answer = exec(&mut agent, "web", "true");
    assert!(answer.starts_with("[DENIED"), "{answer}");
}

#[test]
fn a_build_without_ssh_refuses_a_bundle_that_needs_it() {
    let house = house_of("open", "", "");
    let sources = |lacks| Sources {
        bundle: house.path("house.relay"),
        trust: Some(house.path("trust.toml")),
        bytes_max: 1 << 20,
        dev_key: None,
        state: None,
        cache: None,
        read_bytes_max: 1 << 20,
        remembers_time: false,
        lacks,
    };
    let load = |lacks| Loader::new(sources(lacks)).unwrap().load().map(|_| ());
    let error = load(&[(Group::Ssh, "ssh")]).expect_err("it is refused").to_string();
    assert!(error.contains("it offers `ssh_"), "{error}");
    assert!(error.contains("built without the feature `ssh`"), "{error}");
    load(&[]).expect("it is taken");
}

/// A call names a way through a host in each form, where the project sets none.
#[test]
fn a_call_goes_through_the_host_that_it_names() {
    let (host, gate) = (Host::start(), Host::start());
    let (address, port) = (gate.address(), gate.address().port());
    let gate_node = format!(
        "host gate address=\"{}\" port={port} user={USER} {{ pin \"{}\" }}",
        address.ip(),
        gate.pin()
    );
    let hosts = format!(
        "hosts outside=permit known-hosts=accept-new {{ groups edge; {}; {gate_node} }}",
        web(&host, &host.pin())
    );
    let house = house_of("open", &hosts, "");
    // Both hosts know one user.
    host.admit(&house);
    let through = |jump: &str| json!({ "host": "web", "command": "true", "jump": jump });
    let mut agent = operator(&house);
    let forms = [
        "gate".to_owned(),
        format!("{USER}@gate"),
        format!("{USER}@gate:{port}"),
        format!("gate:{port}"),
    ];
    for jump in forms {
        let answer = said(&mut agent, "ssh_exec", through(&jump));
        // The gate has another user key, so the way ends there.
        assert!(answer.contains("gate (tester@127.0.0.1"), "{jump}: {answer}");
    }
    for (jump, error) in [
        ("gate:x", "`jump` is a host, USER@HOST or USER@HOST:PORT"),
        ("gate:0", "`jump` is a host, USER@HOST or USER@HOST:PORT"),
        ("-x@gate", "this is not the name of a user"),
        ("root@gate", "the user of `gate` is set: leave `user` out"),
    ] {
        let answer = said(&mut agent, "ssh_exec", through(jump));
        assert!(answer.contains(error), "{jump}: {answer}");
    }
    let relative = json!({ "host": "web", "command": "true", "key_path": "keys/web" });
    let answer = said(&mut agent, "ssh_exec", relative);
    assert!(answer.contains("`key_path` is not absolute"), "{answer}");
    assert_eq!(host.logins(), 0);
}
