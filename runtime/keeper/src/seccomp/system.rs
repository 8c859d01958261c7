//! The calls of the kernel that the libraries lack. The one module of this crate that holds `unsafe`.

#![expect(unsafe_code, reason = "seccomp, its descriptor and signals; each has a SAFETY comment")]

use std::ffi::c_ulong;
use std::mem;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use libc::{seccomp_notif, seccomp_notif_resp, seccomp_notif_sizes, sock_filter, sock_fprog};
use rustix::io::Errno;

/// Returns an error unless the kernel reports system calls, in the form that this program knows.
pub(crate) fn check() -> Result<(), Errno> {
    let action: u32 = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: the kernel reads one `u32`, which lives until the call returns.
    outcome(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
    })?;
    let mut sizes =
        seccomp_notif_sizes { seccomp_notif: 0, seccomp_notif_resp: 0, seccomp_data: 0 };
    // SAFETY: the kernel writes one `seccomp_notif_sizes`, which lives until the call returns.
    outcome(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0, &raw mut sizes)
    })?;
    let fits = usize::from(sizes.seccomp_notif) <= size_of::<seccomp_notif>()
        && usize::from(sizes.seccomp_notif_resp) <= size_of::<seccomp_notif_resp>();
    if fits { Ok(()) } else { Err(Errno::OVERFLOW) }
}

/// Puts a filter on this thread and all that it will start, without `no_new_privs`; returns the
/// descriptor of its reports, closed on exec.
pub(crate) fn install(filter: &[sock_filter]) -> Result<OwnedFd, Errno> {
    // Without the second flag, old kernels slow a filtered process down against Spectre.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // With the third, a signal leaves a reported call alone until it runs. Kernels before 5.19 lack it.
    match install_with(filter, flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(Errno::INVAL) => install_with(filter, flags),
        installed => installed,
    }
}

fn install_with(filter: &[sock_filter], flags: c_ulong) -> Result<OwnedFd, Errno> {
    let len = u16::try_from(filter.len()).map_err(|_| Errno::INVAL)?;
    let program = sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the kernel copies `len` instructions from `filter`, and writes to neither.
    let descriptor =
        outcome(unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) })?;
    let descriptor = RawFd::try_from(descriptor).map_err(|_| Errno::BADF)?;
    // SAFETY: the kernel made this descriptor for the caller, who has no other value of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Takes one report. `NOENT` means that its process ended meanwhile. Blocks until a report is there, so
/// callers poll first.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> Result<seccomp_notif, Errno> {
    // SAFETY: the struct is of integers, for which zero is a value; the kernel asks for zeros.
    let mut report: seccomp_notif = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `seccomp_notif`, not longer than this program's by `check`.
    outcome(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut report)
    })?;
    Ok(report)
}

/// Lets a reported call run. `NOENT` means that its process ended meanwhile.
pub(crate) fn let_run(listener: BorrowedFd<'_>, id: u64) -> Result<(), Errno> {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or_default();
    let mut answer = seccomp_notif_resp { id, val: 0, error: 0, flags };
    // SAFETY: the kernel reads one `seccomp_notif_resp`, not longer than this program's by `check`.
    outcome(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer)
    })?;
    Ok(())
}

/// Takes a descriptor that this process inherited, once; `None` if it is closed.
pub(crate) fn inherited(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: asks for the flags of a descriptor, open or closed.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    // SAFETY: it is open, and the launcher, whose first step this is, has opened none by this number.
    (flags >= 0).then(|| unsafe { OwnedFd::from_raw_fd(number) })
}

/// Gives the signal of a closed pipe its usual effect, which Rust's runtime took away.
pub(crate) fn restore_pipe_signal() {
    // SAFETY: the default effect runs no code of this program.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

fn outcome(returned: impl Into<i64>) -> Result<i64, Errno> {
    let returned = returned.into();
    if returned >= 0 {
        return Ok(returned);
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
