//! The binary `relay`. All code is in the library, where tests can reach it; the shipped facts are
//! here, so that a changed fact rebuilds only this.

mod allocator;

use std::process::ExitCode;

static FACTS: &[u8] = include_bytes!("../../facts/table.bin");

fn main() -> ExitCode {
    allocator::keep_freed_memory();
    relay_cli::run(std::env::args_os(), FACTS)
}
