//! The time from the request for `/bin/true` to its exit: through the keeper, and by the standard
//! library.
//!
//! `cargo run -p relay-keeper --example measure [ROUNDS] [MEGABYTES]`. The two take turns, so that
//! other work on the machine meets both. The megabytes are memory that the server holds meanwhile.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement"
)]

use std::env;
use std::fs::File;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use relay_keeper::{ARGUMENT, Ended, Job, Keeper, Started, Streams};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == ARGUMENT) {
        return relay_keeper::run();
    }
    let number = |at: usize, otherwise: usize| {
        arguments.get(at).map_or(otherwise, |number| number.parse().unwrap())
    };
    let (rounds, megabytes) = (number(0, 500), number(1, 0));
    let started = Started::start(&env::current_exe().unwrap()).unwrap();
    let memory = vec![1_u8; megabytes << 20];
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let measured = runtime.spawn(async move {
        let keeper = started.attach().unwrap();
        let (mut by_keeper, mut by_std) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            by_std.push(spawn_by_std());
            by_keeper.push(spawn_by_keeper(&keeper).await);
        }
        let (keeper, std) = (summary("keeper", by_keeper), summary("std", by_std));
        println!("ratio of p50 {:.2}", keeper / std);
    });
    runtime.block_on(measured).unwrap();
    drop(memory);
    ExitCode::SUCCESS
}

async fn spawn_by_keeper(keeper: &Keeper) -> Duration {
    let null = || File::options().read(true).write(true).open("/dev/null").unwrap().into();
    let begin = Instant::now();
    let job = Job {
        program: "/bin/true".into(),
        argv: vec!["true".into()],
        environment: env::vars_os().collect(),
        cwd: "/".into(),
        streams: Streams::Descriptors { input: null(), output: null(), error: null() },
    };
    let running = keeper.spawn(job).await.unwrap();
    assert_eq!(running.exit().await, Ended::Code(0));
    begin.elapsed()
}

fn spawn_by_std() -> Duration {
    let begin = Instant::now();
    let mut command = Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    assert!(command.status().unwrap().success());
    begin.elapsed()
}

/// Prints the figures of a way and returns its median in microseconds.
fn summary(name: &str, mut times: Vec<Duration>) -> f64 {
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).unwrap().as_secs_f64() * 1e6;
    println!("{name:6} min {:5.0} p50 {:5.0} p90 {:5.0} µs", at(0), at(50), at(90));
    at(50)
}
