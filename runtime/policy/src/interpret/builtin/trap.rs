//! `trap`: code that runs when the shell ends or gets a signal.

use super::super::code;
use super::super::machine::Machine;
use super::super::own::{Own, Program};
use crate::state::Frame;
use crate::value::{Content, Stream};

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    let only_prints = program.call.gives(run.facts, b"-p");
    let [code, _, ..] = program.call.operands.as_slice() else { return None };
    // `-` removes a trap.
    if only_prints || &*code.text.bytes == b"-" {
        return None;
    }
    run.shell.traps.push(code.text.clone().owned());
    run.perhaps(|run| {
        code::here(run, &code.text, &mut frame.clone(), &Stream::of(Content::Opaque));
    });
    own.has_code = true;
    None
}
