//! `relay`: checks, builds, signs and explains the texts and the authority of agents.
//!
//! The command line (`args`) is separate from its meaning (`command`, one file for each verb). All
//! output goes through one `output::Output`; the libraries below never print.

#![forbid(unsafe_code)]

mod answer;
mod args;
mod asked;
mod caller;
mod command;
mod crew;
mod disk;
mod environment;
mod exit;
mod expiry;
mod export;
mod failure;
mod files;
mod hook;
mod import;
mod judge;
mod keys;
mod kind;
mod level;
mod markdown;
mod output;
mod permissions;
mod process;
mod progress;
mod project;
mod receipt;
mod reference;
mod report;
mod revision;
mod sarif;
mod shell;
mod shipped;
mod subject;
mod text;
mod toml_text;
mod trust_file;
mod unified;
mod usage;
mod workflow;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::{Cli, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub use command::schemas;
pub use files::files_on_disk;
pub use reference::reference;
pub use report::findings;
pub use revision::files_at_head;

/// Runs `relay` with a command line, which begins with the program's name, and the shipped facts.
pub fn run(arguments: impl IntoIterator<Item = OsString>, facts: &'static [u8]) -> ExitCode {
    shipped::set_facts(facts);
    let mut output = Output::new();
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let ended = match asks_for_version(&arguments) {
        true => output.result(args::version_line()).map(|()| Exit::Yes),
        false => match parse(&mut arguments) {
            Ok(cli) => command::run(cli.verb, &mut output),
            Err(error) => usage::answer(&error, &arguments, &mut output),
        },
    };
    let exit = match ended {
        Ok(exit) => exit,
        // Some lines were left unjudged.
        Err(Failure::ClosedPipe) => Exit::No,
        Err(Failure::Stopped { exit, message, help }) => {
            output.fail(&message, help.as_deref());
            exit
        }
    };
    exit.into()
}

/// Returns whether a command line is only about the version: scripts ask for it often, and the grammar of all
/// verbs takes longer to make than all the rest.
fn asks_for_version(arguments: &[OsString]) -> bool {
    let words = ["--version", "-V", "version"];
    matches!(arguments, [_, word] if words.iter().any(|known| word == known))
}

fn parse(arguments: &mut [OsString]) -> Result<Cli, clap::Error> {
    let read = |arguments: &[OsString]| {
        Cli::from_arg_matches(&args::command().try_get_matches_from(arguments)?)
    };
    let cli = read(arguments)?;
    if let Verb::Classify(classify) = &cli.verb
        && let Some(options) = classify.options_behind()
    {
        // Options are recognized in front of the text.
        let words = arguments.len().saturating_sub(options + 1);
        if let Some(words) = arguments.get_mut(words..) {
            words.rotate_left(1);
        }
        return read(arguments);
    }
    Ok(cli)
}
