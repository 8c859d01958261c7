//! The programs of OpenSSH, as oracles.

use std::process::{Command, Output};

/// Runs a program of OpenSSH; `None`, with a note, if it is missing.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("{program} is skipped: {error}");
            None
        }
    }
}
