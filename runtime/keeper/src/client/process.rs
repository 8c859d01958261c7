//! The keeper as a child of the server.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::job::ARGUMENT;
use crate::message::{Event, VERSION};
use crate::packet::{self, PACKET_BYTES_MAX};

/// The longest time until a keeper is ready.
const READY_TIME_MAX: Duration = Duration::from_secs(5);

/// A keeper that is ready, with the server's end of its socket. Dropping it kills the keeper.
#[derive(Debug)]
pub(super) struct Process {
    child: Option<Child>,
    socket: Option<OwnedFd>,
    key: u64,
}

/// The parts of a keeper's process.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) child: Child,
    pub(super) socket: OwnedFd,
    /// The random number in the marks of its jobs.
    pub(super) key: u64,
}

impl Process {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        if !program.is_absolute() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path of the keeper's program must be absolute",
            ));
        }
        let (socket, theirs) = packet::pair()?;
        #[expect(clippy::disallowed_methods, reason = "the server's own program, as keeper")]
        let mut command = Command::new(program);
        // The environment of a server may hold secrets, and jobs bring their own.
        command.arg0("relay-keeper").arg(ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        // The command holds the keeper's end, whose last copy must be the keeper's own.
        drop(command);
        let mut process = Self { child: Some(child), socket: None, key: 0 };
        process.key = ready(&socket)?;
        process.socket = Some(socket);
        Ok(process)
    }

    /// Takes the process apart; `None` if it failed to become ready.
    pub(super) fn into_parts(mut self) -> Option<Parts> {
        let key = self.key;
        let socket = self.socket.take()?;
        self.child.take().map(|child| Parts { child, socket, key })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has yet to start its first job.
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for the first message of a keeper and returns its key.
fn ready(socket: &OwnedFd) -> io::Result<u64> {
    let until = Instant::now() + READY_TIME_MAX;
    let mut buffer = vec![0; PACKET_BYTES_MAX];
    loop {
        match packet::receive(socket, &mut buffer) {
            Ok(Some(packet)) => {
                return match Event::decode(packet.bytes) {
                    Ok(Event::Ready { version: VERSION, keeper }) => Ok(keeper),
                    Ok(Event::Failed { errno }) => {
                        let cause = io::Error::from_raw_os_error(errno);
                        let text = format!("the keeper cannot work here: {cause}");
                        Err(io::Error::new(cause.kind(), text))
                    }
                    _ => Err(io::Error::other("the keeper is of another version of this program")),
                };
            }
            Ok(None) => return Err(io::Error::other("the keeper ended before it was ready")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let timeout = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
