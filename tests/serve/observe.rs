//! The observation of system calls: what a server says of it, and what it records.

use serde_json::{Value, json};

use super::agent::{Agent, Protocol, text};
use super::house::{self, House};
use crate::binaries::has_seccomp;

const PROJECT: &str = "project ops epoch=1\ntools { shell; sessions; diagnostics }\n\
    roles { role operator tier=3 }\nusers { user op role=operator }\npolicy open\n";

/// A server that observes at most so many calls.
fn observing(cap: u32) -> (House, Agent) {
    let house = House::of(&house::bundle_of(PROJECT));
    let config = house.read("server.toml");
    let processes =
        format!("[processes]\nobserve-syscalls = true\nobserved-syscalls-max = {cap}\n");
    house.write("server.toml", format!("{config}\n{processes}"));
    let arguments = ["--principal", "op", "--audit", "audit.jsonl"];
    let agent = Agent::with(&house, Protocol::Modern, &arguments);
    (house, agent)
}

fn seccomp(agent: &mut Agent) -> Value {
    let info = text(&agent.call("server_info", json!({})));
    serde_json::from_str::<Value>(&info).unwrap()["seccomp"].clone()
}

fn exec(agent: &mut Agent, command: &str) -> String {
    text(&agent.call("shell_exec", json!({ "command": command })))
}

#[test]
fn a_server_says_whether_it_observes() {
    let house = House::of(&house::bundle_of(PROJECT));
    let mut agent =
        Agent::with(&house, Protocol::Modern, &["--principal", "op", "--audit", "none"]);
    let plain = seccomp(&mut agent);
    assert_eq!((&plain["notify"], &plain["cap"]), (&json!(false), &json!(256)), "{plain}");
    let (house, mut agent) = observing(7);
    let asked = seccomp(&mut agent);
    assert_eq!((&asked["notify"], &asked["cap"]), (&json!(true), &json!(7)), "{asked}");
    assert_eq!(exec(&mut agent, "echo a; exit 4"), "[exit 4]\na\n", "it runs in any case");
    if asked["supported"] == json!(true) {
        assert!(asked["filter_version"].as_u64().unwrap() > 0 && asked["reason"].is_null());
        return;
    }
    let reason = asked["reason"].as_str().unwrap().to_owned();
    if !has_seccomp() {
        assert!(reason.contains("without the feature `seccomp`"), "{reason}");
    }
    assert!(!house.read("audit.jsonl").contains("syscall_notify"));
    agent.client.close();
    let log = agent.client.end().stderr;
    assert!(log.contains("processes run unobserved") && log.contains(&reason), "{log}");
}

mod with_feature {
    use super::*;

    fn records(house: &House) -> Vec<Value> {
        house.read("audit.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn of<'r>(records: &'r [Value], tool: &str) -> Vec<&'r Value> {
        records.iter().filter(|record| record["tool"] == tool).collect()
    }

    /// Returns whether the server observes; else says why the test is left out.
    #[expect(clippy::print_stdout, reason = "a test that is left out says so")]
    fn observes(agent: &mut Agent) -> bool {
        let seccomp = seccomp(agent);
        if seccomp["supported"] != json!(true) {
            println!("SKIPPED: {}", seccomp["reason"]);
        }
        seccomp["supported"] == json!(true)
    }

    #[test]
    #[ignore = "the server needs its feature: RELAY_TEST_SECCOMP=1 cargo test … -- --include-ignored"]
    fn the_calls_of_a_command_are_recorded_before_its_own_record() {
        let (house, mut agent) = observing(256);
        if !observes(&mut agent) {
            return;
        }
        let target = house.path("target");
        let command = format!("/bin/cat /etc/hostname >/dev/null; echo b >{}", target.display());
        assert_eq!(exec(&mut agent, &command), "[exit 0]\n");
        assert_eq!(house.read("target"), "b\n");
        let records = records(&house);
        let calls = of(&records, "syscall_notify");
        let named =
            |name: &str| calls.iter().filter(|call| call["args"]["syscall"] == name).count();
        assert_eq!(named("execve"), 2, "{calls:?}");
        assert!(named("openat") + named("open") >= 2, "{calls:?}");
        let own = of(&records, "shell_exec")[0];
        for call in &calls {
            assert_eq!(call["tier"], 0);
            assert_eq!(call["principal"], "op");
            assert_eq!(call["request_id"], own["request_id"]);
            assert!(call["args"]["pid"].as_str().unwrap().parse::<u32>().unwrap() > 1);
            assert_eq!(call["args"]["syscall_args"].as_str().unwrap().split(' ').count(), 6);
            assert!(call["seq"].as_u64() < own["seq"].as_u64(), "before the record of the call");
        }
    }

    #[test]
    #[ignore = "the server needs its feature: RELAY_TEST_SECCOMP=1 cargo test … -- --include-ignored"]
    fn more_calls_than_the_limit_are_one_record() {
        let (house, mut agent) = observing(5);
        if !observes(&mut agent) {
            return;
        }
        let command = "for i in {1..50}; do echo >/dev/null; done; echo $i; exit 9";
        assert_eq!(exec(&mut agent, command), "[exit 9]\n50\n");
        let records = records(&house);
        assert_eq!(of(&records, "syscall_notify").len(), 5);
        let overflow = of(&records, "syscall_notify_overflow");
        assert_eq!(overflow.len(), 1);
        assert_eq!(overflow[0]["args"]["cap"], "5");
    }

    #[test]
    #[ignore = "the server needs its feature: RELAY_TEST_SECCOMP=1 cargo test … -- --include-ignored"]
    fn a_session_is_observed_as_long_as_it_runs() {
        let (house, mut agent) = observing(256);
        if !observes(&mut agent) {
            return;
        }
        let started = text(&agent.call("shell_spawn", json!({ "command": "" })));
        let id = started.split_whitespace().nth(1).unwrap().to_owned();
        let send = json!({ "session_id": id, "data": "/bin/true; echo rea''dy" });
        agent.call("session_send", send);
        let mut shown = String::new();
        while !shown.contains("ready") {
            let receive = json!({ "session_id": id, "timeout": 3 });
            shown.push_str(&text(&agent.call("session_recv", receive)));
        }
        agent.client.close();
        agent.client.end();
        let records = records(&house);
        let spawn = of(&records, "shell_spawn")[0];
        let calls = of(&records, "syscall_notify");
        let programs = calls.iter().filter(|call| call["args"]["syscall"] == "execve");
        assert_eq!(programs.count(), 2);
        assert!(calls.iter().all(|call| call["request_id"] == spawn["request_id"]));
    }
}
