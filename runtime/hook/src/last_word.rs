//! The last word: a denial that is prepared before anything else is done, for a run that cannot
//! finish.
//!
//! Clients take a hook that crashes, is killed or stays silent for one that agrees. So a
//! panic, a fatal signal and the deadline all end in one function, which writes the prepared denial
//! and exits. SIGKILL alone remains; `relay hook install` says which clients are open to it.

#![expect(unsafe_code, reason = "signal handlers and a timer; each has a SAFETY comment")]

use std::io::{self, Write as _};
use std::panic;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use crate::answer::Output;

static WORD: OnceLock<Output> = OnceLock::new();

/// The signals that end a program by themselves and can be handled.
const FATAL: [libc::c_int; 12] = [
    libc::SIGABRT,
    libc::SIGALRM,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGHUP,
    libc::SIGILL,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGSEGV,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGXFSZ,
];

/// Prepares the denial for a run that cannot finish, and the time until which it must.
pub(crate) fn prepare(word: Output, deadline: Duration) {
    if WORD.set(word).is_err() {
        return;
    }
    panic::set_hook(Box::new(|_| speak()));
    for signal in FATAL {
        // SAFETY: a zeroed `sigaction` is a valid one, whose mask and flags are then set. The handler calls
        // functions that POSIX allows in handlers, and `OnceLock::get`, which only loads an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle as *const () as libc::sighandler_t;
            // A second frame on the small stack of handlers would end the process unheard.
            libc::sigfillset(&raw mut action.sa_mask);
            // On the stack that Rust keeps for a main thread whose own overflowed.
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
    set_deadline(deadline);
}

/// Sets the time until which the run must finish, from now.
pub(crate) fn set_deadline(after: Duration) {
    let seconds = libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX);
    let value =
        libc::timeval { tv_sec: seconds, tv_usec: after.subsec_micros() as libc::suseconds_t };
    let timer =
        libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: both pointers are valid for the call: one to a local, one null, which POSIX allows.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
}

/// Writes an answer and returns its exit code. Meanwhile signals wait, so that there is one answer.
///
/// The reason goes first: some clients take a denial without a reason for none. If it cannot be
/// written, the answer on standard output is one that holds with exit code 0, where there is one.
pub(crate) fn answer(output: &Output) -> u8 {
    // SAFETY: `all` is filled before it is used, and the last pointer may be null.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut());
    }
    let has_reason = io::stderr().write_all(&output.err).is_ok();
    // One `write`: some clients take a part of an answer for an allow.
    let written = output.out.is_empty()
        || io::stdout().lock().write_all(&output.out).and_then(|()| io::stdout().flush()).is_ok();
    match (has_reason, written) {
        (false, true) if !output.err.is_empty() => output.code_without_reason,
        _ => output.code,
    }
}

extern "C" fn handle(_: libc::c_int) {
    speak();
}

fn speak() -> ! {
    let code = match WORD.get() {
        Some(word) => {
            write(libc::STDERR_FILENO, &word.err);
            write(libc::STDOUT_FILENO, &word.out);
            word.code
        }
        None => crate::answer::DENIED,
    };
    // SAFETY: it takes any number, and ends the process without running anything of it.
    unsafe { libc::_exit(code.into()) }
}

fn write(descriptor: libc::c_int, bytes: &[u8]) {
    // SAFETY: the pointer and the length are those of a slice.
    unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
}
