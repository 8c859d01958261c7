//! `relay-serve`: the server of relay. All of it is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    relay_runtime::run(std::env::args_os().skip(1))
}
