//! Processes that tests and benchmarks start: always killed in the end, and every wait has a limit.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "it runs programs and looks at the clock, and a test ends by panicking"
)]

use std::any::Any;
use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The limit of every wait, generous for a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The interval between two checks.
const POLL: Duration = Duration::from_millis(2);

/// A process that is killed when this is dropped. Its standard error is read continuously, so a
/// full pipe is impossible.
pub struct Process {
    child: Child,
    log: Log,
    reader: Option<JoinHandle<()>>,
    kept: Vec<Box<dyn Any + Send + Sync>>,
}

/// The result of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output, unless `stdout` was taken.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// The standard error of a process so far.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<Vec<u8>>, Condvar)>);

/// Returns a command in `folder` with pipes for all streams and an empty environment.
pub fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let program = program.as_ref();
    let mut command = Command::new(located(program));
    command.arg0(program).current_dir(folder).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the path of a program that is named, by the `PATH` of the tests. The standard library looks a name up in a copy of
/// this process, of all its memory, if the program gets another environment.
fn located(program: &OsStr) -> PathBuf {
    let name = Path::new(program);
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut paths = env::split_paths(&folders).map(|folder| folder.join(name));
    match name.components().count() {
        1 => paths.find(|path| path.is_file()).unwrap_or_else(|| name.to_owned()),
        _ => name.to_owned(),
    }
}

/// Runs a command that is expected to end by itself; its input is empty.
///
/// # Panics
///
/// If it fails to start, runs too long, or writes invalid UTF-8.
#[must_use]
pub fn run(mut command: Command) -> Ended {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(command);
    let mut stdout = process.stdout();
    let stdout = thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8(bytes).expect("standard output is UTF-8")
    });
    let ended = process.wait();
    Ended { stdout: stdout.join().expect("standard output was read"), ..ended }
}

impl Process {
    /// Starts a command.
    ///
    /// # Panics
    ///
    /// If it fails to start.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let begun = Instant::now();
        let mut child = loop {
            match command.spawn() {
                Ok(child) => break child,
                // A test copied the program while another thread started one, which holds the open copy until its
                // own program begins.
                Err(error)
                    if error.kind() == ErrorKind::ExecutableFileBusy
                        && begun.elapsed() < Duration::from_secs(5) =>
                {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{command:?}: {error}"),
            }
        };
        let log = Log::default();
        let reader = child.stderr.take().map(|mut stderr| {
            let log = log.clone();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stderr.read(&mut buffer) {
                    log.add(buffer.get(..length).unwrap_or_default());
                }
            })
        });
        Self { child, log, reader, kept: Vec::new() }
    }

    /// Keeps a value, such as the folder it runs in, for the lifetime of the process.
    pub fn keep(&mut self, kept: impl Any + Send + Sync) {
        self.kept.push(Box::new(kept));
    }

    /// Returns the id of the process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes standard input, if it is a pipe that is still here.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes standard output.
    ///
    /// # Panics
    ///
    /// If it is another thing than a pipe, or was taken.
    pub fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("standard output is a pipe that no one took")
    }

    /// Writes to standard input in the background, since the process may leave a part unread.
    ///
    /// # Panics
    ///
    /// If standard input was taken.
    pub fn write_unread(&mut self, bytes: Vec<u8>) {
        let mut to = self.stdin().expect("standard input is open");
        thread::spawn(move || _ = to.write_all(&bytes));
        // Gives the pipe time to fill.
        thread::sleep(Duration::from_secs(1));
    }

    /// Returns the standard error so far.
    #[must_use]
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock()).into_owned()
    }

    /// Waits until standard error contains `words`, and returns all of it.
    ///
    /// # Panics
    ///
    /// If they fail to appear in time.
    pub fn hear(&self, words: &str) -> String {
        let has_none = |log: &mut Vec<u8>| !String::from_utf8_lossy(log).contains(words);
        let (_, changed) = &*self.log.0;
        let heard = changed.wait_timeout_while(self.log.lock(), PATIENCE, has_none);
        let (log, late) = heard.unwrap_or_else(PoisonError::into_inner);
        let log = String::from_utf8_lossy(&log).into_owned();
        assert!(!late.timed_out(), "standard error never had `{words}`:\n{log}");
        log
    }

    /// Sends a signal by its name.
    ///
    /// # Panics
    ///
    /// If sending fails.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id().to_string()]).status();
        assert!(status.expect("`kill` runs").success(), "no signal {name}");
    }

    /// Returns whether processes that are started here ignore a signal: a shell that starts a command in the
    /// background without job control has it ignore `INT`, and all that it starts inherit this.
    ///
    /// # Panics
    ///
    /// If no shell starts.
    #[must_use]
    pub fn ignores(name: &str) -> bool {
        let shell = Command::new("sh").arg("-c").arg(format!("kill -s {name} $$")).status();
        shell.expect("`sh` runs").success()
    }

    /// Waits for the process to end, and for the rest of standard error.
    ///
    /// # Panics
    ///
    /// If it runs too long, or standard error is invalid UTF-8.
    pub fn wait(&mut self) -> Ended {
        let status = self.status();
        if let Some(reader) = self.reader.take() {
            reader.join().expect("standard error was read");
        }
        let stderr = String::from_utf8(self.log.lock().clone()).expect("standard error is UTF-8");
        Ended { code: status.code(), stdout: String::new(), stderr }
    }

    fn status(&mut self) -> ExitStatus {
        let limit = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().expect("a child can be waited for") {
                Some(status) => return status,
                None if Instant::now() > limit => panic!("it does not end:\n{}", self.log()),
                None => thread::sleep(POLL),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, bytes: &[u8]) {
        self.lock().extend_from_slice(bytes);
        self.0.1.notify_all();
    }
}
