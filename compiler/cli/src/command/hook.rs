//! `relay hook`: runs `relay-hook`, and installs, checks and tries it in clients.

mod bundle;
mod install;
mod stats;
mod status;
mod test;
mod versions;

use std::ffi::OsString;

use crate::args::{HookArgs, HookVerb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::process;

pub(crate) use stats::HookStats;
pub(crate) use status::HookStatus;

pub(super) fn run(arguments: &HookArgs, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.verb {
        Some(HookVerb::Install(arguments)) => install::run(arguments, output),
        Some(HookVerb::Stats(arguments)) => stats::run(arguments, output),
        Some(HookVerb::Status(arguments)) => status::run(arguments, output),
        Some(HookVerb::Test(arguments)) => test::run(arguments, output),
        None => answer(arguments),
    }
}

/// Becomes `relay-hook`, which answers the event on standard input.
fn answer(arguments: &HookArgs) -> Result<Exit, Failure> {
    let mut words: Vec<OsString> = arguments.client.iter().map(OsString::from).collect();
    if let Some(config) = &arguments.config {
        words.extend([OsString::from("--config"), config.into()]);
    }
    process::hook(&words)
}
