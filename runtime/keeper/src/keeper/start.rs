//! The start of a job: one `posix_spawn` in a new session.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::fcntl::OFlag;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::sys::stat::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::job::{BODY_BYTES_MAX, JobId, MARK, Size, Step};
use crate::message::{Body, Place};

/// A job as it was received.
pub(super) struct Order {
    body: Body,
    streams: Streams,
}

enum Streams {
    Descriptors([OwnedFd; 3]),
    Terminal(Size),
}

/// The step that failed, and why.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) step: Step,
    pub(super) errno: Errno,
}

fn at(step: Step) -> impl Fn(Errno) -> Refusal {
    move |errno| Refusal { step, errno }
}

/// Puts together the parts of a request.
pub(super) fn receive(
    place: &Place,
    terminal: Option<Size>,
    descriptors: Vec<OwnedFd>,
) -> Result<Order, Refusal> {
    let mut descriptors = descriptors.into_iter();
    let streams = match terminal {
        Some(size) => Some(Streams::Terminal(size)),
        None => match (descriptors.next(), descriptors.next(), descriptors.next()) {
            (Some(input), Some(output), Some(error)) => {
                Some(Streams::Descriptors([input, output, error]))
            }
            _ => None,
        },
    };
    // Descriptors are missing when the keeper has as many as it may.
    let streams = streams.ok_or(Errno::MFILE).map_err(at(Step::Admit))?;
    let body = match place {
        Place::Inline(bytes) => Body::decode(bytes),
        Place::Attached(length) => {
            let file = descriptors.next().ok_or(Errno::MFILE).map_err(at(Step::Admit))?;
            Body::decode(&attached(file, *length).map_err(at(Step::Admit))?)
        }
    };
    let body = body.map_err(|_| Refusal { step: Step::Admit, errno: Errno::INVAL })?;
    Ok(Order { body, streams })
}

fn attached(file: OwnedFd, length: u32) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > BODY_BYTES_MAX {
        return Err(Errno::TOOBIG);
    }
    let mut bytes = vec![0; length];
    File::from(file).read_exact(&mut bytes).map_err(|_| Errno::IO)?;
    Ok(bytes)
}

/// Starts a job; returns its leader, and the master of its terminal.
pub(super) fn start(order: &Order, id: JobId) -> Result<(Pid, Option<OwnedFd>), Refusal> {
    let mut actions = PosixSpawnFileActions::init().map_err(of_exec)?;
    let terminal = match &order.streams {
        Streams::Descriptors(descriptors) => {
            // All three are above 2, so each is used before it is overwritten.
            for (number, descriptor) in (0..).zip(descriptors) {
                actions.add_dup2(descriptor.as_raw_fd(), number).map_err(of_exec)?;
            }
            None
        }
        Streams::Terminal(size) => {
            let terminal = open_terminal(*size).map_err(at(Step::Terminal))?;
            // The first terminal that a new session opens controls it.
            let flags = OFlag::O_RDWR;
            actions.add_open(0, terminal.path.as_c_str(), flags, Mode::empty()).map_err(of_exec)?;
            for number in [1, 2] {
                actions.add_dup2(0, number).map_err(of_exec)?;
            }
            Some(terminal)
        }
    };
    let leader = spawn(&order.body, &actions, &environment(&order.body, id))?;
    Ok((leader, terminal.map(|terminal| terminal.master)))
}

/// Spawns in the folder of the job. `posix_spawn` reports the error of a failed exec.
///
/// The keeper has one thread, so it enters the folder itself. That tells a missing folder from a
/// missing program, and works with every C library.
fn spawn(
    body: &Body,
    actions: &PosixSpawnFileActions,
    environment: &[CString],
) -> Result<Pid, Refusal> {
    let attributes = attributes().map_err(of_exec)?;
    rustix::process::chdir(&body.cwd).map_err(at(Step::Cwd))?;
    let program: &CStr = &body.program;
    let spawned = posix_spawn(program, actions, &attributes, &body.argv, environment);
    // A folder that stays entered blocks its unmounting.
    let _ = rustix::process::chdir("/");
    let leader = spawned.map_err(of_exec)?;
    Pid::from_raw(leader.as_raw()).ok_or(Refusal { step: Step::Exec, errno: Errno::SRCH })
}

/// A session of its own, and signals as a program expects them.
fn attributes() -> nix::Result<PosixSpawnAttr> {
    let mut attributes = PosixSpawnAttr::init()?;
    // nix lacks the name of this flag, which glibc (2.26 and newer) and musl have.
    let session = PosixSpawnFlags::from_bits_retain(libc::POSIX_SPAWN_SETSID.into());
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK;
    attributes.set_flags(session | signals)?;
    // Rust ignores SIGPIPE, `nohup` SIGHUP, and both would be inherited.
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    Ok(attributes)
}

fn environment(body: &Body, id: JobId) -> Vec<CString> {
    let name = format!("{MARK}=");
    let own = CString::new(format!("{name}{id}")).unwrap_or_default();
    let given =
        body.environment.iter().filter(|entry| !entry.as_bytes().starts_with(name.as_bytes()));
    std::iter::once(own).chain(given.cloned()).collect()
}

struct Terminal {
    master: OwnedFd,
    /// The other side, open until the job has it, so that a failure to open it is known as such.
    _slave: OwnedFd,
    path: CString,
}

fn open_terminal(size: Size) -> Result<Terminal, Errno> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let window = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, window)?;
    let path = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&path, flags, rustix::fs::Mode::empty())?;
    Ok(Terminal { master, _slave: slave, path })
}

fn of_exec(errno: nix::errno::Errno) -> Refusal {
    Refusal { step: Step::Exec, errno: Errno::from_raw_os_error(errno as i32) }
}
