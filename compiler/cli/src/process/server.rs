//! `relay-serve` as a child that ends with this process.
//!
//! Its standard input is a pipe whose other end only this process holds. The system closes that end when this process
//! ends, by a signal that cannot be caught too, and `relay-serve` then stops. No signal handler is needed.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, PipeReader, PipeWriter};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::environment;
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::text::shown_path;

const SERVER: &str = "relay-serve";

/// How clients reach the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// One client, on the standard input and output of this process.
    Stdio,
    /// Many clients, at this address.
    Http(String),
}

impl Transport {
    /// Returns the options of `relay-serve`.
    pub(crate) fn options(&self) -> Vec<OsString> {
        match self {
            Self::Stdio => vec!["--stdio".into()],
            Self::Http(address) => {
                vec!["--http".into(), address.into(), "--end-with-stdin".into()]
            }
        }
    }
}

/// A server, before and after its start.
pub(crate) struct Server {
    events: Receiver<Event>,
    /// Where the thread that waits for the server reports its end.
    ended: Sender<Event>,
    /// The standard input of the server that is still to be started.
    input: Option<PipeReader>,
    /// The other end, held open; on stdio the thread that copies the client's requests has it.
    _held: Option<PipeWriter>,
}

/// Something that happened while the server was waited for.
pub(crate) enum Event {
    /// The client closed standard input, or reading it failed.
    InputEnded,
    /// The server ended.
    Ended(io::Result<ExitStatus>),
}

impl Server {
    /// Prepares a server. Requests of a client on standard input wait in a pipe until it starts.
    pub(crate) fn prepare(transport: &Transport) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::error(format!("cannot prepare `{SERVER}`: {}", reason(&error)))
        };
        let (input, writer) = io::pipe().map_err(failed)?;
        let (ended, events) = mpsc::channel();
        let held = match transport {
            Transport::Http(_) => Some(writer),
            Transport::Stdio => {
                let ended = ended.clone();
                thread::Builder::new()
                    .name("input".into())
                    .spawn(move || copy_input(writer, &ended))
                    .map_err(failed)?;
                None
            }
        };
        Ok(Self { events, ended, input: Some(input), _held: held })
    }

    /// Returns whether the server was started.
    pub(crate) fn is_started(&self) -> bool {
        self.input.is_none()
    }

    /// Starts the server with these arguments.
    pub(crate) fn start(&mut self, arguments: &[OsString]) -> Result<(), Failure> {
        let program = self::program()?;
        let failed = |error: io::Error| {
            let reason = reason(&error);
            Failure::error(format!("cannot start `{}`: {reason}", shown_path(&program)))
        };
        let input = self.input.take().map_or_else(Stdio::null, Stdio::from);
        #[expect(
            clippy::disallowed_methods,
            reason = "the purpose of `relay dev` is to start a server"
        )]
        let mut command = Command::new(&program);
        let mut child = command.args(arguments).stdin(input).spawn().map_err(failed)?;
        let ended = self.ended.clone();
        thread::Builder::new()
            .name("server".into())
            // The receiver is gone if this process is ending.
            .spawn(move || _ = ended.send(Event::Ended(child.wait())))
            .map_err(failed)?;
        Ok(())
    }

    /// Waits for something to happen, at most this long.
    pub(crate) fn wait(&self, time: Duration) -> Option<Event> {
        // The channel stays open: this value holds a sender.
        self.events.recv_timeout(time).ok()
    }
}

/// Returns the path of `relay-serve`.
pub(super) fn program() -> Result<PathBuf, Failure> {
    environment::program(SERVER).ok_or_else(|| {
        Failure::error(format!("cannot find `{SERVER}` beside `relay` or in PATH"))
            .help("build it with `cargo build --release -p relay-runtime`, or put it in PATH")
    })
}

/// Copies standard input until it ends, or until the server stops reading.
fn copy_input(mut to: PipeWriter, ended: &Sender<Event>) {
    // An error of either end is the end of the requests.
    _ = io::copy(&mut io::stdin().lock(), &mut to);
    drop(to);
    _ = ended.send(Event::InputEnded);
}

/// Returns the exit code of `relay` for the end of the server.
pub(crate) fn exit_of(status: io::Result<ExitStatus>) -> Result<Exit, Failure> {
    let status = status.map_err(|error| {
        Failure::error(format!("cannot wait for `{SERVER}`: {}", reason(&error)))
    })?;
    match status.code() {
        Some(0) => Ok(Exit::Yes),
        Some(1) => Ok(Exit::No),
        Some(_) => Ok(Exit::Failed),
        None => Err(Failure::error(format!("`{SERVER}` was ended by a signal"))),
    }
}

/// Returns whether standard input is a terminal, where a person types instead of a client.
pub(crate) fn is_input_terminal() -> bool {
    io::stdin().is_terminal()
}
