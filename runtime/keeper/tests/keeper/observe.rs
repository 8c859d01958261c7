//! Observed jobs: which system calls are reported, and that all else stays the same.

use std::fs;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use relay_keeper::{
    Ended, Job, Keeper, Observation, Observations, Running, StartError, SystemCall, Unobserved,
    observation_support,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::Test;
use crate::support::{
    children, executable, living, on_terminal, output, quiet, screen, shell, soon, stat, token,
    until, with_keeper,
};

pub(crate) const TESTS: &[Test] = &[
    ("observe::programs_and_opens_for_writing_are_reported", programs_and_opens),
    ("observe::changes_of_privileges_and_places_are_reported", privileges_and_places),
    ("observe::reports_have_a_limit_and_the_job_has_none", reports_have_a_limit),
    ("observe::an_observed_job_is_like_any_other", like_any_other),
    ("observe::an_observed_terminal_is_like_any_other", a_terminal_like_any_other),
    ("observe::a_failed_start_is_an_error", a_failed_start),
    ("observe::a_process_that_outlives_its_job_goes_on", a_survivor_goes_on),
    ("observe::a_lost_keeper_leaves_nothing", a_lost_keeper),
    ("observe::an_orderly_end_lets_handlers_run", an_orderly_end),
    ("observe::no_descriptor_is_left", no_descriptor_is_left),
    ("observe::more_jobs_than_the_limit_run_unobserved", more_than_the_limit),
];

/// Returns whether this machine lets jobs be observed; else says why the test is left out.
fn can_observe() -> bool {
    let support = observation_support();
    if let Err(reason) = &support {
        println!("    SKIPPED: {reason}");
    }
    support.is_ok()
}

/// The calls of bash itself: it opens its terminal for reading and writing.
const BASH: &[&str] = &["execve", "openat"];

const MANY: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// Runs a job to its end; returns its observations with its end.
async fn observed(keeper: &Keeper, job: Job, calls_max: NonZeroU32) -> (Vec<Observation>, Ended) {
    let (running, observations) = keeper.spawn_observed(job, calls_max).await.unwrap();
    let ended = soon(running.exit()).await;
    drop(running);
    (all(observations).await, ended)
}

/// Collects the observations of a job that was dropped.
async fn all(mut observations: Observations) -> Vec<Observation> {
    let mut all = Vec::new();
    while let Some(one) = soon(observations.next()).await {
        all.push(one);
    }
    all
}

fn calls(observations: &[Observation]) -> Vec<SystemCall> {
    let call = |one: &Observation| match one {
        Observation::Call(call) => Some(*call),
        _ => None,
    };
    observations.iter().filter_map(call).collect()
}

fn names(observations: &[Observation]) -> Vec<&'static str> {
    calls(observations).iter().map(|call| call.name().unwrap_or("unknown")).collect()
}

fn programs_and_opens() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let run = async |text: &str| {
            let job = Job { cwd: folder.path().to_owned(), ..quiet(text) };
            let (running, observations) = keeper.spawn_observed(job, MANY).await.unwrap();
            assert_eq!(soon(running.exit()).await, Ended::Code(0), "{text}");
            let pid = running.pid();
            drop(running);
            (pid, all(observations).await)
        };
        let (leader, seen) = run(":").await;
        assert_eq!(names(&seen), BASH, "the start of the program itself");
        assert_eq!(calls(&seen)[0].pid, leader);
        let (leader, seen) = run("/bin/true; /bin/true; exec /bin/true").await;
        assert_eq!(names(&seen), [BASH, &["execve"; 3]].concat());
        let pids = calls(&seen).iter().map(|call| call.pid == leader).collect::<Vec<_>>();
        assert_eq!(pids, [true, true, false, false, true]);
        assert!(calls(&seen).iter().all(|call| call.architecture() == std::env::consts::ARCH));
        for text in ["echo a >f", "echo b >>f", ": <>f", "set -C; echo a >new"] {
            let (_, seen) = run(text).await;
            assert_eq!(names(&seen), [BASH, &["openat"]].concat(), "{text}");
        }
        assert_eq!(fs::read_to_string(folder.path().join("f")).unwrap(), "a\nb\n", "they ran");
        let (_, seen) = run("read x <f; test -r f; cd /; . /dev/null").await;
        assert_eq!(names(&seen), BASH, "only read");
    });
}

fn privileges_and_places() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let texts = [
            ("unshare -m true", "unshare"),
            ("PATH=$PATH:/usr/sbin:/sbin; chroot / /bin/true", "chroot"),
            ("setpriv --reuid 65534 true", "setresuid"),
            ("setpriv --regid 65534 --clear-groups true", "setgroups"),
            ("setpriv --no-new-privs true", "prctl"),
            ("nsenter -t $$ -m true", "setns"),
            ("unshare -m umount /proc", "umount2"),
        ];
        for (text, name) in texts {
            let (seen, ended) = observed(&keeper, quiet(text), MANY).await;
            assert_eq!(ended, Ended::Code(0), "{text}");
            assert!(names(&seen).contains(&name), "{text}: {:?}", names(&seen));
        }
        let (seen, _) = observed(&keeper, quiet("unshare -m mount -t tmpfs none /mnt"), MANY).await;
        let mounts = ["mount", "move_mount"];
        assert!(names(&seen).iter().any(|name| mounts.contains(name)), "{:?}", names(&seen));
        // Setuid programs keep working, unlike under `no_new_privs`.
        let text = "grep -x 'NoNewPrivs:.0' /proc/self/status";
        assert_eq!(observed(&keeper, quiet(text), MANY).await.1, Ended::Code(0));
    });
}

fn reports_have_a_limit() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let text = "for i in {1..500}; do echo $i >/dev/null; done; /bin/true; exit 3";
        for limit in [1, 2, 256] {
            let max = NonZeroU32::new(limit).unwrap();
            let (seen, ended) = observed(&keeper, quiet(text), max).await;
            assert_eq!(ended, Ended::Code(3));
            assert_eq!(calls(&seen).len(), limit as usize);
            assert_eq!(seen.len(), limit as usize + 1);
            let Some(Observation::Overflow { reported, pid }) = seen.last() else {
                panic!("{:?}", seen.last())
            };
            assert!(*reported == limit && *pid > 0);
        }
        let (seen, _) = observed(&keeper, quiet(text), MANY).await;
        assert_eq!(calls(&seen).len(), seen.len(), "no overflow");
        assert!(calls(&seen).len() > 500);
        // Many at once, each with its own.
        let jobs = (0..20).map(|_| {
            let keeper = keeper.clone();
            tokio::spawn(async move { observed(&keeper, quiet(text), MANY).await })
        });
        let jobs: Vec<_> = jobs.collect();
        for job in jobs {
            let (own, ended) = soon(job).await.unwrap();
            assert_eq!((names(&own), ended), (names(&seen), Ended::Code(3)));
        }
    });
}

/// Runs a job unobserved and observed, and returns the output and end of each.
async fn both(keeper: &Keeper, make: impl Fn(OwnedFd) -> Job) -> [(String, Ended); 2] {
    let (plain, plain_end) = output(keeper, &make).await.unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let (running, observations) = keeper.spawn_observed(make(writer.into()), MANY).await.unwrap();
    let mut reader = reader;
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
        bytes
    });
    let watched = soon(read).await.unwrap();
    let watched_end = soon(running.exit()).await;
    drop(running);
    assert!(!calls(&all(observations).await).is_empty());
    [(plain, plain_end), (watched, watched_end)]
        .map(|(bytes, ended)| (String::from_utf8_lossy(&bytes).into_owned(), ended))
}

fn like_any_other() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let texts = [
            "env | sed 's/-[0-9]*$/-N/'",
            "ls /proc/self/fd | tr '\\n' ' '",
            "grep -E '^(Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs|Uid|Gid|Groups|Umask)' /proc/$$/status",
            "exec grep -E '^(Sig(Blk|Ign|Cgt|Q)|Name)' /proc/self/status",
            "test $(cut -d' ' -f5-6 /proc/$$/stat | tr ' ' '\\n' | sort -u) = $$ && pwd; ulimit -a",
            "yes | head -n 1; echo ${PIPESTATUS[*]}",
            "tr '\\0' ' ' </proc/$$/cmdline; readlink /proc/$$/exe",
            "exit 7",
            "kill -TERM $$",
            "kill -SEGV $$",
            "trap 'echo trapped' TERM; (sleep 0.1; kill -TERM $$) & wait",
            "no-such-program; echo $?; cat /missing; echo $?",
        ];
        for text in texts {
            let make = |writer| Job { cwd: folder.path().to_owned(), ..shell(text, writer) };
            let [plain, watched] = both(&keeper, make).await;
            assert_eq!(watched, plain, "{text}");
        }
        // Large jobs travel another way.
        let large = "x".repeat(100_000);
        let make = |writer| {
            let mut job = shell("echo ${#V0} ${#V9}", writer);
            let variables = (0..10).map(|at| (format!("V{at}").into(), large.clone().into()));
            job.environment.extend(variables);
            job
        };
        let [plain, watched] = both(&keeper, make).await;
        assert_eq!(watched, plain);
        assert_eq!(watched.0, "100000 100000\n");
    });
}

fn a_terminal_like_any_other() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let text = "tty >/dev/null && stty size; ps -o tpgid= -p $$ | tr -d ' '; echo $$; echo >/dev/tty there";
        let (mut running, _observations) =
            keeper.spawn_observed(on_terminal(text), MANY).await.unwrap();
        let printed = screen(&mut running).await;
        let pid = running.pid();
        assert_eq!(
            printed.lines().collect::<Vec<_>>(),
            ["43 132", &format!("{pid}"), &format!("{pid}"), "there"]
        );
        assert_eq!(soon(running.exit()).await, Ended::Code(0));
    });
}

fn a_failed_start() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        executable(&path("interpreter"), "#!/missing/interpreter\n");
        executable(&path("text"), "neither ELF nor script\n");
        fs::write(path("plain"), "#!/bin/sh\n").unwrap();
        for name in ["missing", "interpreter", "text", "plain", "", "plain/below"] {
            for terminal in [false, true] {
                let make = || if terminal { on_terminal("exit") } else { quiet("exit") };
                let code = |error: StartError| match error {
                    StartError::Exec(cause) => cause.raw_os_error().unwrap(),
                    error => panic!("{name}: {error}"),
                };
                let plain = keeper.spawn(Job { program: path(name), ..make() }).await;
                let watched = Job { program: path(name), ..make() };
                let watched = keeper.spawn_observed(watched, MANY).await;
                assert_eq!(
                    code(watched.map(|_| ()).unwrap_err()),
                    code(plain.map(|_| ()).unwrap_err()),
                    "{name}"
                );
            }
        }
        let job = Job { cwd: path("missing"), ..quiet("exit") };
        let error = keeper.spawn_observed(job, MANY).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, StartError::Cwd(_)), "{error}");
        let pid = keeper.pid().await;
        until("launchers are left", || children(pid).is_empty()).await;
    });
}

/// Starts a process out of reach that works after a while: it opens, executes and writes.
fn survivor(path: &Path) -> String {
    let path = path.display();
    format!(
        "env -i setsid bash -c \"env -i setsid bash -c 'sleep 1; if /bin/true && /bin/echo done; then \
         /bin/echo well; else echo ENOSYS; fi >{path}' &\" & wait"
    )
}

fn a_survivor_goes_on() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        let (seen, ended) = observed(&keeper, quiet(&survivor(&path)), MANY).await;
        assert_eq!(ended, Ended::Code(0));
        assert!(names(&seen).len() > 3);
        until("it works after its call", || {
            fs::read_to_string(&path).is_ok_and(|text| text == "done\nwell\n")
        })
        .await;
        let pid = keeper.pid().await;
        let own = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        until("its filter is forgotten with it", || own() == 5).await;
    });
}

fn a_lost_keeper() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let token = token();
        let text = format!("setsid sleep {token} & trap '' TERM; while :; do sleep {token}; done");
        let (running, observations) = keeper.spawn_observed(quiet(&text), MANY).await.unwrap();
        until("all run", || living(&format!("sleep\0{token}")).len() == 2).await;
        let first = keeper.pid().await;
        kill_process(Pid::from_raw(first.cast_signed()).unwrap(), Signal::KILL).unwrap();
        assert_eq!(soon(running.exit()).await, Ended::Lost);
        drop(running);
        assert!(names(&all(observations).await).len() >= 3);
        let (seen, ended) = observed(&keeper, quiet("exit 6"), MANY).await;
        assert_eq!((names(&seen), ended), (BASH.to_vec(), Ended::Code(6)));
        until("the new one ends what the old one left", || living(&token).is_empty()).await;
    });
}

fn an_orderly_end() {
    if !can_observe() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    with_keeper(|keeper| async move {
        let text = format!(
            "trap '/bin/echo ended >{}; exit' TERM; echo >{}; while :; do sleep 0.1; done",
            path.display(),
            path.display()
        );
        let (running, _observations) = keeper.spawn_observed(quiet(&text), MANY).await.unwrap();
        until("it is ready", || path.exists()).await;
        assert!(keeper.close().await);
        assert_eq!(fs::read_to_string(&path).unwrap(), "ended\n");
        drop(running);
    });
}

fn no_descriptor_is_left() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let pid = keeper.pid().await;
        let jobs = (0..100).map(|at| {
            let keeper = keeper.clone();
            tokio::spawn(async move {
                let text =
                    format!("ls /proc/self/fd | tr '\\n' ' ' | grep -x '0 1 2 3 '; exit {at}");
                if at % 3 == 0 {
                    let missing = Job { program: "/missing".into(), ..quiet("") };
                    assert!(keeper.spawn_observed(missing, MANY).await.is_err());
                }
                let text = text.replace("| grep", "| grep -q");
                observed(&keeper, quiet(&text), MANY).await.1
            })
        });
        let jobs: Vec<_> = jobs.collect();
        for (at, job) in jobs.into_iter().enumerate() {
            assert_eq!(soon(job).await.unwrap(), Ended::Code(at as i32));
        }
        let own = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        // Three of `/dev/null`, the socket, and the one of signals.
        until("the keeper has more descriptors than its own", || own() == 5).await;
        until("zombies are left", || children(pid).is_empty()).await;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(status.contains("Threads:\t1\n"));
    });
}

fn more_than_the_limit() {
    if !can_observe() {
        return;
    }
    with_keeper(|keeper| async move {
        let sleep = || Job {
            program: "/bin/sleep".into(),
            argv: vec!["sleep".into(), "1000".into()],
            ..quiet("")
        };
        let mut jobs: Vec<(Running, Observations)> = Vec::new();
        for _ in 0..512 {
            jobs.push(keeper.spawn_observed(sleep(), MANY).await.unwrap());
        }
        let (running, mut observations) = keeper.spawn_observed(sleep(), MANY).await.unwrap();
        let first = soon(observations.next()).await;
        assert_eq!(first, Some(Observation::Unobserved(Unobserved::Full)));
        assert!(stat(running.pid()).is_some());
        let (first, seen) = jobs.pop().unwrap();
        soon(first.end(Duration::ZERO)).await.unwrap();
        drop(first);
        assert_eq!(names(&all(seen).await), ["execve"]);
        let free = async || {
            let (running, mut seen) = keeper.spawn_observed(sleep(), MANY).await.unwrap();
            let is_call = matches!(soon(seen.next()).await, Some(Observation::Call(_)));
            drop(running);
            is_call
        };
        while !soon(free()).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
}
