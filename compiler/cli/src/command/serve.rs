//! `relay serve`: runs `relay-serve`, which is a program of its own so that it links no compiler.

use crate::args::ServeArgs;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::process;

const SERVER: &str = "relay-serve";

pub(crate) fn run(arguments: &ServeArgs) -> Result<Exit, Failure> {
    let Some(program) = environment::program(SERVER) else {
        return Err(Failure::error(format!("cannot find `{SERVER}` beside `relay` or in PATH"))
            .help("build it with `cargo build --release -p relay-runtime`, or put it in PATH"));
    };
    process::become_program(&program, &arguments.arguments)
}
