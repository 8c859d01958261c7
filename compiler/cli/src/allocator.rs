//! The allocator of `relay`. The system's took a third of the time to check a project.

#![expect(
    unsafe_code,
    reason = "the allocator's options are functions of C; each has a SAFETY comment"
)]

use libmimalloc_sys::{mi_option_set_default, mi_option_t};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, which the bindings leave out.
const PURGE_DELAY: mi_option_t = 15;
/// The milliseconds for which freed memory is kept.
const KEPT_MS: i32 = 1_000;

/// Keeps freed memory for the next allocations, unless `MIMALLOC_PURGE_DELAY` says for how long.
///
/// The default is 10 ms, after which a build that goes on asks the system for the same pages again, a quarter of
/// its time. Most runs end before that; `relay dev` returns it at its next build.
pub(crate) fn keep_freed_memory() {
    // SAFETY: it stores a number, and no other thread has begun.
    unsafe { mi_option_set_default(PURGE_DELAY, KEPT_MS.into()) }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    /// The bindings have no name for the option, and a new version of the allocator may number it anew.
    #[test]
    fn the_option_is_the_delay() {
        // SAFETY: it returns a number.
        let delay = || unsafe { mi_option_get(PURGE_DELAY) };
        let before = delay();
        keep_freed_memory();
        assert_eq!((before, delay()), (10, KEPT_MS.into()), "run without `MIMALLOC_PURGE_DELAY`");
    }
}
