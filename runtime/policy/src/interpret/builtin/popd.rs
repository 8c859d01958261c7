//! `popd`: back to the folder before `pushd`.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use crate::state::{Folder, Frame};
use crate::value::Stream;

pub(super) fn run(
    _run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    let is_top = program.call.operands.is_empty() && program.call.given.is_empty();
    let top = frame.state.stack.pop().filter(|_| is_top);
    frame.state.folder = top.unwrap_or(Folder::Unknown);
    if !is_top {
        frame.state.stack.clear();
    }
    None
}
