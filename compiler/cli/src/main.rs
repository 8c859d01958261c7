//! The binary `relay`. All code is in the library, where tests can reach it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A third of the time to check a project went into the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    relay_cli::run(std::env::args_os())
}
