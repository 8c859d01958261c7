//! Every page of a bundle, and every derived part, checked on two threads.

use std::panic::resume_unwind;
use std::thread;

use relay_bundle::{Bundle, Corrupt};
use relay_engine::derived::{self, Mismatch};

/// The shortest content for which a second thread begins: it takes as long as to hash this.
const SHARED_BYTES_MIN: usize = 256 << 10;

/// Returns the parts of a bundle that differ from those of its contents.
///
/// One thread checks the pages while this one derives the parts again: each takes about half of the time.
/// A page that one of them needs first is checked by it, so the former goes through them in the order in which
/// the latter reads.
///
/// # Errors
///
/// A page is corrupt, or the bundle cannot follow from any contents. The pages decide first.
pub(super) fn mismatches(bundle: &Bundle) -> Result<Vec<Mismatch>, Corrupt> {
    if bundle.content_bytes().len() < SHARED_BYTES_MIN {
        bundle.check_all()?;
        return derived::mismatches(bundle);
    }
    let in_order = || {
        bundle.check_ahead();
        bundle.check_all()
    };
    thread::scope(|scope| {
        let pages = thread::Builder::new().spawn_scoped(scope, in_order);
        let parts = derived::mismatches(bundle);
        match pages {
            Ok(pages) => pages.join().unwrap_or_else(|panic| resume_unwind(panic))?,
            Err(_) => bundle.check_all()?,
        }
        parts
    })
}
