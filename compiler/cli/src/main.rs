//! The binary `relay`; everything is in the library, so that tests reach it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    relay_cli::run(std::env::args_os())
}
