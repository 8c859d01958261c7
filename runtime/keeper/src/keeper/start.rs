//! The start of a job: one `posix_spawn` in a new session.

use std::ffi::{CStr, CString};
#[cfg(feature = "seccomp")]
use std::io;
#[cfg(feature = "seccomp")]
use std::os::fd::AsFd as _;
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

use crate::attached;
#[cfg(feature = "seccomp")]
use crate::job::ARGUMENT;
use crate::job::{JobId, MARK, Size, Step};
#[cfg(feature = "seccomp")]
use crate::launcher;
use crate::message::{Body, Place};
#[cfg(feature = "seccomp")]
use crate::packet;

/// This program, also after its file was replaced.
#[cfg(feature = "seccomp")]
const OWN_PROGRAM: &CStr = c"/proc/self/exe";

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
            Body::decode(&attached::read(file, *length).map_err(at(Step::Admit))?)
        }
    };
    let body = body.map_err(|_| Refusal { step: Step::Admit, errno: Errno::INVAL })?;
    Ok(Order { body, streams })
}

/// Starts a job; returns its leader, and the master of its terminal.
pub(super) fn start(order: &Order, id: JobId) -> Result<(Pid, Option<OwnedFd>), Refusal> {
    let (actions, terminal) = prepare(order)?;
    let Body { program, cwd, argv, environment: given } = &order.body;
    let leader = spawn(program, argv, &environment(given, id), (cwd, &actions))?;
    Ok((leader, terminal.map(|terminal| terminal.master)))
}

/// Starts a launcher with all that a job gets; returns it, the master of its terminal, and the socket
/// to it, on which its order waits.
#[cfg(feature = "seccomp")]
pub(super) fn launch(order: &Order, id: JobId) -> Result<(Pid, Option<OwnedFd>, OwnedFd), Refusal> {
    let of_admit = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let refused = |error| at(Step::Admit)(of_admit(error));
    let environment = environment(&order.body.environment, id);
    let body = order.body.encode_with(&environment);
    let (socket, theirs) = packet::pair().map_err(refused)?;
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let file = attached::write(&body).map_err(refused)?;
    packet::send(&socket, &length.to_le_bytes(), &[file.as_fd()]).map_err(refused)?;
    let (mut actions, terminal) = prepare(order)?;
    actions.add_dup2(theirs.as_raw_fd(), launcher::SOCKET).map_err(of_exec)?;
    let keeper = CString::new(ARGUMENT).unwrap_or_default();
    let argv = [c"relay-launcher".to_owned(), keeper, launcher::ARGUMENT.to_owned()];
    // The mark alone: other variables could change the code that runs in the launcher.
    let mark = environment.get(..1).unwrap_or_default();
    let leader = spawn(OWN_PROGRAM, &argv, mark, (&order.body.cwd, &actions))?;
    Ok((leader, terminal.map(|terminal| terminal.master), socket))
}

/// Returns the steps that give a job its streams.
fn prepare(order: &Order) -> Result<(PosixSpawnFileActions, Option<Terminal>), Refusal> {
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
    Ok((actions, terminal))
}

/// Spawns in the folder of the job. `posix_spawn` reports the error of a failed exec.
///
/// The keeper has one thread, so it enters the folder itself. That tells a missing folder from a
/// missing program, and works with every C library.
fn spawn(
    program: &CStr,
    argv: &[CString],
    environment: &[CString],
    (cwd, actions): (&CStr, &PosixSpawnFileActions),
) -> Result<Pid, Refusal> {
    let attributes = attributes().map_err(of_exec)?;
    rustix::process::chdir(cwd).map_err(at(Step::Cwd))?;
    let spawned = posix_spawn(program, actions, &attributes, argv, environment);
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

/// Returns the variables of a job, the mark first.
fn environment(given: &[CString], id: JobId) -> Vec<CString> {
    let name = format!("{MARK}=");
    let own = CString::new(format!("{name}{id}")).unwrap_or_default();
    let given = given.iter().filter(|entry| !entry.as_bytes().starts_with(name.as_bytes()));
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
