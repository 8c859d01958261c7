//! The end of the server, and that of the keeper.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use relay_keeper::{ARGUMENT, Ended, Reach, StartError, Started};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, kill_process};

use crate::Test;
use crate::support::{
    SOON, children, executable, living, on_terminal, output, quiet, runtime, shell, soon, stat,
    token, until, with_keeper,
};

/// The first argument of this program as a server, followed by a token.
pub(crate) const SERVER: &str = "--server";

pub(crate) const TESTS: &[Test] = &[
    ("loss::nothing_outlives_the_server", nothing_outlives_the_server),
    ("loss::close_ends_everything", close_ends_everything),
    ("loss::a_dropped_keeper_ends", a_dropped_keeper_ends),
    ("loss::a_lost_keeper_is_replaced", a_lost_keeper_is_replaced),
    ("loss::a_keeper_that_is_lost_too_often_is_an_error", too_often),
    ("loss::a_message_of_another_program_ends_the_keeper", a_foreign_message),
    ("loss::a_program_that_is_no_keeper_is_an_error", no_keeper),
    ("loss::the_first_process_of_a_container_reaps_all", the_first_process_reaps_all),
    ("loss::the_keeper_is_small_and_deaf_to_signals", small_and_deaf),
];

/// Runs as server: starts jobs, says so, and waits to be killed.
pub(crate) fn serve(token: &str) -> ExitCode {
    let started = Started::start(&env::current_exe().unwrap()).unwrap();
    runtime().block_on(async {
        let keeper = started.attach().unwrap();
        let sleep = format!("sleep {token}");
        let texts = [
            sleep.clone(),
            format!("nohup {sleep} & {sleep}"),
            format!("setsid {sleep} & {sleep}"),
            format!("(setsid bash -c '{sleep} & {sleep}' &); {sleep}"),
            format!("trap '' TERM HUP; while :; do {sleep}; done"),
            format!("env -i setsid setsid {sleep} & exit"),
        ];
        let mut jobs = Vec::new();
        for text in &texts {
            jobs.push(keeper.spawn(quiet(text)).await.unwrap());
            jobs.push(keeper.spawn(on_terminal(text)).await.unwrap());
        }
        println!("{}", keeper.pid().await);
        std::io::stdout().flush().unwrap();
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
    ExitCode::SUCCESS
}

fn nothing_outlives_the_server() {
    let token = token();
    let mut server = Command::new(env::current_exe().unwrap())
        .args([SERVER, &token])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let keeper: u32 = line.trim().parse().unwrap();
    thread::sleep(Duration::from_millis(500));
    let sleeping = living(&format!("sleep\0{token}")).len();
    assert!(sleeping >= 15, "{sleeping} run");
    server.kill().unwrap();
    server.wait().unwrap();
    let begin = Instant::now();
    while !living(&token).is_empty() {
        assert!(begin.elapsed() < SOON, "{:?} are left", living(&token));
        thread::sleep(Duration::from_millis(20));
    }
    println!("    all gone after {:?}", begin.elapsed());
    while stat(keeper).is_some_and(|stat| stat[0] != "Z") {
        assert!(begin.elapsed() < SOON, "the keeper is left");
        thread::sleep(Duration::from_millis(20));
    }
}

fn close_ends_everything() {
    let started = Started::start(&env::current_exe().unwrap()).unwrap();
    runtime().block_on(async {
        let keeper = started.attach().unwrap();
        let token = token();
        let text = format!("setsid sleep {token} & trap '' TERM; sleep {token}; sleep {token}");
        let running = keeper.spawn(quiet(&text)).await.unwrap();
        let pid = keeper.pid().await;
        assert!(keeper.close().await);
        assert_eq!(living(&token), [0; 0]);
        assert!(stat(pid).is_none(), "it is reaped");
        assert_eq!(soon(running.exit()).await, Ended::Lost);
        assert!(soon(running.end(Duration::ZERO)).await.is_err());
        let error = keeper.spawn(quiet("exit")).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, StartError::Lost), "{error}");
        assert_eq!(keeper.replaced(), 0);
    });
}

fn a_dropped_keeper_ends() {
    let own = std::process::id();
    drop(Started::start(&env::current_exe().unwrap()).unwrap());
    assert_eq!(children(own), [0; 0], "before it was attached");
    let started = Started::start(&env::current_exe().unwrap()).unwrap();
    runtime().block_on(async {
        let keeper = started.attach().unwrap();
        let token = token();
        let running = keeper.spawn(quiet(&format!("exec sleep {token}"))).await.unwrap();
        drop(keeper);
        assert_eq!(soon(running.signal(Signal::STOP, Reach::Group)).await.unwrap(), 1);
        drop(running);
        until("it is left", || children(own).is_empty() && living(&token).is_empty()).await;
    });
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // One that ended meanwhile is as good.
    let _ = kill_process(pid, Signal::KILL);
}

fn a_lost_keeper_is_replaced() {
    with_keeper(|keeper| async move {
        let token = token();
        let exited = keeper.spawn(quiet("exit 5")).await.unwrap();
        assert_eq!(soon(exited.exit()).await, Ended::Code(5));
        let text = format!("setsid sleep {token} & trap '' TERM; sleep {token}; exit 0");
        let running = keeper.spawn(quiet(&text)).await.unwrap();
        let terminal = keeper.spawn(on_terminal(&text)).await.unwrap();
        until("all run", || living(&format!("sleep\0{token}")).len() == 4).await;
        let first = keeper.pid().await;
        kill(first);
        assert_eq!(soon(running.exit()).await, Ended::Lost);
        assert_eq!(soon(terminal.exit()).await, Ended::Lost);
        assert_eq!(soon(exited.exit()).await, Ended::Code(5), "known before");
        assert!(soon(running.signal(Signal::TERM, Reach::Group)).await.is_err());
        let next = keeper.spawn(quiet("exit 6")).await.unwrap();
        assert_eq!(soon(next.exit()).await, Ended::Code(6));
        assert_ne!(keeper.pid().await, first);
        assert_eq!(keeper.replaced(), 1);
        until("the new one ends what the old one left", || living(&token).is_empty()).await;
        assert_eq!(soon(next.end(Duration::ZERO)).await.unwrap(), 0);
    });
}

fn too_often() {
    with_keeper(|keeper| async move {
        let token = token();
        let sleep = format!("exec sleep {token}");
        for count in 0..4 {
            let running = keeper.spawn(quiet(&sleep)).await.unwrap();
            assert_eq!(keeper.replaced(), count);
            kill(keeper.pid().await);
            assert_eq!(soon(running.exit()).await, Ended::Lost);
        }
        let error = keeper.spawn(quiet("exit")).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, StartError::Restarts), "{error}");
        // The job of the last keeper waits for a next one.
        until("it is there", || !living(&token).is_empty()).await;
        until("it is left", || {
            let left = living(&token);
            left.iter().for_each(|pid| kill(*pid));
            left.is_empty()
        })
        .await;
    });
}

fn a_foreign_message() {
    let (own, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .unwrap();
    let mut keeper = Command::new(env::current_exe().unwrap())
        .arg(ARGUMENT)
        .stdin(Stdio::from(theirs))
        .spawn()
        .unwrap();
    rustix::net::send(&own, b"\xff no message", SendFlags::empty()).unwrap();
    let begin = Instant::now();
    while keeper.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < SOON, "the keeper is left");
        thread::sleep(Duration::from_millis(10));
    }
}

fn no_keeper() {
    let error = Started::start("/bin/true".as_ref()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("before it was ready"), "{error}");
    assert!(Started::start("/missing/program".as_ref()).is_err());
    assert!(Started::start("relative".as_ref()).is_err());
}

fn small_and_deaf() {
    with_keeper(|keeper| async move {
        let pid = keeper.pid().await;
        let id = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1] {
            kill_process(id, signal).unwrap();
        }
        let running = keeper.spawn(quiet("exit 8")).await.unwrap();
        assert_eq!(soon(running.exit()).await, Ended::Code(8));
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let value = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().to_owned()
        };
        assert_eq!(value("Threads"), "1");
        assert_eq!(value("Name"), "relay-keeper");
        let kilobytes: u64 = value("RssAnon").parse().unwrap();
        assert!(kilobytes < 2048, "{kilobytes} KB");
        assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).unwrap(), b"");
        let fields = stat(pid).unwrap();
        assert_eq!((&fields[2], &fields[3]), (&pid.to_string(), &pid.to_string()), "own session");
        drop(running);
        until("zombies are left", || children(pid).is_empty()).await;
    });
}

fn the_first_process_reaps_all() {
    let unshare = "/usr/bin/unshare -Urpf --mount-proc";
    let probe = Command::new("/bin/sh").args(["-c", &format!("{unshare} true")]).output().unwrap();
    if !probe.status.success() {
        println!("    this machine has no spaces of processes for users");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("keeper");
    let own = env::current_exe().unwrap();
    executable(&program, &format!("#!/bin/sh\nexec {unshare} '{}' \"$@\"\n", own.display()));
    let started = Started::start(&program).unwrap();
    runtime().block_on(async {
        let keeper = started.attach().unwrap();
        let text = "for i in 1 2 3; do (setsid sleep 0.1 &) & done; wait; exec sleep 1000";
        let running = keeper.spawn(quiet(text)).await.unwrap();
        assert!(running.pid() < 100, "{}", running.pid());
        tokio::time::sleep(Duration::from_millis(400)).await;
        let list = "ps -e -o pid=,stat=,comm= | grep -v -e ps -e grep";
        let (printed, _) = output(&keeper, |writer| shell(list, writer)).await.unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let first = printed.lines().next().unwrap();
        assert!(first.trim().starts_with("1 ") && first.contains("relay-keeper"), "{printed}");
        assert!(printed.contains("sleep") && !printed.contains('Z'), "{printed}");
        assert_eq!(soon(running.end(Duration::ZERO)).await.unwrap(), 0);
        assert!(keeper.close().await);
    });
}
