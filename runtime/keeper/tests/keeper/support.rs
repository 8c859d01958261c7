//! Jobs and processes of the tests.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, pipe};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use relay_keeper::{Ended, Job, Keeper, Running, Size, StartError, Started, Streams};

/// A generous limit of time for anything that a keeper does.
pub(crate) const SOON: Duration = Duration::from_secs(15);

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs a test with a keeper that was started before the runtime.
pub(crate) fn with_keeper<F: Future<Output = ()>>(test: impl FnOnce(Keeper) -> F) {
    let started = Started::start(&env::current_exe().unwrap()).unwrap();
    runtime().block_on(async {
        let keeper = started.attach().unwrap();
        test(keeper.clone()).await;
        assert!(keeper.close().await, "the keeper is still there");
    });
}

/// A number for `sleep` that no other process has in its arguments.
pub(crate) fn token() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("1000.{}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A shell that runs this text, with this standard output and error.
pub(crate) fn shell(text: &str, output: OwnedFd) -> Job {
    let input = fs::File::open("/dev/null").unwrap().into();
    let error = output.try_clone().unwrap();
    job(text, Streams::Descriptors { input, output, error })
}

/// A shell that runs this text on a terminal.
pub(crate) fn on_terminal(text: &str) -> Job {
    job(text, Streams::Terminal(Size { columns: 132, rows: 43 }))
}

/// A shell that runs this text and whose output is thrown away.
pub(crate) fn quiet(text: &str) -> Job {
    shell(text, fs::File::options().write(true).open("/dev/null").unwrap().into())
}

fn job(text: &str, streams: Streams) -> Job {
    Job {
        program: "/bin/bash".into(),
        argv: ["bash", "--norc", "--noprofile", "-c", text].map(OsString::from).into(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        cwd: "/".into(),
        streams,
    }
}

/// Runs a job that `make` makes of an output; returns what was written to it, and the end.
pub(crate) async fn output(
    keeper: &Keeper,
    make: impl FnOnce(OwnedFd) -> Job,
) -> Result<(Vec<u8>, Ended), StartError> {
    let (mut reader, writer) = pipe().unwrap();
    let running = keeper.spawn(make(writer.into())).await?;
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    });
    Ok((read.await.unwrap(), soon(running.exit()).await))
}

/// Reads a terminal until its other side is closed.
pub(crate) async fn screen(running: &mut Running) -> String {
    let mut terminal = fs::File::from(running.terminal.take().unwrap());
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        // The end of a terminal is an error.
        let _ = terminal.read_to_end(&mut bytes);
        bytes
    });
    String::from_utf8(soon(read).await.unwrap()).unwrap()
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.expect("it takes too long")
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < SOON, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the ids of the living processes that have a text among their arguments. Zombies have no
/// arguments.
pub(crate) fn living(text: &str) -> Vec<u32> {
    let own = std::process::id();
    let ids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let arguments = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        (id != own && arguments.contains(text)).then_some(id)
    });
    ids.collect()
}

/// Returns the fields of a process after its name, the state first.
pub(crate) fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Returns the children of a process, zombies included.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let is_child = |stat: Vec<String>| stat[1] == pid.to_string();
    let ids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        stat(id).is_some_and(is_child).then_some(id)
    });
    ids.collect()
}

/// Writes an executable file.
pub(crate) fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
