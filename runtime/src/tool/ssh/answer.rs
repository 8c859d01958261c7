//! The end of a command on a host -> the answer to its call.

use relay_ssh::{End, Fate, Finished};

use crate::remote::signal_number;
use crate::tool::error::CallError;
use crate::tool::implementation::Outcome;

/// Returns the answer of a command that ended.
pub(super) fn outcome(finished: &Finished, timeout_s: u64) -> Result<Outcome, CallError> {
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
    let (is_error, timed_out) = (exit_code.is_none(), matches!(end, End::TimedOut(_)));
    Ok(Outcome { text, exit_code, is_error, timed_out, ..Outcome::default() })
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
    signal_number(name).map_or_else(|| format!("by signal {name}"), |number| format!("-{number}"))
}
