//! Work that threads share.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most threads: more of them wait for the disk and for memory.
const THREADS_MAX: usize = 8;
/// The pieces that a thread takes at once. Fewer than twice as many are done by the caller alone.
const TAKEN: usize = 32;

/// Does the pieces of work below `count` on as many threads as the machine runs at once, and on the caller's.
/// `begin` makes what one thread works with.
pub(crate) fn each<W>(count: usize, begin: impl Fn() -> W + Sync, work: impl Fn(&W, usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        let with = begin();
        loop {
            let first = next.fetch_add(TAKEN, Ordering::Relaxed);
            if first >= count {
                return;
            }
            (first..count.min(first + TAKEN)).for_each(|piece| work(&with, piece));
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(THREADS_MAX).min(count / TAKEN);
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where no other thread can begin, those that run do all of it.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
}

/// Returns the results of `work` for the items and their indexes, in their order. Threads share the items as in [`each`].
pub(crate) fn map<I: Sync, T: Send + Sync>(
    items: &[I],
    work: impl Fn(usize, &I) -> T + Sync,
) -> Vec<T> {
    let slots: Vec<(&I, OnceLock<T>)> = items.iter().map(|item| (item, OnceLock::new())).collect();
    each(
        slots.len(),
        || (),
        |(), index| {
            if let Some((item, result)) = slots.get(index) {
                result.get_or_init(|| work(index, item));
            }
        },
    );
    slots.into_iter().filter_map(|(_, result)| result.into_inner()).collect()
}

/// Does `own` on this thread and `other` on another one, and returns the results of both. Where no thread can
/// begin, this one does both.
pub(crate) fn beside<A: Send, B>(other: impl Fn() -> A + Sync, own: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let begun = thread::Builder::new().spawn_scoped(scope, &other);
        let own = own();
        let other = match begun {
            Ok(begun) => begun.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => other(),
        };
        (other, own)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_piece_is_done_once() {
        for count in [0, 1, TAKEN, 2 * TAKEN + 1, 1000] {
            let done = Mutex::new(Vec::new());
            each(count, || &done, |done, piece| done.lock().expect("no panic").push(piece));
            let mut done = done.into_inner().expect("no panic");
            done.sort_unstable();
            assert_eq!(done, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, TAKEN, 2 * TAKEN + 1, 1000] {
            let items: Vec<usize> = (0..count).map(|index| 2 * index).collect();
            let results = map(&items, |index, item| (index, *item));
            assert_eq!(results, items.into_iter().enumerate().collect::<Vec<_>>());
        }
    }

    #[test]
    fn both_results_are_returned() {
        let shared = [1, 2, 3];
        let (sum, first) = beside(|| shared.iter().sum::<i32>(), || shared.first().copied());
        assert_eq!((sum, first), (6, Some(1)));
    }
}
