//! The states of clients for people.

use super::{ClientStatus, HookStatus, MachineStatus, State};
use crate::failure::Failure;
use crate::output::{Output, bad, bold, dim, good};
use crate::text::{padded, printable, wrapped};

/// The width of the first column.
const WIDTH: usize = 14;

/// Prints the states.
pub(super) fn print(status: &HookStatus, output: &mut Output) -> Result<(), Failure> {
    let HookStatus { machine, clients, state, .. } = status;
    print_machine(machine, *state, output)?;
    for client in clients.iter().filter(|client| client.state != State::Absent) {
        print_client(client, output)?;
    }
    let absent: Vec<&str> =
        clients.iter().filter(|it| it.state == State::Absent).map(|it| it.client).collect();
    if !absent.is_empty() {
        output.result(format_args!("\nnot installed: {}\n", absent.join(", ")))?;
    }
    if *state == State::Absent {
        output.note(
            "`relay hook install CLIENT --bundle FILE --trust FILE` installs relay in a client",
        );
    }
    Ok(())
}

fn print_machine(
    machine: &MachineStatus,
    state: State,
    output: &mut Output,
) -> Result<(), Failure> {
    let MachineStatus { path, principal, allow, audit, digest, epoch, project, faults, .. } =
        machine;
    output.result(format_args!("{}\n", bold("machine")))?;
    row("file", path, output)?;
    if let (Some(project), Some(digest), Some(epoch)) = (project, digest, epoch) {
        let trusted = if machine.trusted == Some(true) { "trusted" } else { "not trusted" };
        row("bundle", &format!("{project}, epoch {epoch}, {trusted}, {digest}"), output)?;
    }
    if let (Some(principal), Some(allow)) = (principal, allow) {
        row("principal", &format!("{principal}; allow = {allow}"), output)?;
    }
    if let Some(audit) = audit {
        row("audit", audit, output)?;
    }
    // Without an installation, no machine file is needed.
    if state != State::Absent || machine.exists {
        print_faults(faults, output)?;
    }
    Ok(())
}

fn print_client(client: &ClientStatus, output: &mut Output) -> Result<(), Failure> {
    let ClientStatus { title, state, installed, version, trusted, other_hooks, .. } = client;
    let word = match state {
        State::Well => good("well").to_string(),
        State::Faulty => bad("faulty").to_string(),
        State::Unknown | State::Absent => bad("could not tell").to_string(),
    };
    output.result(format_args!("\n{} {word}\n", bold(title)))?;
    for file in installed {
        row(file.scope, &file.path, output)?;
    }
    let version = version.as_deref().unwrap_or("unknown");
    let known = if client.is_tried { "tried with" } else { "not tried; by the" };
    row("version", &format!("{version} ({known} {})", client.known_from), output)?;
    if let Some(trusted) = trusted {
        let word = if *trusted { "by a person, as the client recorded it" } else { "not yet" };
        row("trusted", word, output)?;
    }
    let last = match &client.last_record {
        Some(record) => {
            let version = record.client_version.as_ref().map(|version| format!(", {version}"));
            format!("{}{}", ago(record.ago_s, &record.ts), version.unwrap_or_default())
        }
        None => "none yet".to_owned(),
    };
    row("last record", &last, output)?;
    if *other_hooks > 0 {
        let text =
            format!("{other_hooks} run beside relay's before a tool, and may change its input");
        row("other hooks", &text, output)?;
    }
    if !client.unknown_tools.is_empty() {
        row("unknown tools", &client.unknown_tools.join(", "), output)?;
    }
    print_faults(&client.faults, output)?;
    for line in client.stays_open {
        output.result(dim(labelled("open:", line, output)))?;
    }
    Ok(())
}

/// Returns a text of several lines after a word.
fn labelled(word: &str, text: &str, output: &Output) -> String {
    let lines = wrapped(text, "         ", output.result_look().width);
    format!("  {word:<6} {}", lines.trim_start())
}

fn print_faults(faults: &[String], output: &mut Output) -> Result<(), Failure> {
    for fault in faults {
        output.result(bad(labelled("fault:", fault, output)))?;
    }
    Ok(())
}

fn row(name: &str, text: &str, output: &mut Output) -> Result<(), Failure> {
    output.result(format_args!("  {} {}\n", padded(name, WIDTH), printable(text)))
}

/// Returns a time that has passed, in its largest unit.
fn ago(seconds: Option<u64>, ts: &str) -> String {
    let Some(seconds) = seconds else { return ts.to_owned() };
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length);
    let (length, name) = unit.unwrap_or((1, "second"));
    let count = seconds / length;
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural} ago")
}
