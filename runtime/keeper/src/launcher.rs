//! The launcher: this program once more, as the process that becomes an observed job.
//!
//! `posix_spawn` has no step that sets a filter, and the filter must be there before the program. So the
//! launcher, which is the job's leader from the start, sets it, hands its descriptor to the keeper and
//! executes the program. Session, terminal, folder, streams and signals are the job's already; its
//! variables come in a message, since they could change the code that runs here.

use std::convert::Infallible;
use std::ffi::CStr;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};

use crate::attached;
use crate::message::Body;
use crate::packet;
use crate::seccomp::{filter, system, table::Architecture};
use crate::wire::{Malformed, Reader, Writer};

/// The second argument of a program that shall run as launcher, after that of the keeper.
pub(crate) const ARGUMENT: &CStr = c"launch";

/// The descriptor of its socket.
pub(crate) const SOCKET: RawFd = 3;

/// The most bytes of a message to or from a launcher.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16;

/// The answer of the keeper to a report.
pub(crate) const GO_ON: &[u8] = b"+";

/// A message of the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The filter is set; its descriptor comes with it.
    Observed,
    /// The kernel refused the filter, so the program will run without it.
    Unobserved { errno: i32 },
    /// Executing the program failed. The launcher exits.
    Failed { errno: i32 },
}

impl Report {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Observed => out.u8(1).i32(0),
            Self::Unobserved { errno } => out.u8(2).i32(errno),
            Self::Failed { errno } => out.u8(3).i32(errno),
        };
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader(bytes);
        let (kind, errno) = (from.u8()?, from.i32()?);
        from.end()?;
        match kind {
            1 => Ok(Self::Observed),
            2 => Ok(Self::Unobserved { errno }),
            3 => Ok(Self::Failed { errno }),
            _ => Err(Malformed),
        }
    }
}

/// Runs the launcher. It returns only if the program cannot be executed, which it reports first.
pub(crate) fn run() -> ExitCode {
    let Some(socket) = system::inherited(SOCKET) else { return ExitCode::from(2) };
    let Err(errno) = launch(&socket);
    let report = Report::Failed { errno: errno.raw_os_error() };
    let _ = packet::send(&socket, &report.encode(), &[]);
    ExitCode::from(127)
}

fn launch(socket: &OwnedFd) -> Result<Infallible, Errno> {
    // The program's start closes it, by which the keeper knows that it runs.
    fcntl_setfd(socket, FdFlags::CLOEXEC)?;
    let Body { program, argv, environment, .. } = receive_body(socket)?;
    let filter = Architecture::OWN.map(filter::program).ok_or(Errno::NOSYS);
    match filter.and_then(|filter| system::install(&filter)) {
        Ok(listener) => send(socket, Report::Observed, Some(listener))?,
        Err(errno) => send(socket, Report::Unobserved { errno: errno.raw_os_error() }, None)?,
    }
    // The start of the program is observed itself, so the keeper must have the descriptor before.
    let (answer, _) = receive(socket)?;
    if answer != GO_ON {
        return Err(Errno::PROTO);
    }
    system::restore_pipe_signal();
    // Unlike the standard library, which runs a text file by a shell as `posix_spawn` does not.
    let failed = nix::unistd::execve(&program, &argv, &environment);
    let Err(errno) = failed;
    Err(Errno::from_raw_os_error(errno as i32))
}

/// Sends a report. The launcher's own copy of the descriptor is closed: without the keeper, no one
/// must wait for answers.
fn send(socket: &OwnedFd, report: Report, listener: Option<OwnedFd>) -> Result<(), Errno> {
    let attached: Vec<_> = listener.iter().map(|listener| listener.as_fd()).collect();
    packet::send(socket, &report.encode(), &attached)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn receive_body(socket: &OwnedFd) -> Result<Body, Errno> {
    let (bytes, file) = receive(socket)?;
    let length = Reader(&bytes).u32().map_err(|_| Errno::PROTO)?;
    let bytes = attached::read(file.ok_or(Errno::MFILE)?, length)?;
    Body::decode(&bytes).map_err(|_| Errno::PROTO)
}

/// Waits for a message of the keeper; its end is an error.
fn receive(socket: &OwnedFd) -> Result<(Vec<u8>, Option<OwnedFd>), Errno> {
    let mut buffer = [0; MESSAGE_BYTES_MAX];
    loop {
        match packet::receive(socket, &mut buffer) {
            Ok(Some(packet)) => {
                return Ok((packet.bytes.to_vec(), packet.descriptors.into_iter().next()));
            }
            Ok(None) => return Err(Errno::PIPE),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
        match poll(&mut [PollFd::new(socket, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
