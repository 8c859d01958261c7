//! `command`, `builtin` and `exec`: a program, even if a function has its name.

use super::super::machine::{Lookup, Machine};
use super::super::own::{Own, Program};
use crate::state::Frame;
use crate::value::Stream;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    own.has_code = true;
    let operands = &program.call.operands;
    let only_looks = program.call.gives(run.facts, b"-v") || program.call.gives(run.facts, b"-V");
    let runs = !operands.is_empty() && !only_looks;
    runs.then(|| run.command(operands, frame, program.input, Lookup::Program))
}
