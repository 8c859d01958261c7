//! The files of the machine that both programs of the runtime use: the bundle with its trust, the
//! state folder, the audit file; and the clock.
//!
//! `relay-serve` runs for months and `relay-hook` for milliseconds, and both must refuse the same
//! bundles and write the same records. So all of that is here, and needs no asynchronous runtime.

pub mod audit;
pub mod clock;
pub mod file;
pub mod load;
pub mod lock;
pub mod map;
pub mod state;
