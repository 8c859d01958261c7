//! The binary `relay`. All code is in the library, where tests can reach it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    relay_cli::run(std::env::args_os())
}
