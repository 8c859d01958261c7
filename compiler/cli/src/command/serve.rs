//! `relay serve`: becomes `relay-serve`, so that a small server needs no compiler linked in.

use crate::args::ServeArgs;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::process;

const SERVER: &str = "relay-serve";

pub(crate) fn run(arguments: &ServeArgs) -> Result<Exit, Failure> {
    let Some(program) = environment::program(SERVER) else {
        return Err(Failure::unknown(format!("`{SERVER}` is neither beside `relay` nor in PATH"))
            .help("build it with `cargo build --release -p relay-runtime`, or put it in PATH"));
    };
    process::become_program(&program, &arguments.arguments)
}
