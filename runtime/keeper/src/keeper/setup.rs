//! The beginning of a keeper: its descriptors, signals and place among processes.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::net::SocketType;
use rustix::net::sockopt::socket_type;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::{io as rio, process, stdio, thread};

use super::process::Family;

/// The means of a keeper.
pub(super) struct Setup {
    /// Readable when a child ended.
    pub(super) signals: SignalFd,
    /// The random number in the marks of its jobs.
    pub(super) key: u64,
    pub(super) family: Family,
}

impl Setup {
    /// Takes the signals that were delivered.
    pub(super) fn forget_signals(&self) {
        while let Ok(Some(_)) = self.signals.read_signal() {}
    }
}

/// Moves the socket away from descriptor 0, and closes every other descriptor above 2.
pub(super) fn take_socket() -> io::Result<OwnedFd> {
    let given = io::stdin();
    if socket_type(&given)? != SocketType::SEQPACKET {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let socket = rio::fcntl_dupfd_cloexec(&given, 3)?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    stdio::dup2_stdin(&null)?;
    stdio::dup2_stdout(&null)?;
    stdio::dup2_stderr(&null)?;
    drop(null);
    close_foreign(socket.as_raw_fd())?;
    Ok(socket)
}

/// Closes descriptors that the server's own parent left open, since jobs would inherit them.
fn close_foreign(socket: RawFd) -> io::Result<()> {
    let numbers = fs::read_dir("/proc/self/fd")?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().parse::<RawFd>().ok()))
        .collect::<io::Result<Vec<_>>>()?;
    for number in numbers.into_iter().flatten().filter(|number| *number > 2 && *number != socket) {
        // The descriptor of the list itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Makes this process the root of all jobs: own session, adopter of orphans, deaf to signals.
pub(super) fn become_keeper() -> io::Result<Setup> {
    let own = process::getpid();
    if process::setsid().is_err() && process::getsid(None)? != own {
        return Err(io::Error::last_os_error());
    }
    process::set_child_subreaper(Some(own))?;
    process::chdir("/")?;
    let _ = thread::set_name(c"relay-keeper");
    // A stop of the service signals all its processes. The keeper ends after the server.
    SigSet::all().thread_set_mask()?;
    let mut wanted = SigSet::empty();
    wanted.add(Signal::SIGCHLD);
    let signals = SignalFd::with_flags(&wanted, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let mut key = [0; 8];
    getrandom(&mut key, GetRandomFlags::empty())?;
    Ok(Setup { signals, key: u64::from_le_bytes(key), family: Family::new(own)? })
}
