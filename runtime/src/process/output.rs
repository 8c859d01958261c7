//! The output of a process: read as it comes, up to a limit, and counted beyond it.

use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use relay_keeper::{Ended, Streams};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};

/// The bytes of one read.
const BLOCK_BYTES: usize = 64 << 10;
/// The silence after the exit of a process by which its output is complete, though something that it
/// started still holds the pipe.
const QUIET: Duration = Duration::from_millis(100);
/// The longest time that output is read after the exit.
const AFTER_EXIT_MAX: Duration = Duration::from_secs(2);

/// The output of a process that ended.
#[derive(Debug)]
pub(crate) struct Captured {
    /// The kept part of standard output, and of standard error if it is apart.
    pub(crate) kept: [Vec<u8>; 2],
    /// All bytes that it wrote until it was complete.
    pub(crate) bytes: u64,
    pub(crate) ended: Ended,
}

/// The server's ends of the streams of a process.
#[derive(Debug)]
pub(crate) struct Ours {
    input: Option<(Sender, Vec<u8>)>,
    outputs: [Option<Receiver>; 2],
}

/// Opens the streams of a process, and the server's ends of them: a pipe with the input, or
/// `/dev/null` without one; a pipe for the output; the same one for errors, or another if they are
/// apart.
pub(crate) fn open_streams(input: String, merges: bool) -> io::Result<(Streams, Ours)> {
    let (input, their_input) = match input.is_empty() {
        true => (None, OwnedFd::from(File::open("/dev/null")?)),
        false => {
            let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
            let sender = Sender::from_owned_fd(without_waiting(ours)?)?;
            (Some((sender, input.into_bytes())), theirs)
        }
    };
    let (output, their_output) = output_pipe()?;
    let (errors, their_errors) = match merges {
        true => (None, their_output.try_clone()?),
        false => output_pipe().map(|(ours, theirs)| (Some(ours), theirs))?,
    };
    let streams =
        Streams::Descriptors { input: their_input, output: their_output, error: their_errors };
    Ok((streams, Ours { input, outputs: [Some(output), errors] }))
}

fn output_pipe() -> io::Result<(Receiver, OwnedFd)> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(without_waiting(ours)?)?, theirs))
}

pub(super) fn without_waiting(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    let flags = fcntl_getfl(&descriptor)?;
    fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?;
    Ok(descriptor)
}

/// Feeds a process and reads its output until it has ended and its output is complete. Both streams
/// together keep at most `bytes_max` bytes.
pub(crate) async fn capture(
    ours: Ours,
    bytes_max: usize,
    exit: impl Future<Output = Ended>,
) -> Captured {
    let Ours { input, outputs } = ours;
    let mut reading = Reading { outputs, kept: Default::default(), bytes: 0, room: bytes_max };
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    let mut exit = pin!(exit);
    let mut feed = pin!(feed(input));
    let mut is_fed = false;
    let mut ended: Option<(Ended, Instant)> = None;
    let mut quiet_at = Instant::now();
    loop {
        let has_output = reading.has_output();
        if let Some((how, since)) = ended
            && (!has_output || since.elapsed() >= AFTER_EXIT_MAX)
        {
            return reading.captured(how);
        }
        tokio::select! {
            () = &mut feed, if !is_fed => is_fed = true,
            () = poll_fn(|context| reading.poll(context, block.spare_capacity_mut())), if has_output => {
                quiet_at = Instant::now() + QUIET;
            }
            how = &mut exit, if ended.is_none() => {
                ended = Some((how, Instant::now()));
                quiet_at = Instant::now() + QUIET;
            }
            () = sleep_until(quiet_at), if ended.is_some() => {
                if let Some((how, _)) = ended {
                    return reading.captured(how);
                }
            }
        }
    }
}

/// Writes the input and closes it. A process may end without reading it.
async fn feed(input: Option<(Sender, Vec<u8>)>) {
    if let Some((mut sender, bytes)) = input {
        _ = sender.write_all(&bytes).await;
    }
}

struct Reading {
    outputs: [Option<Receiver>; 2],
    kept: [Vec<u8>; 2],
    bytes: u64,
    /// The bytes that may still be kept.
    room: usize,
}

impl Reading {
    fn has_output(&self) -> bool {
        self.outputs.iter().any(Option::is_some)
    }

    /// Reads from each stream that has something, or closes it at its end.
    fn poll(&mut self, context: &mut Context<'_>, block: &mut [MaybeUninit<u8>]) -> Poll<()> {
        let mut is_ready = false;
        for (output, kept) in self.outputs.iter_mut().zip(&mut self.kept) {
            let Some(receiver) = output else { continue };
            let mut read = ReadBuf::uninit(block);
            match Pin::new(receiver).poll_read(context, &mut read) {
                Poll::Pending => continue,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    let filled = read.filled();
                    let taken = filled.len().min(self.room);
                    kept.extend(filled.iter().take(taken));
                    self.room -= taken;
                    self.bytes += filled.len() as u64;
                }
                Poll::Ready(_) => *output = None,
            }
            is_ready = true;
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    }

    fn captured(self, ended: Ended) -> Captured {
        Captured { kept: self.kept, bytes: self.bytes, ended }
    }
}
