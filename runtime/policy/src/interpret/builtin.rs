//! Builtins that change the shell, and shells: one file a builtin.

mod alias;
mod cd;
mod command;
mod declare;
mod eval;
mod popd;
mod pushd;
mod read;
mod set;
mod shell;
mod shift;
mod source;
mod trap;

use super::machine::Machine;
use super::own::{Own, Program};
use crate::facts::Special;
use crate::state::Frame;
use crate::value::Stream;

/// Interprets a builtin, which gives its operands their roles; returns its output, if known.
pub(super) type Builtin =
    fn(&mut Machine<'_>, &Program<'_, '_>, &mut Frame, &mut Own) -> Option<Stream>;

/// Returns the builtin of a kind of program; `None` for an ordinary program.
pub(super) const fn of(special: Special) -> Option<Builtin> {
    Some(match special {
        Special::Nothing => return None,
        Special::ChangeFolder => cd::run,
        Special::PushFolder => pushd::run,
        Special::PopFolder => popd::run,
        Special::Direct => command::run,
        Special::Trap => trap::run,
        Special::Source => source::run,
        Special::Eval => eval::run,
        Special::Set => set::run,
        Special::Shift => shift::run,
        Special::Read | Special::ReadLines => read::run,
        Special::Declare | Special::Export => declare::run,
        Special::Alias => alias::run,
        Special::Shell => shell::run,
    })
}
