//! The binary `relay`. All code is in the library, where tests can reach it; the shipped facts are
//! here, so that a changed fact rebuilds only this.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// The system's allocator took a third of the time to check a project.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

static FACTS: &[u8] = include_bytes!("../../facts/table.bin");

fn main() -> ExitCode {
    relay_cli::run(std::env::args_os(), FACTS)
}
