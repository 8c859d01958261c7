//! Several callers at work over HTTP: their keys, their sessions, and the calls that they got answers for.

use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::text;
use super::auth::{config, key};
use super::house::{self, House};
use super::web::{Request, Web};

/// The variable with the seconds of work, for a long run by hand.
const SECONDS_VARIABLE: &str = "RELAY_TEST_SECONDS";
/// The seconds of work of a usual run.
const SECONDS: u64 = 3;

/// Returns how long a crew works.
#[expect(clippy::disallowed_methods, reason = "the length of a run by hand")]
pub(super) fn seconds() -> Duration {
    let named = env::var(SECONDS_VARIABLE).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(named.unwrap_or(SECONDS))
}

/// Callers with a key each, who may do everything.
pub(super) struct Crew {
    callers: usize,
}

impl Crew {
    pub(super) fn new(callers: usize) -> Self {
        Self { callers }
    }

    /// Returns a house of theirs, with these further settings of its server.
    pub(super) fn house(&self, settings: &str) -> House {
        let names = || (0..self.callers).map(|number| format!("caller{number}"));
        let users: String =
            names().map(|name| format!("user \"{name}@house\" role=operator; ")).collect();
        let house = House::of(&house::bundle_of(&format!(
            "project ops epoch=1\ntools {{ shell; sessions; diagnostics }}\n\
             roles {{ role operator tier=3 }}\nusers {{ {users} }}\npolicy open\n"
        )));
        let keys: Vec<_> = names().map(|name| key(&name, "s", "")).collect();
        house.write("server.toml", format!("{}{settings}", config(&keys)));
        house
    }

    /// Calls a tool as one of them; `None` if the connection breaks before the answer.
    pub(super) fn call(
        &self,
        web: &Web,
        caller: usize,
        id: &str,
        (tool, arguments): (&str, Value),
    ) -> Option<Value> {
        let answer = web.try_send(&self.request(caller, id, (tool, arguments)))?;
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut answer = answer.json();
        assert_eq!((&answer["error"], &answer["id"]), (&Value::Null, &json!(id)), "{answer}");
        Some(answer["result"].take())
    }

    /// Returns the request of such a call.
    pub(super) fn request(
        &self,
        caller: usize,
        id: &str,
        (tool, arguments): (&str, Value),
    ) -> Request {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = Request::modern_of(&json!(id), "tools/call", params);
        request.with("Authorization", &format!("Bearer rk_caller{}_s", caller % self.callers))
    }

    /// Begins sessions whose programs write all the time; returns their callers and ids.
    pub(super) fn sessions(&self, web: &Web, count: usize) -> Vec<(usize, String)> {
        let program = "setsid sleep 300 & while true; do echo tick; sleep 0.5; done";
        let begin = |number: usize| {
            let caller = number % self.callers;
            let spawn = ("shell_spawn", json!({ "command": program }));
            let result =
                self.call(web, caller, &format!("spawn-{number}"), spawn).expect("an answer");
            let started = text(&result);
            assert!(started.starts_with("session sh-"), "{started}");
            (caller, started.split(' ').nth(1).expect("an id").to_owned())
        };
        (0..count).map(begin).collect()
    }
}

/// Asserts that files of a house have a record of each of these calls, by the ids of their requests, except
/// for as many as the server counted as lost.
pub(super) fn assert_recorded(house: &House, answered: &[String], files: &[String], lost: usize) {
    let mut ended = BTreeSet::new();
    for file in files {
        for line in house.read(file).lines() {
            let record: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if record["action"] != "begun" {
                ended.extend(record["request_id"].as_str().map(str::to_owned));
            }
        }
    }
    let missing: Vec<_> = answered.iter().filter(|id| !ended.contains(*id)).collect();
    assert!(missing.len() <= lost, "{} without a record: {missing:?}", missing.len());
}
