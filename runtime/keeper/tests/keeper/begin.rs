//! Starts: what a job gets, and the errors of those that cannot start.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use relay_keeper::{ARGUMENT, BODY_BYTES_MAX, Ended, JOBS_MAX, Job, MARK, STRINGS_MAX, StartError};

use crate::Test;
use crate::support::{
    children, executable, on_terminal, output, quiet, screen, shell, soon, stat, until, with_keeper,
};

pub(crate) const TESTS: &[Test] = &[
    ("begin::codes_and_signals_are_reported", codes_and_signals_are_reported),
    ("begin::a_failed_start_is_an_error", a_failed_start_is_an_error),
    ("begin::arguments_and_environment_are_exact", arguments_and_environment_are_exact),
    (
        "begin::large_jobs_run_and_larger_ones_are_refused",
        large_jobs_run_and_larger_ones_are_refused,
    ),
    ("begin::malformed_jobs_are_refused", malformed_jobs_are_refused),
    ("begin::a_job_begins_in_its_folder_with_usual_signals", a_job_begins_in_its_folder),
    ("begin::a_job_has_three_descriptors", a_job_has_three_descriptors),
    ("begin::two_hundred_jobs_run_at_once", two_hundred_jobs_run_at_once),
    ("begin::more_jobs_than_the_limit_are_refused", more_jobs_than_the_limit_are_refused),
    ("begin::the_leader_keeps_its_id_until_the_release", the_leader_keeps_its_id),
    ("begin::the_keeper_needs_its_socket", the_keeper_needs_its_socket),
];

fn codes_and_signals_are_reported() {
    with_keeper(|keeper| async move {
        let ends = [
            ("exit 0", Ended::Code(0)),
            ("exit 3", Ended::Code(3)),
            ("exit 255", Ended::Code(255)),
            ("kill -TERM $$", Ended::Signal(15)),
            ("kill -KILL $$", Ended::Signal(9)),
            ("kill -SEGV $$", Ended::Signal(11)),
        ];
        for (text, ended) in ends {
            let running = keeper.spawn(quiet(text)).await.unwrap();
            assert_eq!(soon(running.exit()).await, ended, "{text}");
            assert_eq!(soon(running.exit()).await, ended, "asked again");
        }
    });
}

fn a_failed_start_is_an_error() {
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        executable(&path("interpreter"), "#!/missing/interpreter\n");
        executable(&path("text"), "neither ELF nor script\n");
        fs::write(path("plain"), "#!/bin/sh\n").unwrap();
        let programs = [
            ("missing", libc_code("ENOENT")),
            ("interpreter", libc_code("ENOENT")),
            ("text", libc_code("ENOEXEC")),
            ("plain", libc_code("EACCES")),
            ("", libc_code("EACCES")),
            ("plain/below", libc_code("ENOTDIR")),
        ];
        for terminal in [false, true] {
            let make = || if terminal { on_terminal("exit") } else { quiet("exit") };
            for (name, code) in programs {
                let job = Job { program: path(name), ..make() };
                let error = keeper.spawn(job).await.map(|_| ()).unwrap_err();
                let StartError::Exec(cause) = &error else { panic!("{name}: {error}") };
                assert_eq!(cause.raw_os_error(), Some(code), "{name}: {error}");
            }
            for name in ["missing", "plain"] {
                let job = Job { cwd: path(name), ..make() };
                let error = keeper.spawn(job).await.map(|_| ()).unwrap_err();
                assert!(matches!(error, StartError::Cwd(_)), "{name}: {error}");
            }
        }
        assert_eq!(children(keeper.pid().await), [0; 0], "something was started");
    });
}

/// The numbers of errors, which are the same on the machines that Linux runs on.
fn libc_code(name: &str) -> i32 {
    match name {
        "ENOENT" => 2,
        "E2BIG" => 7,
        "ENOEXEC" => 8,
        "EACCES" => 13,
        "ENOTDIR" => 20,
        _ => panic!("{name}"),
    }
}

fn arguments_and_environment_are_exact() {
    with_keeper(|keeper| async move {
        let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let argv = [&b"c\xff\n t"[..], b"/proc/self/cmdline", b"/proc/self/environ", b"--", b""];
        let environment = [
            (&b"PLAIN"[..], &b"x"[..]),
            (b"\xfe\n", b"a=b\n\xff"),
            (b"EMPTY", b""),
            (b"RELAY_CALL", b"forged"),
        ];
        let make = |writer| Job {
            program: "/bin/cat".into(),
            argv: argv.map(bytes).into(),
            environment: environment.map(|(name, value)| (bytes(name), bytes(value))).into(),
            ..shell("", writer)
        };
        let (printed, _) = output(&keeper, make).await.unwrap();
        let mut expected = argv.map(|word| [word, b"\0"].concat()).concat();
        let mark = format!("{MARK}=");
        let at = expected.len() + mark.len();
        let end = at + printed[at..].iter().position(|byte| *byte == 0).unwrap();
        expected.extend([mark.as_bytes(), &printed[at..end], b"\0"].concat());
        for (name, value) in &environment[..3] {
            expected.extend([*name, b"=", *value, b"\0"].concat());
        }
        // `cat` complains of the empty path, which is the last.
        assert_eq!(printed[..expected.len()], expected, "{}", String::from_utf8_lossy(&printed));
        assert!(!printed[at..end].is_empty() && !printed[at..end].starts_with(b"forged"));
    });
}

fn large_jobs_run_and_larger_ones_are_refused() {
    with_keeper(|keeper| async move {
        let large = |text: &str, count: usize, length: usize| {
            let value = OsString::from("x".repeat(length));
            let variables = (0..count).map(|at| (format!("V{at}").into(), value.clone()));
            let mut job = quiet(text);
            job.environment.extend(variables);
            job
        };
        // Above and below the size that travels inside a message.
        for length in [32_600, 32_768, 100_000] {
            let text = format!("test ${{#V0}} = {length} && test ${{#V9}} = {length}");
            let running = keeper.spawn(large(&text, 10, length)).await.unwrap();
            assert_eq!(soon(running.exit()).await, Ended::Code(0), "{length}");
        }
        let error = keeper.spawn(large("exit", 50, 100_000)).await.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(&BODY_BYTES_MAX.to_string()), "{error}");
        assert!(matches!(error, StartError::TooLarge { bytes } if bytes > 5_000_000), "{error}");
        let error = keeper.spawn(large("exit", STRINGS_MAX, 1)).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, StartError::TooMany { .. }), "{error}");
        // Within our limit, above the kernel's for one text.
        let error = keeper.spawn(large("exit", 1, 200_000)).await.map(|_| ()).unwrap_err();
        let StartError::Exec(cause) = &error else { panic!("{error}") };
        assert_eq!(cause.raw_os_error(), Some(libc_code("E2BIG")), "{error}");
    });
}

fn malformed_jobs_are_refused() {
    with_keeper(|keeper| async move {
        let variable = |name: &str, value: &str| vec![(name.into(), value.into())];
        let jobs = [
            Job { program: "bash".into(), ..quiet("exit") },
            Job { cwd: "tmp".into(), ..quiet("exit") },
            Job { argv: Vec::new(), ..quiet("exit") },
            Job { argv: vec!["a\0b".into()], ..quiet("exit") },
            Job { environment: variable("A\0", "b"), ..quiet("exit") },
            Job { environment: variable("A=", "b"), ..quiet("exit") },
            Job { environment: variable("", "b"), ..quiet("exit") },
        ];
        for job in jobs {
            let shown = format!("{job:?}");
            let error = keeper.spawn(job).await.map(|_| ()).unwrap_err();
            assert!(matches!(error, StartError::Invalid(_)), "{shown}: {error}");
        }
    });
}

fn a_job_begins_in_its_folder() {
    with_keeper(|keeper| async move {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let text = "pwd; umask; grep -E '^Sig(Blk|Ign)' /proc/self/status; cut -d' ' -f5-6 /proc/$$/stat; \
                    echo $$; readlink /proc/$PPID/cwd";
        let make = |writer| Job { cwd: folder.clone(), ..shell(text, writer) };
        let (printed, _) = output(&keeper, make).await.unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        let umask = Command::new("sh").args(["-c", "umask"]).output().unwrap();
        assert_eq!(Path::new(lines[0]), folder);
        assert_eq!(lines[1].trim_start_matches('0'), trimmed(&umask.stdout));
        assert_eq!(lines[2], "SigBlk:\t0000000000000000");
        // 32 and 33 belong to the C library, which ignores them in all that it spawns.
        let (_, ignored) = lines[3].split_once('\t').unwrap();
        assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & !0x1_8000_0000, 0, "{ignored}");
        // Group and session are the leader's.
        assert_eq!(lines[4], format!("{0} {0}", lines[5]));
        assert_eq!(lines[6], "/", "the keeper stays outside of folders that may be unmounted");
    });
}

fn trimmed(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().trim_start_matches('0').to_owned()
}

fn a_job_has_three_descriptors() {
    // Left open by the server, as a shell or a service manager may leave it to the server.
    let (_reader, leaked) = std::io::pipe().unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    with_keeper(|keeper| async move {
        // `ls` has the folder that it lists as descriptor 3.
        let text = "ls /proc/self/fd | tr '\\n' ' '";
        let jobs = (0..50).map(|at| {
            let keeper = keeper.clone();
            tokio::spawn(async move {
                if at % 2 == 0 {
                    let (printed, _) = output(&keeper, |writer| shell(text, writer)).await.unwrap();
                    String::from_utf8(printed).unwrap()
                } else {
                    let mut running = keeper.spawn(on_terminal(text)).await.unwrap();
                    screen(&mut running).await
                }
            })
        });
        let jobs: Vec<_> = jobs.collect();
        for job in jobs {
            assert_eq!(soon(job).await.unwrap(), "0 1 2 3 ");
        }
        let pid = keeper.pid().await;
        let own = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        // Three of `/dev/null`, the socket, and the one of signals.
        until("the keeper has more descriptors than its own", || own() == 5).await;
    });
}

fn two_hundred_jobs_run_at_once() {
    with_keeper(|keeper| async move {
        let jobs = (0..200).map(|at| {
            let keeper = keeper.clone();
            tokio::spawn(async move {
                let text = format!("sleep 0.3; echo {at}; exit {}", at % 100);
                let (printed, ended) =
                    output(&keeper, |writer| shell(&text, writer)).await.unwrap();
                (at, String::from_utf8(printed).unwrap(), ended)
            })
        });
        let jobs: Vec<_> = jobs.collect();
        for job in jobs {
            let (at, printed, ended) = soon(job).await.unwrap();
            assert_eq!((printed, ended), (format!("{at}\n"), Ended::Code(at % 100)));
        }
        let pid = keeper.pid().await;
        until("zombies are left", || children(pid).is_empty()).await;
    });
}

fn more_jobs_than_the_limit_are_refused() {
    with_keeper(|keeper| async move {
        let job = || Job { program: "/bin/true".into(), ..quiet("") };
        let mut jobs = Vec::new();
        for _ in 0..JOBS_MAX {
            jobs.push(keeper.spawn(job()).await.unwrap());
        }
        let error = keeper.spawn(job()).await.map(|_| ()).unwrap_err();
        assert!(matches!(error, StartError::Admit(_)), "{error}");
        assert!(error.to_string().contains(&JOBS_MAX.to_string()), "{error}");
        jobs.pop();
        let pid = keeper.pid().await;
        until("a place is free", || children(pid).len() < JOBS_MAX).await;
        jobs.push(keeper.spawn(job()).await.unwrap());
        drop(jobs);
        until("zombies are left", || children(pid).is_empty()).await;
    });
}

fn the_leader_keeps_its_id() {
    with_keeper(|keeper| async move {
        let running = keeper.spawn(quiet("exit 4")).await.unwrap();
        assert_eq!(soon(running.exit()).await, Ended::Code(4));
        assert_eq!(stat(running.pid()).unwrap()[0], "Z");
        assert_eq!(soon(running.end(std::time::Duration::ZERO)).await.unwrap(), 0);
        assert_eq!(stat(running.pid()).unwrap()[0], "Z");
        let pid = running.pid();
        drop(running);
        until("the leader is still a zombie", || stat(pid).is_none()).await;
    });
}

fn the_keeper_needs_its_socket() {
    let own = std::env::current_exe().unwrap();
    for input in [Stdio::null(), Stdio::piped()] {
        let status = Command::new(&own).arg(ARGUMENT).stdin(input).status().unwrap();
        assert_eq!(status.code(), Some(2));
    }
}
