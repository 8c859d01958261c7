//! The verbs, one file each; `serve` is in `process`, which starts programs. A verb takes its
//! parsed arguments and returns its outcome.

mod approve;
mod audit;
mod build;
mod check;
pub(crate) mod classify;
mod completions;
mod describe;
mod dev;
mod diff;
mod explain;
mod export;
mod facts;
mod fmt;
mod generated;
mod git_setup;
mod hook;
mod import;
mod init;
mod inspect;
mod keygen;
mod rules;
mod show;
mod sign;
mod test;
mod trust;
mod verify;

use crate::args::{GitSetupArgs, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::process;
use crate::reference::reference;

pub use generated::schemas;

/// Runs `verb`.
pub(crate) fn run(verb: Verb, output: &mut Output) -> Result<Exit, Failure> {
    match verb {
        Verb::Approve(arguments) => approve::run(&arguments, output),
        Verb::Audit(arguments) => audit::run(&arguments, output),
        Verb::Build(arguments) => build::run(&arguments, output),
        Verb::Check(arguments) => check::run(&arguments, output),
        Verb::Classify(arguments) => classify::run(&arguments, output),
        Verb::Completions(arguments) => completions::completions(&arguments, output),
        Verb::Describe(arguments) => describe::run(&arguments, output),
        Verb::Dev(arguments) => dev::run(&arguments, output),
        Verb::Diff(arguments) => diff::run(&arguments, output),
        Verb::Explain(arguments) => explain::run(&arguments, output),
        Verb::Export(arguments) => export::run(&arguments, output),
        Verb::Facts(arguments) => facts::run(&arguments, output),
        Verb::FactTable(arguments) => facts::write_table(&arguments, output),
        Verb::Fmt(arguments) => fmt::run(&arguments, output),
        Verb::GitSetup(GitSetupArgs {}) => git_setup::run(output),
        Verb::Hook(arguments) => hook::run(&arguments, output),
        Verb::Import(arguments) => import::run(&arguments, output),
        Verb::Init(arguments) => init::run(&arguments, output),
        Verb::Inspect(arguments) => inspect::run(&arguments, output),
        Verb::Keygen(arguments) => keygen::run(&arguments, output),
        Verb::Man(arguments) => completions::man(&arguments, output),
        Verb::PolicyAutomata(arguments) => generated::write_automata(&arguments, output),
        Verb::Reference(arguments) => generated::write(&arguments, reference(), output),
        Verb::Rules(arguments) => rules::run(&arguments, output),
        Verb::Schemas(arguments) => generated::write_schemas(&arguments, output),
        Verb::Serve(arguments) => process::serve(&arguments.arguments),
        Verb::Show(arguments) => show::run(&arguments, output),
        Verb::Sign(arguments) => sign::run(&arguments, output),
        Verb::Test(arguments) => test::run(&arguments, output),
        Verb::Trust(arguments) => trust::run(&arguments, output),
        Verb::Verify(arguments) => verify::run(&arguments, output),
    }
}
