//! A crowd at work and a server that is killed: no process that it started is left, and the audit has
//! every call that a client got an answer for.

#![expect(clippy::print_stdout, reason = "the figures are what a long run is for")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent::text;
use super::audit_kept::verify;
use super::crew::{Crew, assert_recorded, seconds};
use super::house::House;
use super::processes::with_variable;
use super::server::command;
use super::web::Web;

/// The callers: each has the same share of the sessions and of the calls.
const CALLERS: usize = 8;
const SESSIONS: usize = 64;
const CALLS_AT_ONCE: usize = 200;
/// The longest time that a process is left after its server was killed.
const LEFT_MAX: Duration = Duration::from_secs(2);

#[test]
fn nothing_is_left_of_a_crowd_whose_server_is_killed() {
    let crew = Crew::new(CALLERS);
    let house = crew.house(&format!(
        "[processes]\nrunning-max = {CALLS_AT_ONCE}\nprincipal-running-max = {CALLS_AT_ONCE}\n"
    ));
    // Every process of the server has this variable, whatever it starts.
    let mark = format!("APP_CROWD={}", house.path("").display());
    let web = start(&house, &mark);
    let sessions = crew.sessions(&web, SESSIONS);
    let is_killed = AtomicBool::new(false);
    let answered = thread::scope(|scope| {
        let workers: Vec<_> = (0..CALLS_AT_ONCE)
            .map(|number| {
                let (crew, web, sessions, is_killed) = (&crew, &web, &sessions, &is_killed);
                scope.spawn(move || work(crew, web, number, sessions, is_killed))
            })
            .collect();
        thread::sleep(seconds());
        println!("{} processes before the kill", with_variable(&mark).len());
        is_killed.store(true, Ordering::SeqCst);
        web.server.signal("KILL");
        let killed = Instant::now();
        while !with_variable(&mark).is_empty() && killed.elapsed() < harness::PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        let (left, took) = (with_variable(&mark), killed.elapsed());
        println!("none is left after {took:?}");
        assert!(left.is_empty() && took <= LEFT_MAX, "after {took:?}: {left:?}");
        let answered = workers.into_iter().flat_map(|worker| worker.join().expect("no panic"));
        answered.collect::<Vec<String>>()
    });
    println!("{} calls were answered", answered.len());
    assert!(answered.len() > CALLERS, "only {} calls were answered", answered.len());
    assert_recorded(&house, &answered, &["audit.jsonl".to_owned()], 0);
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
}

fn start(house: &House, mark: &str) -> Web {
    let mut command = command(house, &["--http", "127.0.0.1:0", "--config", "server.toml"]);
    command.args(["--audit", "audit.jsonl"]);
    let (name, value) = mark.split_once('=').expect("a variable");
    command.env(name, value).env("PATH", "/usr/bin:/bin");
    Web::run(house, command)
}

/// Calls until the server is killed; returns the calls that were answered.
fn work(
    crew: &Crew,
    web: &Web,
    number: usize,
    sessions: &[(usize, String)],
    is_killed: &AtomicBool,
) -> Vec<String> {
    let mut answered = Vec::new();
    for round in 0.. {
        // One in four works with a session of its caller, and the others run commands.
        let (caller, tool, arguments, begins) = match number % 4 {
            0 => session_call(round, &sessions[number % sessions.len()]),
            _ => command_call(number, round),
        };
        let id = format!("{number}-{round}");
        let Some(result) = crew.call(web, caller, &id, (tool, arguments)) else {
            assert!(is_killed.load(Ordering::SeqCst), "a call broke while the server was alive");
            return answered;
        };
        let said = text(&result);
        assert!(said.starts_with(begins), "{tool}: {said}");
        answered.push(id);
        if is_killed.load(Ordering::SeqCst) {
            return answered;
        }
    }
    answered
}

/// The caller, the tool, its arguments and the beginning of its answer.
type Call = (usize, &'static str, Value, &'static str);

fn command_call(number: usize, round: usize) -> Call {
    let command = match (number + round) % 6 {
        0 => "true",
        1 => "for i in {1..2000}; do echo $i; done",
        2 => "sleep 0.2; echo done",
        3 => "rm -f nothing; touch made",
        // They leave something behind, or last until the kill.
        4 => "setsid sleep 300 & (trap '' HUP TERM INT; sleep 300) & echo left",
        _ => "sleep 300 & setsid sh -c 'sleep 300; sleep 301' & wait",
    };
    let lasts = command.ends_with("wait");
    let begins = if lasts { "[TIMEOUT after 2s]" } else { "[exit 0]\n" };
    let timeout = if lasts { 2 } else { 60 };
    (number % CALLERS, "shell_exec", json!({ "command": command, "timeout": timeout }), begins)
}

fn session_call(round: usize, (caller, id): &(usize, String)) -> Call {
    match round % 2 {
        0 => (*caller, "session_recv", json!({ "session_id": id, "timeout": 0.5 }), ""),
        _ => (
            *caller,
            "session_resize",
            json!({ "session_id": id, "cols": 80, "rows": 25 }),
            "resized ",
        ),
    }
}
