//! How much memory a piece of work asks for.

#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};

/// The system's allocator, which counts only when asked, so that timed code runs at full speed.
struct Counting {
    is_on: AtomicBool,
    /// The bytes that were asked for.
    total: AtomicUsize,
    /// The bytes that are held, of those that were asked for.
    held: AtomicIsize,
    /// The most that were held.
    peak: AtomicIsize,
}

#[global_allocator]
static ALLOCATOR: Counting = Counting {
    is_on: AtomicBool::new(false),
    total: AtomicUsize::new(0),
    held: AtomicIsize::new(0),
    peak: AtomicIsize::new(0),
};

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.is_on.load(Ordering::Relaxed) {
            self.total.fetch_add(layout.size(), Ordering::Relaxed);
            let size = layout.size().cast_signed();
            let held = self.held.fetch_add(size, Ordering::Relaxed) + size;
            self.peak.fetch_max(held, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.is_on.load(Ordering::Relaxed) {
            self.total.fetch_add(size, Ordering::Relaxed);
            let (size, before) = (size.cast_signed(), layout.size().cast_signed());
            let held = self.held.fetch_add(size - before, Ordering::Relaxed) + size;
            // Both are held if the system moves the bytes.
            self.peak.fetch_max(held, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if self.is_on.load(Ordering::Relaxed) {
            self.held.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The bytes that a piece of work allocated.
pub(crate) struct Memory {
    /// All that it asked for.
    pub(crate) total: usize,
    /// The most that it held at once.
    pub(crate) peak: usize,
}

/// Does the work; returns what it gives and the bytes that were allocated meanwhile.
pub(crate) fn allocated<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    for counter in [&ALLOCATOR.held, &ALLOCATOR.peak] {
        counter.store(0, Ordering::Relaxed);
    }
    ALLOCATOR.total.store(0, Ordering::Relaxed);
    ALLOCATOR.is_on.store(true, Ordering::Relaxed);
    let result = work();
    ALLOCATOR.is_on.store(false, Ordering::Relaxed);
    let total = ALLOCATOR.total.load(Ordering::Relaxed);
    let peak = usize::try_from(ALLOCATOR.peak.load(Ordering::Relaxed)).unwrap_or(0);
    (result, Memory { total, peak })
}
