//! The runtime: verifies a signed bundle, maps it read-only and serves it over MCP.
//!
//! [`run`] is the whole of `relay-serve`. It knows nothing of projects: the compiler decided the
//! served contents, and `relay-engine` decides the answer to a request.

mod caller;
#[cfg(feature = "ssh")]
mod hosts;
mod http;
mod mcp;
mod port;
mod process;
mod record;
mod reload;
#[cfg(feature = "ssh")]
mod remote;
mod serve;
mod server;
mod settings;
mod tool;
mod trust;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use relay_bundle::{FORMAT_MAJOR, FORMAT_MINOR};
use serve::Failure;
use settings::args::{self, Command};
use settings::reference;

/// Runs `relay-serve` with these arguments (after the program's name) until it is asked to end.
///
/// The exit status is 0 if it ended as asked, 1 if the bundle was refused, and 2 for wrong usage or
/// a file or socket that failed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter().peekable();
    // The server starts itself anew as the keeper of its processes.
    if arguments.peek().is_some_and(|first| first == relay_keeper::ARGUMENT) {
        return relay_keeper::run();
    }
    let done = args::parse(arguments).map_err(Failure::from).and_then(|command| match command {
        Command::Help => print(args::HELP),
        Command::Version => print(&version()),
        Command::Reference => print(&reference::render()),
        Command::Serve(args) => serve::serve(*args),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // If standard error fails too, the exit status alone reports the failure.
            _ = writeln!(io::stderr(), "relay-serve: {failure}");
            failure.exit_code()
        }
    }
}

/// Returns the version, the commit from the environment of the build, and the formats and protocols
/// that the server understands.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("RELAY_COMMIT").unwrap_or("unknown");
    let [oldest, newest] = mcp::protocols();
    format!(
        "relay-serve {version} (commit {commit}, bundle format {FORMAT_MAJOR}.{FORMAT_MINOR}, \
         MCP {oldest} to {newest})"
    )
}

fn print(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Io(error)),
        _ => Ok(()),
    }
}
