//! The `ssh_` tools: commands on other hosts, one or many, and files.

mod fleet;
mod transfer;

use std::future::Future;
use std::time::Duration;

use relay_engine::tool::Arguments;
use relay_ssh::{Command, ConnectError, End, Fate, Finished, Route};
use tokio_util::sync::CancellationToken;

pub(super) use self::fleet::{SshCheck, SshFanout, SshHosts, SshKeyscan};
pub(super) use self::transfer::{SshDownload, SshUpload};

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use crate::remote::Ask;

/// `ssh_exec`.
pub(super) struct SshExec;

impl Tool for SshExec {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let arguments = &run.arguments;
            let host = arguments.text("host").unwrap_or_default();
            let route = route(&run, host)?;
            let _place = place(permit, &run).await?;
            let bytes_max = number(arguments, "max_output");
            let command = Command {
                text: arguments.text("command").unwrap_or_default().as_bytes().to_vec(),
                input: Vec::new(),
                merge: true,
                output_bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
                timeout: timeout(arguments),
                terminal: false,
            };
            let pool = &run.call.server.remote.pool;
            let finished = pool.run(&route, command, stopped(&run.stop)).await;
            let finished = finished.map_err(|error| unreachable(&error))?;
            outcome(&finished, number(arguments, "timeout"))
        })
    }
}

/// Returns the way to the host that a call names, with what it sets about it.
fn route(run: &Run<'_>, host: &str) -> Result<Route, CallError> {
    let text = |name: &str| run.arguments.text(name).unwrap_or_default();
    let port = run.arguments.integer("port").and_then(|port| u16::try_from(port).ok());
    let ask = Ask {
        host,
        user: text("user"),
        port: port.unwrap_or_default(),
        key_path: text("key_path"),
        known_hosts: text("known_hosts"),
        jump: text("jump"),
    };
    let route = run.call.server.remote.route(run.call.placed.loaded.hosts(), &ask);
    route.map_err(|error| CallError::Failed(error.to_string()))
}

/// Waits for a place for one more command of the caller, as local ones do.
async fn place(permit: &Permit, run: &Run<'_>) -> Result<crate::process::Place, CallError> {
    let place = run.call.server.processes.place(permit.principal().caller_key()).await;
    place.map_err(|error| CallError::Failed(error.to_string()))
}

fn number(arguments: &Arguments<'_>, name: &str) -> u64 {
    arguments.integer(name).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
}

/// Returns the time that a command has.
fn timeout(arguments: &Arguments<'_>) -> Duration {
    Duration::from_secs(number(arguments, "timeout"))
}

/// Waits until a call is over.
fn stopped(stop: &CancellationToken) -> impl Future<Output = ()> + use<> {
    stop.clone().cancelled_owned()
}

fn unreachable(error: &ConnectError) -> CallError {
    CallError::Failed(error.to_string())
}

/// Returns the answer of a command that ended.
fn outcome(finished: &Finished, timeout_s: u64) -> Result<Outcome, CallError> {
    let failed = |text: &str| Err(CallError::Failed(text.to_owned()));
    let head = match &finished.end {
        End::Exited(code) => format!("[exit {code}]\n"),
        End::Signalled(name) => format!("[exit {}]\n", signal(name)),
        End::Refused => return failed("the host refuses to run commands for this user"),
        End::NoStatus => {
            "[ERROR: the host closed the command without its status, so its outcome is unknown]\n"
                .to_owned()
        }
        End::Lost => {
            "[ERROR: the connection was lost, so its outcome is unknown: the command may still run]\n"
                .to_owned()
        }
        End::TimedOut(fate) => format!("[TIMEOUT after {timeout_s}s]{}\n", still(*fate)),
        End::Stopped(_) => return Err(CallError::Cancelled),
    };
    let Finished { stdout, stderr, stdout_bytes, stderr_bytes, end } = finished;
    let mut text = head;
    [stdout, stderr].into_iter().for_each(|part| text.push_str(&String::from_utf8_lossy(part)));
    let (shown, bytes) = (stdout.len() + stderr.len(), stdout_bytes + stderr_bytes);
    if bytes > shown as u64 {
        text.push_str(&format!("\n\n[TRUNCATED - {bytes} bytes total, {shown} shown]"));
    }
    let exit_code = match end {
        End::Exited(code) => i32::try_from(*code).ok(),
        End::Signalled(name) => signal(name).parse().ok(),
        _ => None,
    };
    Ok(Outcome { text, exit_code, is_error: exit_code.is_none(), ..Outcome::default() })
}

/// Returns the note on a command that was ended early.
fn still(fate: Fate) -> &'static str {
    match fate {
        Fate::NotBegun => " It was not begun.",
        Fate::Ended => "",
        Fate::MayStillRun => {
            " It may still run on the host, which does not end commands of this user."
        }
    }
}

/// Returns the exit code of a death by a signal, as Python numbers it; of an unknown one, its name.
fn signal(name: &str) -> String {
    // RFC 4254, section 6.10, with the numbers of Linux.
    let numbers = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ILL", 4),
        ("ABRT", 6),
        ("FPE", 8),
        ("KILL", 9),
        ("USR1", 10),
        ("SEGV", 11),
        ("USR2", 12),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
    ];
    let known = numbers.iter().find(|(known, _)| *known == name);
    known.map_or_else(|| format!("by signal {name}"), |(_, number)| format!("-{number}"))
}
