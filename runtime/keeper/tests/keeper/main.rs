//! The keeper as a server uses it: this program runs itself again as keeper and as server.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::env;
use std::panic;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

mod begin;
mod end;
mod loss;
#[cfg(feature = "seccomp")]
mod observe;
mod support;
mod terminal;

/// A test that takes longer has failed.
const TEST_TIME_MAX: Duration = Duration::from_secs(100);

/// A name and its test.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(relay_keeper::ARGUMENT) => return relay_keeper::run(),
        Some(loss::SERVER) => return loss::serve(&arguments[1]),
        _ => {}
    }
    let tests = [
        begin::TESTS,
        end::TESTS,
        loss::TESTS,
        #[cfg(feature = "seccomp")]
        observe::TESTS,
        terminal::TESTS,
    ]
    .concat();
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|word| name.contains(*word));
    let failed = tests.iter().filter(|(name, _)| wanted(name)).filter(|test| !passes(test)).count();
    println!("{failed} tests failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a test in a thread of its own, one after the other: they look at the processes of others.
fn passes((name, test): &Test) -> bool {
    let (done, passed) = mpsc::channel();
    let test = *test;
    thread::spawn(move || done.send(panic::catch_unwind(test).is_ok()));
    let verdict = match passed.recv_timeout(TEST_TIME_MAX) {
        Ok(true) => "ok",
        Ok(false) => "FAILED",
        Err(_) => "FAILED: no end",
    };
    println!("test {name} ... {verdict}");
    verdict == "ok"
}
