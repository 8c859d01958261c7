//! `pushd`: another folder, and the way back.

use super::super::code;
use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::cd::folder;
use crate::state::{Folder, Frame};
use crate::value::Stream;

/// The most folders on the stack.
const FOLDERS_MAX: usize = 16;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    let left = frame.state.folder.clone();
    frame.state.folder = match program.call.operands.first() {
        None => frame.state.stack.pop().unwrap_or(Folder::Unknown),
        Some(field) => folder(run, field, frame),
    };
    if frame.state.stack.len() < FOLDERS_MAX {
        frame.state.stack.push(left);
    } else {
        frame.state.stack.clear();
    }
    code::traps_in(run, frame);
    None
}
