//! A program that is given a text, and whose end is waited for within a limit of time.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The interval of checks for the end.
const POLL: Duration = Duration::from_millis(5);
/// The most bytes of an output that are kept.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// The end of a program.
#[derive(Debug)]
pub(crate) struct Ending {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

/// Runs a program with a text on its standard input; a program that does not end is killed, and is an
/// error.
#[expect(
    clippy::disallowed_methods,
    reason = "clients are asked for their version, and their hooks played"
)]
pub(crate) fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    input: &str,
    limit: Duration,
) -> io::Result<Ending> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().map(reader).transpose()?;
    let stderr = child.stderr.take().map(reader).transpose()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program that does not read its input shows in its answer.
        thread::Builder::new()
            .name("input".into())
            .spawn(move || _ = stdin.write_all(input.as_bytes()))?;
    }
    let code = match wait(&mut child, limit) {
        Ok(code) => code,
        Err(error) => {
            // It may have ended in between.
            _ = child.kill();
            _ = child.wait();
            return Err(error);
        }
    };
    Ok(Ending { code, stdout: text(stdout, limit)?, stderr: text(stderr, limit)? })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<i32>> {
    let polls = limit.as_millis() / POLL.as_millis();
    for _ in 0..polls {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        thread::sleep(POLL);
    }
    let message = format!("it did not end within {} seconds", limit.as_secs());
    Err(io::Error::new(io::ErrorKind::TimedOut, message))
}

type Reader = JoinHandle<io::Result<Vec<u8>>>;

fn reader(from: impl Read + Send + 'static) -> io::Result<Reader> {
    thread::Builder::new().name("output".into()).spawn(move || {
        let mut bytes = Vec::new();
        from.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Returns an output. A child of the program may hold it open, and is waited for no longer than the
/// program itself.
fn text(reader: Option<Reader>, limit: Duration) -> io::Result<String> {
    let Some(reader) = reader else { return Ok(String::new()) };
    let polls = limit.as_millis() / POLL.as_millis();
    for _ in 0..polls {
        if reader.is_finished() {
            let bytes =
                reader.join().map_err(|_| io::Error::other("its output was not read"))??;
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        thread::sleep(POLL);
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "it ended and its output did not"))
}
