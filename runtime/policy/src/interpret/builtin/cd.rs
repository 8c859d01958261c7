//! `cd`: another folder.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::{code, path};
use crate::state::{Folder, Frame};
use crate::value::{Field, Mark, Stream};

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    frame.state.folder = match program.call.operands.first() {
        None if run.variables.is_assigned("HOME") => Folder::Unknown,
        None => Folder::Known(Mark::Home.text().into()),
        Some(field) => folder(run, field, frame),
    };
    code::traps_in(run, frame);
    None
}

/// Returns the folder that a word names.
pub(super) fn folder(run: &mut Machine<'_>, field: &Field<'_>, frame: &Frame) -> Folder {
    // `-` is the previous folder, `+1` a folder of the stack.
    let is_relative = matches!(field.text.bytes.first(), Some(b'-' | b'+'));
    if field.spread || is_relative {
        return Folder::Unknown;
    }
    path::enter(run, &field.text, &frame.state.folder)
}
