//! Jobs on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use relay_keeper::{Ended, Reach, Signal};

use crate::Test;
use crate::support::{living, on_terminal, screen, soon, token, until, with_keeper};

pub(crate) const TESTS: &[Test] = &[
    ("terminal::it_controls_the_session_and_has_its_size", it_controls_the_session),
    ("terminal::job_control_works", job_control_works),
    ("terminal::a_signal_reaches_every_group_of_the_session", a_signal_reaches_every_group),
    ("terminal::an_interactive_shell_ends_by_hang_up", an_interactive_shell_ends),
];

fn it_controls_the_session() {
    with_keeper(|keeper| async move {
        let text = "tty; stty size; ps -o pid=,pgid=,sid=,tpgid=,tty= -p $$; echo >/dev/tty there";
        let mut running = keeper.spawn(on_terminal(text)).await.unwrap();
        let printed = screen(&mut running).await;
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines[0].starts_with("/dev/pts/"), "{printed}");
        assert_eq!(lines[1], "43 132");
        let pid = running.pid().to_string();
        let fields: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(fields, [&pid, &pid, &pid, &pid, lines[0].trim_start_matches("/dev/")]);
        assert_eq!(lines[3], "there");
        assert_eq!(soon(running.exit()).await, Ended::Code(0));
    });
}

fn job_control_works() {
    with_keeper(|keeper| async move {
        let token = token();
        let mut job = on_terminal("");
        job.argv = ["bash", "--norc", "--noprofile", "-i"].map(Into::into).into();
        let mut running = keeper.spawn(job).await.unwrap();
        let mut terminal = File::from(running.terminal.take().unwrap());
        let mut typed = terminal.try_clone().unwrap();
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            let _ = terminal.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        typed.write_all(format!("sleep {token}\n").as_bytes()).unwrap();
        until("the program runs", || !living(&token).is_empty()).await;
        // Stop it, go on in the background, then in the foreground, interrupt it.
        typed.write_all(b"\x1a").unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        typed.write_all(b"bg\njobs\nfg\n").unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        typed.write_all(b"\x03").unwrap();
        until("the program is interrupted", || living(&token).is_empty()).await;
        typed.write_all(b"exit 7\n").unwrap();
        assert_eq!(soon(running.exit()).await, Ended::Code(7));
        drop(typed);
        let printed = soon(read).await.unwrap();
        assert!(printed.contains("Stopped") && printed.contains("Running"), "{printed}");
        assert!(!printed.contains("no job control"), "{printed}");
    });
}

fn a_signal_reaches_every_group() {
    with_keeper(|keeper| async move {
        let token = token();
        // With `-m` each of the three has a group of its own, and the shell another one.
        let text = format!("set -m; trap : TERM; for i in 1 2 3; do sleep {token} & done; cat");
        let running = keeper.spawn(on_terminal(&text)).await.unwrap();
        until("all run", || living(&format!("sleep\0{token}")).len() == 3).await;
        assert_eq!(soon(running.signal(Signal::TERM, Reach::Group)).await.unwrap(), 1);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(living(&format!("sleep\0{token}")).len(), 3, "the group is the leader's alone");
        let groups = soon(running.signal(Signal::TERM, Reach::Session)).await.unwrap();
        assert!(groups >= 4, "{groups} groups");
        until("the session got it", || living(&format!("sleep\0{token}")).is_empty()).await;
        assert_eq!(soon(running.end(Duration::from_secs(1))).await.unwrap(), 0);
    });
}

fn an_interactive_shell_ends() {
    with_keeper(|keeper| async move {
        let mut job = on_terminal("");
        job.argv = ["bash", "--norc", "--noprofile", "-i"].map(Into::into).into();
        let mut running = keeper.spawn(job).await.unwrap();
        let terminal = running.terminal.take().unwrap();
        let mut bytes = [0; 100];
        let mut reader = File::from(terminal.try_clone().unwrap());
        assert!(reader.read(&mut bytes).unwrap() > 0, "a prompt");
        assert_eq!(soon(running.end(Duration::from_secs(10))).await.unwrap(), 0);
        assert_eq!(soon(running.exit()).await, Ended::Signal(1), "it ignores TERM");
        drop(terminal);
    });
}
