//! `alias`: a name for words.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use crate::effect::Hidden;
use crate::fuel::READING_STEPS;
use crate::span::Span;
use crate::state::Frame;
use crate::value::{Stream, Text, TextBuilder};

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    own: &mut Own,
) -> Option<Stream> {
    for field in &program.call.operands {
        let bytes = &*field.text.bytes;
        let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let name = str::from_utf8(bytes.get(..equals).unwrap_or(&[]));
        let span = field.text.span;
        // The parser assumes that `[[` as a program fails if its `]]` is missing; this alias may
        // change that.
        if !frame.dialect.is_bash() && name.is_ok_and(|name| name == "[[") {
            own.runs(Hidden::Made, span, "this alias is a word of the shell");
        }
        if let Ok(name) = name
            && run.step(READING_STEPS, span)
        {
            run.shell.define(name, aliased(&field.text.after(equals + 1)), true);
        }
    }
    None
}

/// Returns the text of an alias as the body of a function, followed by the words of a call.
fn aliased(text: &Text<'_>) -> Text<'static> {
    let mut builder = TextBuilder::new(text.span);
    builder.push_text(text);
    let end = Span { start: text.span.end, end: text.span.end };
    builder.push_made(b" \"$@\"", end);
    builder.finish()
}
