//! The same against OpenSSH. Each test returns at once where the machine has no `sshd` or lacks the
//! rights to start it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use relay_ssh::{
    Command, End, Fate, Hop, HostKeyMode, Identity, Pool, Route, TerminalRequest, TransferOptions,
    keyscan,
};
use russh::keys::PrivateKey;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::Child;

use crate::support::{Known, command, ed25519, limits, never, pool, rsa, until, write_key};

/// The place of the server program on common systems.
const PROGRAMS: [&str; 2] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"];

struct OpenSsh {
    folder: TempDir,
    port: u16,
    user: String,
    host_key: PrivateKey,
    user_key: PathBuf,
    rsa_key: PathBuf,
    _child: Child,
}

impl OpenSsh {
    async fn start() -> Option<Self> {
        let program = PROGRAMS.iter().find(|path| Path::new(path).exists())?;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (host_key, user_key, rsa_key) = (ed25519(), ed25519(), rsa());
        let host_path = write_key(folder.path(), "host", &host_key);
        let user_path = write_key(folder.path(), "user", &user_key);
        let rsa_path = write_key(folder.path(), "rsa", &rsa_key);
        let authorized: String = [&user_key, &rsa_key]
            .map(|key| key.public_key().to_openssh().unwrap().trim().to_owned() + "\n")
            .concat();
        std::fs::write(at("authorized"), authorized).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\n\
             PasswordAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
             Subsystem sftp internal-sftp\n",
            host_path.display(),
            at("authorized").display()
        );
        std::fs::write(at("settings"), settings).unwrap();
        if rustix::process::geteuid().is_root() {
            // OpenSSH separates its privileges there.
            let _ = std::fs::create_dir_all("/run/sshd");
        }
        let mut starting = tokio::process::Command::new(program);
        starting.arg("-D").arg("-f").arg(at("settings")).arg("-E").arg(at("log"));
        let mut child = starting.stdin(Stdio::null()).kill_on_drop(true).spawn().ok()?;
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                let user = String::from_utf8(
                    tokio::process::Command::new("id").arg("-un").output().await.unwrap().stdout,
                );
                let user = user.unwrap().trim().to_owned();
                return Some(Self {
                    folder,
                    port,
                    user,
                    host_key,
                    user_key: user_path,
                    rsa_key: rsa_path,
                    _child: child,
                });
            }
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        None
    }

    fn hop(&self) -> Hop {
        Hop {
            alias: "openssh".to_owned(),
            address: "127.0.0.1".to_owned(),
            port: self.port,
            user: self.user.clone(),
            identities: vec![Identity { key: self.user_key.clone(), certificate: None }],
            identities_only: false,
            agent: None,
            known_as: "127.0.0.1".to_owned(),
            trust: Arc::new(Known::keys(&[&self.host_key])),
            mode: HostKeyMode::Strict,
        }
    }

    /// A server that is not root cannot hand a terminal to its user.
    fn gives_terminals(&self) -> bool {
        self.user == "root"
    }

    fn route(&self) -> Route {
        Route { hops: vec![self.hop()] }
    }
}

#[tokio::test]
async fn commands_have_outputs_input_and_ends() {
    let Some(host) = OpenSsh::start().await else { return };
    let pool = pool();
    let finished =
        pool.run(&host.route(), command("echo out; echo err >&2; exit 7"), never()).await.unwrap();
    assert!(finished.stdout.ends_with(b"out\n") && finished.stderr.ends_with(b"err\n"));
    assert_eq!(finished.end, End::Exited(7));
    let finished = pool.run(&host.route(), command("kill -9 $$"), never()).await.unwrap();
    assert_eq!(finished.end, End::Signalled("KILL".to_owned()));
    let input = vec![b'x'; 5_000_000];
    let finished =
        pool.run(&host.route(), Command { input, ..command("wc -c") }, never()).await.unwrap();
    assert_eq!(String::from_utf8(finished.stdout).unwrap().trim(), "5000000");
    let big = Command { output_bytes_max: 9, ..command("head -c 50000000 /dev/zero") };
    let finished = pool.run(&host.route(), big, never()).await.unwrap();
    assert_eq!((finished.stdout_bytes, finished.end), (50_000_000, End::Exited(0)));
    let held = command("sleep 60 >/dev/null & sleep 20 & exit 3");
    assert_eq!(pool.run(&host.route(), held, never()).await.unwrap().end, End::Exited(3));
    assert_eq!(pool.connections(), 1);
    if !host.gives_terminals() {
        return;
    }
    let input = b"one line".to_vec();
    let typed = Command { terminal: true, input, ..command("cat; tty >/dev/null && exit 4") };
    let finished = pool.run(&host.route(), typed, never()).await.unwrap();
    assert!(String::from_utf8_lossy(&finished.stdout).contains("one line"));
    assert_eq!(finished.end, End::Exited(4));
}

#[tokio::test]
async fn rsa_and_jumps_work() {
    let (Some(jump), Some(host)) = (OpenSsh::start().await, OpenSsh::start().await) else { return };
    let mut last = host.hop();
    last.identities[0].key = host.rsa_key.clone();
    let route = Route { hops: vec![jump.hop(), last] };
    let pool = pool();
    let finished = pool.run(&route, command("echo $SSH_CONNECTION"), never()).await.unwrap();
    assert_eq!(finished.end, End::Exited(0));
    // Much in both directions at once.
    let input = vec![b'x'; 40_000_000];
    let both = Command { input, ..command("cat") };
    let finished = pool.run(&route, both, never()).await.unwrap();
    assert_eq!((finished.stdout_bytes, finished.end), (40_000_000, End::Exited(0)));
    let keys = keyscan(&route, &limits()).await.unwrap();
    assert_eq!(keys.iter().filter(|key| key.found.is_some()).count(), 1);
}

#[tokio::test]
async fn files_go_both_ways() {
    let Some(host) = OpenSsh::start().await else { return };
    let pool = pool();
    let at = |name: &str| host.folder.path().join(name);
    let tree = at("tree");
    std::fs::create_dir_all(tree.join("deep")).unwrap();
    let content: Vec<u8> =
        (0..5_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(tree.join("deep/big"), &content).unwrap();
    std::fs::write(tree.join("small"), "x").unwrap();
    let options = TransferOptions {
        recursive: true,
        entries_max: 100,
        bytes_max: 10_000_000,
        timeout: Duration::from_secs(60),
    };
    let (copy, back) = (at("copy"), at("back"));
    // Twice: the second replaces what the first made.
    for _ in 0..2 {
        let up = pool
            .upload(&host.route(), (&tree, copy.to_str().unwrap()), &options, never())
            .await
            .unwrap();
        assert_eq!((up.files, up.folders, up.bytes), (2, 2, 5_000_001));
        let down = pool
            .download(&host.route(), (copy.to_str().unwrap(), &back), &options, never())
            .await
            .unwrap();
        assert_eq!((down.files, down.folders, down.bytes), (2, 2, 5_000_001));
    }
    assert!(std::fs::read(back.join("deep/big")).unwrap() == content);
    let status = at("status");
    pool.download(&host.route(), ("/proc/version", &status), &options, never()).await.unwrap();
    assert!(std::fs::metadata(status).unwrap().len() > 0);
    let full = pool
        .upload(&host.route(), (&tree.join("small"), "/proc/none"), &options, never())
        .await
        .unwrap_err();
    assert!(full.to_string().contains("create"), "{full}");
}

#[tokio::test]
async fn more_sessions_than_a_server_allows_get_more_connections() {
    let Some(host) = OpenSsh::start().await else { return };
    let pool = pool();
    let tasks: Vec<_> = (0..30)
        .map(|_| {
            let (pool, route) = (pool.clone(), host.route());
            tokio::spawn(async move { pool.run(&route, command("sleep 0.3"), never()).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap().end, End::Exited(0));
    }
}

#[tokio::test]
async fn a_timeout_says_what_became_of_the_command() {
    let Some(host) = OpenSsh::start().await else { return };
    let timeout = Duration::from_millis(1500);
    let pid = host.folder.path().join("pid");
    let text = format!("echo $$ > {}; exec sleep 30", pid.display());
    let running = Command { timeout, ..command(&text) };
    let finished = pool().run(&host.route(), running, never()).await.unwrap();
    // OpenSSH signals nobody where root logs in.
    let expected = if host.user == "root" { Fate::MayStillRun } else { Fate::Ended };
    assert_eq!(finished.end, End::TimedOut(expected));
    let running = Command { timeout, terminal: true, ..command(&text) };
    pool().run(&host.route(), running, never()).await.unwrap();
    let pid = std::fs::read_to_string(&pid).unwrap();
    let gone = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        state.map_or(true, |state| state.contains(") Z"))
    };
    until("the terminal is hung up", gone).await;
}

#[tokio::test]
async fn a_terminal_is_a_terminal() {
    let Some(host) = OpenSsh::start().await.filter(OpenSsh::gives_terminals) else { return };
    let pool = Pool::new(limits());
    let request = TerminalRequest {
        command: Some(b"stty size; read x; stty size; echo got $x; exit 5".to_vec()),
        name: "xterm-256color".to_owned(),
        columns: 100,
        rows: 30,
    };
    let terminal = pool.terminal(&host.route(), request).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("30 100") {
        seen.push_str(&String::from_utf8_lossy(&terminal.read().await.unwrap().bytes));
    }
    terminal.resize(132, 43).await.unwrap();
    terminal.write(b"word\n".to_vec()).await.unwrap();
    while let Some(chunk) = terminal.read().await {
        seen.push_str(&String::from_utf8_lossy(&chunk.bytes));
    }
    assert!(seen.contains("43 132") && seen.contains("got word"), "{seen}");
    assert_eq!(terminal.ended().await, End::Exited(5));
}
