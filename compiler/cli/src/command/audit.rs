//! `relay audit`: the records of audit files, and the check of their chain.

mod event;
mod lines;
mod show;
mod verify;

use crate::args::{AuditArgs, AuditVerb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) use show::since_text;
pub(crate) use verify::AuditVerified;

pub(super) fn run(arguments: &AuditArgs, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.verb {
        AuditVerb::Show(arguments) => show::run(arguments, output),
        AuditVerb::Verify(arguments) => verify::run(arguments, output),
    }
}
