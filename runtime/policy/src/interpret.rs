//! A script × the state of a shell -> state, output and effects.
//!
//! The interpreter goes through everything that a text may run, in the order of a shell, and notes
//! the effects. It guesses only upwards: an unknown value is a doubt that stays with the value. It
//! neither names tiers nor decides; `judge` does, from the effects alone.
//!
//! Modules import in one direction. Where a lower module needs a higher one (a word runs a
//! substitution, a builtin runs code), it calls the [`machine::Machine`], which holds the functions
//! of [`machine::Entry`].

mod arithmetic;
mod braces;
mod builtin;
mod choice;
mod code;
mod code_text;
mod command;
mod compound;
mod each;
mod expand;
mod fields;
mod lookup;
mod machine;
mod mount;
mod operand;
mod output;
mod own;
mod parameter;
mod parameter_operator;
mod parameters;
mod path;
mod pinned;
mod program;
mod project;
mod redirect;
mod role;
mod simple;
mod variables;

use crate::effect::Effects;
use crate::facts::Facts;
use crate::parse::ParseError;
use crate::paths::Ground;
use crate::span::Span;
use crate::state::Frame;
use crate::syntax::Script;
use crate::value::{Stream, Text};
use machine::{Code, Entry, Machine};

pub use variables::changes_code;

/// The most readings of a text until its variables stay the same.
const ROUNDS_MAX: usize = 3;

const ENTRY: Entry =
    Entry { list: command::list, command: lookup::command, reading: expand::single };

/// The effects of a text.
pub(crate) struct Interpreted {
    pub(crate) effects: Effects,
    /// The effects of the round before the last, if the last one ran out of steps and so reached
    /// less far.
    pub(crate) before: Option<Effects>,
}

/// Interprets a script. It is read again while variables get a value after they were read.
pub(crate) fn interpret(
    text: &str,
    script: &Script,
    facts: &Facts<'_>,
    ground: Ground<'_>,
) -> Interpreted {
    let mut run = Machine::new(facts, ground, text.len(), ENTRY);
    let place = Text::exact(text.as_bytes(), Span::new(0, text.len()));
    let mut before = Effects::for_text(text.len());
    for round in 1.. {
        std::mem::swap(&mut before, &mut run.effects);
        run.begin_round();
        let code = Code { text, place: &place, script };
        let mut frame = Frame::default();
        frame.state.folder = ground.start();
        for (name, value) in ground.variables {
            run.variables.assign(name, value.as_bytes().into());
            run.variables.export(name);
        }
        command::list(&mut run, &code, &script.body, &mut frame, &Stream::default());
        code::traps(&mut run, &mut frame);
        pinned::check(&mut run);
        if !run.variables.is_stale() || run.fuel.is_spent() || round > ROUNDS_MAX {
            break;
        }
        // The last round takes every variable as unknown, which covers the values of all further
        // rounds.
        if round == ROUNDS_MAX {
            run.variables.lose();
        }
    }
    let before = run.fuel.is_spent().then_some(before);
    Interpreted { effects: run.effects, before }
}

/// Returns the effects of a text that was not understood.
pub(crate) fn unparsed(error: &ParseError) -> Effects {
    let mut effects = Effects::default();
    let at = Span { start: error.at, end: error.at.saturating_add(1) };
    effects.add(crate::effect::What::Doubt(crate::tier::Floor::Unparsed, error.reason), at);
    effects
}
