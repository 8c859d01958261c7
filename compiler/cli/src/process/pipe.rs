//! The output of another program, read with a limit of time: a program that hangs is an error
//! instead of an endless wait.

use std::io::{self, BufRead, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The longest time to wait for a silent program.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// The longest time to wait for the output of a program that has ended. All that it wrote is there already.
const SILENCE_AFTER_END_MAX: Duration = Duration::from_secs(1);
/// The interval of checks for the end of a program after the end of its output.
const POLL: Duration = Duration::from_millis(1);
const CHUNK_BYTES: usize = 16 * 1024;
/// The most chunks read ahead.
const CHUNKS_MAX: usize = 16;

/// One of the two outputs of a program. A thread reads it; it ends with the output.
pub(super) struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// The taken bytes of the chunk.
    at: usize,
    /// The longest wait for the next chunk.
    silence_max: Duration,
}

impl Pipe {
    /// Begins to read.
    pub(super) fn of(mut from: impl Read + Send + 'static) -> io::Result<Self> {
        let (send, chunks) = mpsc::sync_channel(CHUNKS_MAX);
        thread::Builder::new().name("pipe".into()).spawn(move || {
            let mut buffer = vec![0; CHUNK_BYTES];
            loop {
                let chunk = match from.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => Ok(buffer.get(..length).unwrap_or_default().to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = chunk.is_err();
                // The receiver is gone once the program's answer is unwanted.
                if send.send(chunk).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, chunk: Vec::new(), at: 0, silence_max: SILENCE_MAX })
    }

    /// Leaves the rest unread. A program that writes more ends by it, with those that it has started.
    pub(super) fn close(&mut self) {
        (_, self.chunks) = mpsc::sync_channel(0);
    }

    /// From now on waits for the output of a program that has ended: programs that it has started may hold it open.
    pub(super) fn has_ended(&mut self) {
        self.silence_max = SILENCE_AFTER_END_MAX;
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Pipe {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.chunk.len() {
            self.at = 0;
            self.chunk = match self.chunks.recv_timeout(self.silence_max) {
                Ok(chunk) => chunk?,
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.silence_max.as_secs();
                    let message = format!("it wrote nothing for {seconds} seconds");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            };
        }
        Ok(self.chunk.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, length: usize) {
        self.at = self.at.saturating_add(length).min(self.chunk.len());
    }
}

/// Waits for the end of a program whose outputs have ended.
pub(super) fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    let polls = SILENCE_MAX.as_millis() / POLL.as_millis();
    for _ in 0..polls {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(POLL);
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "it closed its output and did not end"))
}
