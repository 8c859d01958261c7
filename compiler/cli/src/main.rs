//! The binary `relay`. All code is in the library, where tests can reach it; the shipped facts are here, so that a
//! fact that changes builds nothing else anew.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A third of the time to check a project went into the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

static FACTS: &[u8] = include_bytes!("../../facts/table.bin");

fn main() -> ExitCode {
    relay_cli::run(std::env::args_os(), FACTS)
}
