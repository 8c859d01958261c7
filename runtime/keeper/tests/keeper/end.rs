//! Ends: of everything that a job started, and of nothing else.

use std::time::Duration;

use relay_keeper::{Ended, Reach, Signal};

use crate::Test;
use crate::support::{children, living, on_terminal, quiet, soon, stat, token, until, with_keeper};

pub(crate) const TESTS: &[Test] = &[
    ("end::everything_of_a_job_ends", everything_of_a_job_ends),
    ("end::what_outlives_the_leader_ends", what_outlives_the_leader_ends),
    ("end::what_runs_one_program_after_the_other_ends", what_runs_one_program_after_the_other_ends),
    ("end::other_jobs_go_on", other_jobs_go_on),
    ("end::a_dropped_job_ends_and_is_released", a_dropped_job_ends),
    ("end::a_dropped_spawn_leaves_nothing", a_dropped_spawn_leaves_nothing),
    ("end::many_ends_at_once_are_answered", many_ends_at_once_are_answered),
    ("end::a_fork_bomb_ends", a_fork_bomb_ends),
    ("end::stopped_processes_end_by_term", stopped_processes_end_by_term),
    ("end::orphans_that_end_are_reaped", orphans_that_end_are_reaped),
    ("end::a_process_without_its_first_thread_ends", a_process_without_its_first_thread_ends),
];

/// Shells whose processes flee in various ways, each with the number of processes that run.
fn fleeing(token: &str) -> [(String, usize); 8] {
    let sleep = format!("sleep {token}");
    [
        (sleep.clone(), 1),
        (format!("nohup {sleep} & {sleep}"), 3),
        (format!("setsid {sleep} & {sleep}"), 3),
        (format!("(setsid bash -c '{sleep} & {sleep}' &); {sleep}; exit"), 4),
        (format!("(setsid setsid nohup {sleep} >/dev/null 2>&1 &) & {sleep} & wait"), 3),
        (format!("env -i setsid bash -c 'trap \"\" TERM HUP; {sleep}; exit' & {sleep}"), 4),
        (format!("env -i /usr/bin/setsid /bin/bash -c '({sleep} &); {sleep}' & {sleep}"), 3),
        (format!("trap '' TERM HUP INT; while :; do {sleep}; done"), 2),
    ]
}

fn everything_of_a_job_ends() {
    with_keeper(|keeper| async move {
        for terminal in [false, true] {
            let token = token();
            for (text, count) in fleeing(&token) {
                let job = if terminal { on_terminal(&text) } else { quiet(&text) };
                let running = keeper.spawn(job).await.unwrap();
                // A shell replaces itself by its last command, where it has nothing else to do.
                let least = count.saturating_sub(1).max(1);
                until(&text, || living(&token).len() >= least).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                assert_eq!(
                    soon(running.end(Duration::from_millis(300))).await.unwrap(),
                    0,
                    "{text}"
                );
                assert_eq!(living(&token), [0; 0], "{text}");
                assert!(matches!(soon(running.exit()).await, Ended::Signal(_) | Ended::Code(_)));
            }
        }
        let pid = keeper.pid().await;
        until("something is left", || children(pid).is_empty()).await;
    });
}

fn what_outlives_the_leader_ends() {
    with_keeper(|keeper| async move {
        let token = token();
        let texts = [
            format!("sleep {token} & exit 3"),
            format!("setsid sleep {token} & exit 3"),
            format!("(setsid nohup bash -c 'sleep {token}; exit' &) & exit 3"),
        ];
        for text in texts {
            let running = keeper.spawn(quiet(&text)).await.unwrap();
            assert_eq!(soon(running.exit()).await, Ended::Code(3));
            until(&text, || !living(&format!("sleep\0{token}")).is_empty()).await;
            assert_eq!(soon(running.end(Duration::from_secs(1))).await.unwrap(), 0);
            assert_eq!(living(&token), [0; 0], "{text}");
        }
    });
}

/// While a process comes to another program, its environment, and so its mark, is out of sight.
fn what_runs_one_program_after_the_other_ends() {
    with_keeper(|keeper| async move {
        let token = token();
        let text = format!(
            "setsid sh -c 'exec sh -c \"$0\" \"$0\" {token}' 'exec sh -c \"$0\" \"$0\" {token}' & exit 3"
        );
        let pid = keeper.pid().await;
        for _ in 0..60 {
            let running = keeper.spawn(quiet(&text)).await.unwrap();
            assert_eq!(soon(running.exit()).await, Ended::Code(3));
            until(&text, || !living(&token).is_empty()).await;
            assert_eq!(soon(running.end(Duration::ZERO)).await.unwrap(), 0);
            // The first process of the job stays as a zombie until the job is dropped.
            let ended = |pid: &u32| stat(*pid).is_none_or(|stat| stat[0] == "Z");
            until("it goes on", || children(pid).iter().all(ended)).await;
        }
    });
}

fn other_jobs_go_on() {
    with_keeper(|keeper| async move {
        let (stays, goes) = (token(), token());
        let stay = keeper.spawn(quiet(&format!("setsid sleep {stays} & exit"))).await.unwrap();
        let terminal = keeper.spawn(on_terminal(&format!("sleep {stays}; exit"))).await.unwrap();
        until("both", || living(&format!("sleep\0{stays}")).len() == 2).await;
        for _ in 0..5 {
            let text = format!("setsid sleep {goes} & sleep {goes}");
            let go = keeper.spawn(quiet(&text)).await.unwrap();
            until("both", || living(&format!("sleep\0{goes}")).len() == 2).await;
            assert_eq!(soon(go.end(Duration::ZERO)).await.unwrap(), 0);
        }
        assert_eq!(living(&goes), [0; 0]);
        assert_eq!(living(&format!("sleep\0{stays}")).len(), 2);
        drop((stay, terminal));
        until("the others", || living(&stays).is_empty()).await;
    });
}

fn a_dropped_job_ends() {
    with_keeper(|keeper| async move {
        let token = token();
        let text = format!("trap '' TERM; sleep {token} & setsid sleep {token} & sleep {token}");
        let running = keeper.spawn(quiet(&text)).await.unwrap();
        let exit = running.exit();
        until("all run", || living(&format!("sleep\0{token}")).len() == 3).await;
        drop(running);
        assert_eq!(soon(exit).await, Ended::Lost);
        let pid = keeper.pid().await;
        until("it is left", || living(&token).is_empty() && children(pid).is_empty()).await;
    });
}

fn a_dropped_spawn_leaves_nothing() {
    with_keeper(|keeper| async move {
        let token = token();
        for micros in (0..2000).step_by(100) {
            let spawn = keeper.spawn(quiet(&format!("sleep {token}")));
            let _ = tokio::time::timeout(Duration::from_micros(micros), spawn).await;
        }
        let pid = keeper.pid().await;
        // What comes after them was handled after them.
        let running = keeper.spawn(quiet("exit")).await.unwrap();
        soon(running.exit()).await;
        drop(running);
        until("it is left", || living(&token).is_empty() && children(pid).is_empty()).await;
    });
}

fn many_ends_at_once_are_answered() {
    with_keeper(|keeper| async move {
        let token = token();
        let text = format!("trap '' TERM; while :; do sleep {token}; done");
        let running = std::sync::Arc::new(keeper.spawn(quiet(&text)).await.unwrap());
        until("it ignores TERM", || !living(&format!("sleep\0{token}")).is_empty()).await;
        let ends = (0..10).map(|at| {
            let running = running.clone();
            tokio::spawn(async move { running.end(Duration::from_secs(60 - at * 6 + 1)).await })
        });
        let ends: Vec<_> = ends.collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        // The shortest grace holds.
        assert_eq!(soon(running.end(Duration::from_millis(100))).await.unwrap(), 0);
        for end in ends {
            assert_eq!(soon(end).await.unwrap().unwrap(), 0);
        }
        assert_eq!(soon(running.exit()).await, Ended::Signal(9));
    });
}

fn a_fork_bomb_ends() {
    with_keeper(|keeper| async move {
        let token = token();
        // Each round forks two, up to a limit for the machine's sake, and ignores TERM.
        let text = format!(
            "trap '' TERM; b() {{ sleep {token} & [ $1 -gt 0 ] && {{ b $(($1-1)) & b $(($1-1)) & }}; wait; }}; b 6"
        );
        let running = keeper.spawn(quiet(&text)).await.unwrap();
        until("it grows", || living(&token).len() > 10).await;
        assert_eq!(soon(running.end(Duration::ZERO)).await.unwrap(), 0);
        assert_eq!(living(&token), [0; 0]);
    });
}

fn stopped_processes_end_by_term() {
    with_keeper(|keeper| async move {
        let token = token();
        let running = keeper.spawn(quiet(&format!("exec sleep {token}"))).await.unwrap();
        until("it runs", || !living(&format!("sleep\0{token}")).is_empty()).await;
        soon(running.signal(Signal::STOP, Reach::Group)).await.unwrap();
        until("it stops", || stat(running.pid()).unwrap()[0] == "T").await;
        assert_eq!(soon(running.end(Duration::from_secs(50))).await.unwrap(), 0);
        assert_eq!(soon(running.exit()).await, Ended::Signal(15));
    });
}

fn orphans_that_end_are_reaped() {
    with_keeper(|keeper| async move {
        let text = "for i in 1 2 3 4 5; do (setsid sleep 0.2 &) & done; wait; exec sleep 1000";
        let running = keeper.spawn(quiet(text)).await.unwrap();
        let pid = keeper.pid().await;
        until("orphans come", || children(pid).len() == 6).await;
        until("orphans go", || children(pid) == [running.pid()]).await;
        drop(running);
    });
}

fn a_process_without_its_first_thread_ends() {
    let text = "import threading, time, ctypes, sys\n\
                threading.Thread(target=lambda: time.sleep(1000)).start()\n\
                ctypes.CDLL(None).syscall(60 if sys.maxsize else 1, 0)";
    if cfg!(not(target_arch = "x86_64")) || !std::path::Path::new("/usr/bin/python3").exists() {
        return;
    }
    with_keeper(|keeper| async move {
        let shell = format!("trap '' HUP; setsid /usr/bin/python3 -c '{text}' & exit 0");
        let running = keeper.spawn(quiet(&shell)).await.unwrap();
        let pid = keeper.pid().await;
        let is_odd = || {
            let odd = |child: &u32| stat(*child).is_some_and(|s| s[0] == "Z" && s[17] != "1");
            children(pid).iter().any(odd)
        };
        until("its first thread ends", is_odd).await;
        assert_eq!(soon(running.end(Duration::from_millis(200))).await.unwrap(), 0);
        until("it is left", || children(pid) == [running.pid()]).await;
    });
}
