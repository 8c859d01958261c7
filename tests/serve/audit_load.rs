//! The audit under load: two servers on one file, a rotation and a full disk while calls are answered.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::audit_kept::verify;
use super::crew::{Crew, assert_recorded, seconds};
use super::house::House;
use super::processes::limit_files;
use super::web::Web;

const CALLERS: usize = 4;
/// The calls at once of each server.
const CALLS_AT_ONCE: usize = 8;
const SERVE: [&str; 4] = ["--config", "server.toml", "--audit", "audit.jsonl"];

/// The tool and the arguments of a call: reads, commands, and one that is recorded twice.
fn call(number: usize) -> (&'static str, Value) {
    match number % 4 {
        0 => ("server_info", json!({})),
        1 => ("audit_tail", json!({ "lines": 3 })),
        2 => ("shell_exec", json!({ "command": "true" })),
        _ => ("shell_exec", json!({ "command": "rm -f nothing" })),
    }
}

/// Calls on each server while `meanwhile` runs. Returns the ids of the calls that were answered; a
/// server may be killed.
fn answered_while(crew: &Crew, servers: &[Web], meanwhile: impl FnOnce()) -> Vec<String> {
    let is_over = AtomicBool::new(false);
    let work = |server: usize, worker: usize| {
        let mut answered = Vec::new();
        for round in 0.. {
            let id = format!("{server}-{worker}-{round}");
            let answer = crew.call(&servers[server], worker, &id, call(worker + round));
            if answer.is_none() {
                return answered;
            }
            answered.push(id);
            if is_over.load(Ordering::SeqCst) {
                return answered;
            }
        }
        answered
    };
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..servers.len())
            .flat_map(|server| (0..CALLS_AT_ONCE).map(move |worker| (server, worker)))
            .map(|(server, worker)| scope.spawn(move || work(server, worker)))
            .collect();
        meanwhile();
        is_over.store(true, Ordering::SeqCst);
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}

/// Returns how many records the server counted as lost.
fn lost(house: &House) -> usize {
    let text = house.read("audit.jsonl");
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let lost = records.filter(|record| record["tool"] == "audit:lost");
    lost.map(|record| record["args"]["count"].as_str().unwrap().parse::<usize>().unwrap()).sum()
}

#[test]
fn two_busy_servers_keep_one_chain_and_one_may_be_killed() {
    let crew = Crew::new(CALLERS);
    let house = crew.house("");
    let servers = [Web::start(&house, &SERVE), Web::start(&house, &SERVE)];
    let mut at_kill = 0;
    let answered = answered_while(&crew, &servers, || {
        thread::sleep(seconds());
        servers[0].server.signal("KILL");
        at_kill = house.read("audit.jsonl").lines().count();
        // The other one goes on.
        super::server::wait_until(|| house.read("audit.jsonl").lines().count() > at_kill + 20);
    });
    assert!(answered.len() > 20, "{}", answered.len());
    assert_recorded(&house, &answered, &["audit.jsonl".to_owned()], 0);
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
}

/// Moves the files on, as logrotate does: the newest is `audit.jsonl.1`. Returns their number.
fn rotate(house: &House, kept: usize) -> usize {
    for number in (1..=kept).rev() {
        let [from, to] = [number, number + 1].map(|it| house.path(&format!("audit.jsonl.{it}")));
        fs::rename(from, to).expect("a rename");
    }
    fs::rename(house.path("audit.jsonl"), house.path("audit.jsonl.1")).expect("a rename");
    kept + 1
}

#[test]
fn a_rotation_under_load_loses_no_record_and_keeps_the_chain() {
    let crew = Crew::new(CALLERS);
    let house = crew.house("");
    let servers = [Web::start(&house, &SERVE), Web::start(&house, &SERVE)];
    let mut kept = 0;
    let answered = answered_while(&crew, &servers, || {
        let begun = Instant::now();
        while begun.elapsed() < seconds() {
            thread::sleep(Duration::from_millis(200));
            if house.path("audit.jsonl").exists() {
                kept = rotate(&house, kept);
            }
        }
    });
    assert!(kept > 2 && answered.len() > 20, "{kept} files, {} calls", answered.len());
    super::server::wait_until(|| house.path("audit.jsonl").exists());
    let older = (1..=kept).rev().map(|number| format!("audit.jsonl.{number}"));
    let files: Vec<_> = older.chain(["audit.jsonl".to_owned()]).collect();
    assert_recorded(&house, &answered, &files, 0);
    let (code, said) = verify(&house, &files.join(" "));
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_disk_that_is_full_for_a_while_under_load_leaves_a_named_gap() {
    let crew = Crew::new(CALLERS);
    let house = crew.house("");
    let servers = [Web::start(&house, &SERVE)];
    let answered = answered_while(&crew, &servers, || {
        for _ in 0..3 {
            thread::sleep(seconds() / 6);
            let whole = house.read("audit.jsonl").len() as u64;
            limit_files(&servers[0].server, Some(whole + 1000));
            thread::sleep(seconds() / 6);
            limit_files(&servers[0].server, None);
        }
    });
    let lost = lost(&house);
    assert!(lost > 0 && answered.len() > 20, "{lost} lost of {}", answered.len());
    assert_recorded(&house, &answered, &["audit.jsonl".to_owned()], lost);
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("names a gap"), "{said}");
}
