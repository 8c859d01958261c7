//! `relay-hook`: answers one event of a client's hook. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    relay_hook::run(std::env::args_os().skip(1))
}
