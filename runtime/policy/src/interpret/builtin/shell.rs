//! A shell: `-c` code with its arguments, a script, or standard input.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::parameters::parameters;
use super::super::{code, role};
use crate::effect::{Act, Hidden};
use crate::facts::Role;
use crate::invocation::{Given, Invocation};
use crate::state::{Dialect, Frame};
use crate::tier::Floor;
use crate::value::Stream;
use std::rc::Rc;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    let call = program.call;
    if frame.state.is_connected {
        own.does(Act::GivesShell, call.span);
    }
    if let Some(first) = call.operands.first().filter(|first| first.text.bytes.starts_with(b"+"))
        && call.dashes.is_none()
    {
        own.doubt(Floor::UnknownWord, first.text.span, "no fact declares this option");
    } else if runs_nothing(run, call) {
        own.has_code = true;
        return None;
    }
    own.uncap();
    let (has_code, reads_input) = (call.gives(run.facts, b"-c"), call.gives(run.facts, b"-s"));
    let dialect = Dialect::of_shell(program.name);
    let mut inner = Frame { wrappers: frame.wrappers + 1, dialect, ..frame.clone() };
    match call.operands.split_first() {
        Some((code, words)) if has_code => {
            own.has_code = true;
            // The first word after the code is `$0`.
            inner.zero = words.first().map(|name| Rc::new(name.text.clone().owned()));
            inner.state.parameters = parameters(words.get(1..).unwrap_or(&[]));
            if code.spread {
                own.runs(Hidden::Made, code.text.span, "this code is not literal");
            }
            Some(code::other(run, &code.text, &inner, program.input))
        }
        Some((script, words)) if !reads_input => {
            own.has_code = true;
            inner.state.parameters = parameters(words);
            own.frame = inner;
            role::role(run, Role::Script, script, program, own);
            None
        }
        operands => {
            let words = operands.map(|_| call.operands.as_slice()).unwrap_or_default();
            own.parameters = Some(parameters(words));
            None
        }
    }
}

/// Returns whether a shell only checks its code: the last of `-n` and `+n` decides.
fn runs_nothing(run: &Machine<'_>, call: &Invocation<'_>) -> bool {
    let is_name = |given: &Given<'_>, name: &[u8]| {
        given.name.is_some() && given.name == run.facts.name_id(name)
    };
    let mut is_checked = false;
    for given in &call.given {
        if given.flag.only_looks() && given.is_whole {
            is_checked = true;
        } else if [b"+n".as_slice(), b"+o", b"-i"].iter().any(|name| is_name(given, name)) {
            is_checked = false;
        }
    }
    is_checked && !call.has_unknown && !call.is_lost
}
