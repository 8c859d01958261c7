//! `relay approve CODE`: a person's yes to one call of an agent.

use std::io::{self, BufRead as _, IsTerminal as _};

use ed25519_dalek::Signer as _;
use relay_bundle::trust::Time;
use relay_hook::approval::{self, Waiting};
use relay_hook::{Machine, OsUser, find_machine_file, read_machine_file};

use crate::args::ApproveArgs;
use crate::disk::{self, Access};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::keys::{self, Key};
use crate::output::{Output, bold, dim};
use crate::process::agent_above;
use crate::text::{printable, shown_path};

/// The word that approves.
const YES: &str = "yes";
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 64;

pub(crate) fn run(arguments: &ApproveArgs, output: &mut Output) -> Result<Exit, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::no("a call is approved in a terminal, by a person who reads it")
            .help("open a terminal of your own, and run the same command there"));
    }
    if let Some(agent) = agent_above()? {
        return Err(Failure::no(format!(
            "`{}` runs this: an agent approves nothing",
            printable(&agent)
        ))
        .help("open a terminal of your own, and run the same command there"));
    }
    let user = OsUser::current();
    let machine = find_machine_file(arguments.config.as_deref(), &user)
        .and_then(|path| read_machine_file(&path, &user))
        .map_err(|error| Failure::error(error.to_string()))?;
    let waiting = approval::waiting(&machine.state, &arguments.code)
        .map_err(|error| Failure::no(error.to_string()))?;
    show(&waiting, output);
    let mut answer = String::new();
    let read = io::Read::take(io::stdin().lock(), ANSWER_BYTES_MAX);
    io::BufReader::new(read)
        .read_line(&mut answer)
        .map_err(|error| Failure::error(format!("cannot read your answer: {error}")))?;
    if answer.trim() != YES {
        output.message("not approved\n");
        return Ok(Exit::No);
    }
    let key = keys::approval_key(output)?;
    keep_public(&key, &machine)?;
    let until = environment::now().saturating_add(waiting.ttl_s.into());
    let signature = key.signing.sign(approval::signed(&waiting, until).as_bytes());
    approval::approve(&machine.state, &waiting, until, &signature)
        .map_err(|error| Failure::file("write", &machine.state, &error))?;
    let until = Time(until);
    output.message(format_args!(
        "approved once, until {until}: the agent may make the same call again\n"
    ));
    Ok(Exit::Yes)
}

/// Shows a call as it is, with everything that its approval is bound to.
fn show(waiting: &Waiting, output: &mut Output) {
    let Waiting { tool, text, cwd, principal, client, tier, reason, bundle, ttl_s, .. } = waiting;
    let text: String = text.lines().map(|line| format!("    {}\n", printable(line))).collect();
    let row =
        |name: &str, value: &str| format!("  {} {}\n", dim(format!("{name:<9}")), printable(value));
    let rows = [
        row("tool", tool),
        row("folder", cwd),
        row("caller", principal),
        row("client", client),
        row("tier", &tier.to_string()),
        row("rule", reason),
        row("bundle", bundle),
    ];
    output.message(format_args!(
        "\n{}\n{text}\n{}\nType {YES} to let it run once within {ttl_s} s, anything else to refuse: ",
        bold("An agent wants to do this:\n"),
        rows.concat()
    ));
}

/// Puts the public key where the hook finds it.
fn keep_public(key: &Key, machine: &Machine) -> Result<(), Failure> {
    let path = approval::public_key_path(&machine.state);
    let line = key.public_line();
    if disk::create(&path, line.as_bytes(), Access::Owner)? {
        return Ok(());
    }
    if disk::read_text(&path, keys::KEY_BYTES_MAX)? == line {
        return Ok(());
    }
    Err(Failure::error(format!(
        "`{}` holds the key of another person, or an earlier one of yours",
        shown_path(&path)
    ))
    .help("if the earlier key was yours, remove that file and approve again"))
}
