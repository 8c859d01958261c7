//! `source` and `.`: the code of a file, in this shell.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::parameters::parameters;
use super::super::{code, pinned, role};
use crate::facts::Role;
use crate::state::Frame;
use crate::value::{Content, Stream};
use std::rc::Rc;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    let (file, words) = program.call.operands.split_first()?;
    let outer = frame.state.parameters.clone();
    if !words.is_empty() {
        frame.state.parameters = parameters(words);
    }
    let is_input = matches!(&*file.text.bytes, b"-" | b"/dev/stdin" | b"/dev/fd/0");
    let stream = match &file.stream {
        Some(stream) => Some(&**stream),
        None => is_input.then_some(program.input),
    };
    let output = match stream.map(|stream| &stream.content) {
        Some(Content::Literal(text)) => {
            let text = Rc::clone(text);
            Some(code::here(run, &text, frame, &Stream::default()))
        }
        None if pinned::activates(run, program.id, file, &frame.state.folder) => None,
        _ => {
            own.frame = frame.clone();
            role::role(run, Role::Script, file, program, own);
            None
        }
    };
    frame.state.parameters = outer;
    own.has_code = true;
    output
}
