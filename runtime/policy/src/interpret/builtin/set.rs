//! `set`: positional parameters, and settings of the shell.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::parameters::parameters;
use crate::effect::Hidden;
use crate::state::Frame;
use crate::value::Stream;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    let call = program.call;
    run.shell.exports_all |= call.gives(run.facts, b"-a");
    if call.gives(run.facts, b"-k") {
        let reason = "words of a command may be variables from here on";
        own.runs(Hidden::Opaque, call.span, reason);
    }
    if call.operands.is_empty() && call.dashes.is_none() {
        return None;
    }
    // `set - WORDS` sets the words after the dash.
    let words = match call.operands.split_first() {
        Some((dash, rest)) if &*dash.text.bytes == b"-" && call.dashes.is_none() => {
            if rest.is_empty() {
                return None;
            }
            rest
        }
        _ => &call.operands,
    };
    frame.state.parameters = parameters(words);
    None
}
