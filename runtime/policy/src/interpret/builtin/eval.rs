//! `eval`: its words, as code of this shell.

use super::super::code;
use super::super::code_text::join_words;
use super::super::machine::Machine;
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
    let code = join_words(&program.call.operands)?;
    Some(code::here(run, &code, frame, program.input))
}
