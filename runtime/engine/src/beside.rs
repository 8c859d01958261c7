//! Two pieces of work at once.

use std::panic::resume_unwind;
use std::thread;

/// Does `own` on this thread and `other` on another one, and returns the results of both. Where no thread can
/// begin, this one does both.
pub fn beside<A: Send, B>(other: impl Fn() -> A + Sync, own: impl FnOnce() -> B) -> (A, B) {
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
    use super::*;

    #[test]
    fn both_results_are_returned() {
        let shared = [1, 2, 3];
        let (sum, first) = beside(|| shared.iter().sum::<i32>(), || shared.first().copied());
        assert_eq!((sum, first), (6, Some(1)));
    }
}
