//! `relay dev`: builds a project, serves it, and builds it again when a file changes.
//!
//! A faulty build is printed and changes nothing: the last good bundle stays in force. The server watches the path of
//! its bundle, so it takes a new one by itself.

mod bench;
mod changes;

use std::ffi::OsString;
use std::time::Duration;

use self::bench::{Bench, Built};
use crate::answer::size::counted;
use crate::args::DevArgs;
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::Noted;
use crate::output::Output;
use crate::process::{Event, Server, Transport, exit_of, is_input_terminal};

/// The time between two looks at the files.
const LOOK: Duration = Duration::from_millis(300);
/// The time between looks at files that changed, until two in a row are equal.
const SETTLE: Duration = Duration::from_millis(100);
/// The longest wait for files that change again and again, as a log does.
const SETTLE_MAX: Duration = Duration::from_secs(2);
/// With many files a look takes longer. The pause after it is this many times as long at least.
const PAUSE_LOOKS: u32 = 20;
/// The address in a terminal.
const ADDRESS: &str = "127.0.0.1:8700";

pub(crate) fn run(arguments: &DevArgs, output: &mut Output) -> Result<Exit, Failure> {
    let transport = transport(arguments);
    let mut bench = Bench::new(arguments, output)?;
    let mut server = Server::prepare(&transport)?;
    // An unreadable project at the start is a wrong command line; later it may come back.
    let (mut noted, mut built) = bench.build(output)?;
    output.message(format_args!("{}\n", watching(&noted)));
    loop {
        if built == Built::Good && !server.is_started() {
            server.start(&options(&bench, &transport, arguments))?;
        }
        let settled = match wait(&noted, &server)? {
            Next::Changed(settled) => settled,
            Next::End(exit) => return Ok(exit),
        };
        (noted, built) = match bench.build(output) {
            Ok(done) => done,
            Err(Failure::Stopped { exit: _, message, help }) => {
                // As when the document is missing for a moment. The files that were read are watched on.
                output.fail(&message, help.as_deref());
                (settled, Built::Faulty)
            }
            Err(closed @ Failure::ClosedPipe) => return Err(closed),
        };
    }
}

/// The reason to go on.
enum Next {
    /// Files changed, and are like this now.
    Changed(Noted),
    /// The server ended.
    End(Exit),
}

/// Waits until files differ from `noted` and rest, or change for too long, or until the server
/// ends.
fn wait(noted: &Noted, server: &Server) -> Result<Next, Failure> {
    let mut last = None;
    let mut unsettled = Duration::ZERO;
    loop {
        let (now, cost) = environment::timed(|| noted.now());
        let pause = match now == *noted {
            true => LOOK,
            false if last.as_ref() == Some(&now) || unsettled >= SETTLE_MAX => {
                return Ok(Next::Changed(now));
            }
            false => SETTLE,
        };
        let is_changed = now != *noted;
        last = Some(now);
        let pause = pause.max(cost.saturating_mul(PAUSE_LOOKS));
        unsettled = if is_changed { unsettled + pause } else { Duration::ZERO };
        match server.wait(pause) {
            Some(Event::Ended(status)) => return exit_of(status).map(Next::End),
            Some(Event::InputEnded) if !server.is_started() => {
                return Err(Failure::no("the client left before the first good build"));
            }
            Some(Event::InputEnded) | None => {}
        }
    }
}

fn transport(arguments: &DevArgs) -> Transport {
    match &arguments.http {
        Some(address) => Transport::Http(address.clone()),
        None if arguments.stdio || !is_input_terminal() => Transport::Stdio,
        None => Transport::Http(ADDRESS.into()),
    }
}

fn options(bench: &Bench, transport: &Transport, arguments: &DevArgs) -> Vec<OsString> {
    let path = vec![bench.path().as_os_str().to_owned()];
    [path, transport.options(), arguments.server.clone()].concat()
}

fn watching(noted: &Noted) -> String {
    let (files, folders) = noted.counts();
    let folders = match folders {
        0 => String::new(),
        some => format!(" and {}", counted(some, "folder")),
    };
    format!("watching {}{folders}", counted(files, "file"))
}
