//! `relay completions` and `relay man`: the command line, for a shell and for `man`.

use std::fs;

use clap::Command;
use clap::builder::{Resettable, StyledStr};
use clap_complete::generate;
use clap_mangen::Man;

use crate::args::{self, CompletionsArgs, ManArgs};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::text::shown_path;

pub(crate) fn completions(
    arguments: &CompletionsArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut offered(&args::plain_command()), "relay", &mut script);
    output.verbatim(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Yes)
}

/// Returns a command without its hidden verbs and arguments, which the generators write too.
fn offered(command: &Command) -> Command {
    let text = |text: Option<&StyledStr>| Resettable::from(text.cloned());
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let offered = Command::new(command.get_name().to_owned())
        .about(text(command.get_about()))
        .long_about(text(command.get_long_about()))
        .after_long_help(text(command.get_after_long_help()))
        .disable_help_flag(command.is_disable_help_flag_set())
        .disable_help_subcommand(command.is_disable_help_subcommand_set())
        .args(arguments.cloned())
        .subcommands(verbs.map(offered));
    match command.get_version() {
        Some(version) => offered.version(version.to_owned()),
        None => offered,
    }
}

/// Writes `relay.1`, `relay-VERB.1` for each verb, and the same for the verbs of a verb.
pub(crate) fn man(arguments: &ManArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
    let command = args::plain_command();
    for page in pages(&command, "relay") {
        let name = page.get_name().to_owned();
        let mut text = Vec::new();
        Man::new(page).render(&mut text).map_err(|error| {
            Failure::error(format!("the page of {name} cannot be made: {error}"))
        })?;
        let path = folder.join(format!("{name}.1"));
        disk::replace(&path, &text)?;
        output.result(format_args!("{}\n", shown_path(&path)))?;
    }
    Ok(Exit::Yes)
}

/// Returns a command with its full name, and those below it.
fn pages(command: &Command, name: &str) -> Vec<Command> {
    let page = command.clone().name(name.to_owned()).bin_name(name.replace('-', " "));
    let below = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let below = below.flat_map(|verb| pages(verb, &format!("{name}-{}", verb.get_name())));
    [page].into_iter().chain(below).collect()
}
