//! `shift`: drops the first parameters.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::parameters::shifted;
use crate::state::Frame;
use crate::value::Stream;

pub(super) fn run(
    _run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    frame.state.parameters = shifted(&frame.state.parameters, &program.call.operands);
    None
}
