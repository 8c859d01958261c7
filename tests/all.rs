//! All integration tests, as one test binary.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test ends by panicking"
)]

mod access;
mod automaton;
mod binaries;
mod bundle;
mod cascade;
mod cases;
mod cli;
mod decide;
mod diff;
mod examples;
mod figures;
mod gate;
mod hook;
mod invisible;
mod limits;
mod policy;
mod random;
mod serve;
mod shipped;
mod support;
mod tidy;

/// As in `relay`, which much of the tests calls.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
