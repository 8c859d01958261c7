//! The policy of a bundle inside agents' own clients: one event of a client's hook -> one answer.
//!
//! [`run()`] is the whole of `relay-hook`. It is closed by construction: a denial is prepared before the
//! event is read, and is the answer to anything that goes wrong (`last_word.rs`). Clients differ in
//! their events, answers and tools, a file each in `client/`; the decision is `relay-engine`'s.

mod answer;
pub mod approval;
mod args;
mod client;
mod event;
mod json;
mod judge;
mod last_word;
mod machine_file;
mod patch;
mod path;
mod record;
mod request;
mod run;
mod settings;
mod texts;
mod tool;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

pub use self::client::{CLIENTS, Client, find};
pub use self::machine_file::{
    Allow, MACHINE_FILE, Machine, MachineFile, MachineFileError, OsUser, USER_FILE,
    find as find_machine_file, read as read_machine_file,
};
pub use self::run::{Output, respond};
pub use self::tool::{Does, Tool, described};

use self::args::Command;

/// Runs `relay-hook` with these arguments (after the program's name).
///
/// The exit status is 0 for no objection and for a question, and 2 for a denial, and for anything
/// that goes wrong.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match args::parse(arguments) {
        Ok(Command::Help) => print(args::HELP),
        Ok(Command::Version) => print(concat!("relay-hook ", env!("CARGO_PKG_VERSION"))),
        Ok(Command::Answer { client, config }) => {
            ExitCode::from(run::run(client, config.as_deref()))
        }
        Err(fault) => {
            _ = writeln!(io::stderr(), "relay-hook: {fault}");
            ExitCode::from(answer::DENIED)
        }
    }
}

fn print(text: &str) -> ExitCode {
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(answer::DENIED),
    }
}
