//! Programs that other programs run: once, or for each of many things.

use super::code_text::join_words;
use super::machine::{Lookup, Machine};
use super::own::{Own, Program};
use super::parameters::parameters;
use super::{code, variables};
use crate::facts::Role;
use crate::invocation::Given;
use crate::paths;
use crate::state::{Dialect, Frame};
use crate::value::{Content, Field, Mark, Stream, Text, TextBuilder, may_be_option};

/// The most options of a search that are searched for its `-name`.
const OPTIONS_MAX: usize = 32;
/// The most things of a literal list, or roots of a search, that are interpreted one by one.
const THINGS_MAX: usize = 8;

/// Interprets the words of a program, or of code, from an operand on.
pub(super) fn words(
    run: &mut Machine<'_>,
    role: Role,
    words: &[Field<'_>],
    program: &Program<'_, '_>,
    own: &mut Own,
) -> Option<Stream> {
    match role {
        Role::EnvironmentCommand => {
            let is_assignment = |field: &Field<'_>| {
                field.text.bytes.contains(&b'=') && !field.text.bytes.starts_with(b"=")
            };
            let count = words.iter().take_while(|field| is_assignment(field)).count();
            let (assignments, words) = words.split_at(count);
            for assignment in assignments {
                variables::environment(run, &assignment.text, own);
            }
            if words.is_empty() {
                own.has_code = false;
                return None;
            }
            Some(run.command(words, &mut own.frame, program.input, Lookup::Any))
        }
        Role::EachCommand => {
            let placeholder = program.call.given.iter().find_map(|given| {
                let value = given.value.as_ref()?;
                (given.flag.role == Role::Placeholder).then(|| value.text.bytes.to_vec())
            });
            each(run, words, placeholder.as_deref(), program, &own.frame);
            None
        }
        Role::EndedCommand => {
            each(run, words, None, program, &own.frame);
            None
        }
        Role::ParallelCommand => {
            parallel(run, words, program, &own.frame);
            None
        }
        Role::ShellWords => {
            let code = join_words(words)?;
            let inner = Frame { dialect: Dialect::Other, ..own.frame.clone() };
            Some(code::other(run, &code, &inner, program.input))
        }
        _ => Some(run.command(words, &mut own.frame, program.input, Lookup::Any)),
    }
}

/// Interprets a command that runs for each of many things.
pub(super) fn each(
    run: &mut Machine<'_>,
    words: &[Field<'_>],
    placeholder: Option<&[u8]>,
    program: &Program<'_, '_>,
    frame: &Frame,
) {
    if words.is_empty() {
        return;
    }
    // Each command of a search examines every root.
    if !run.step(program.call.operands.len(), program.call.span) {
        return;
    }
    let sign = placeholder.unwrap_or(b"{}");
    let is_list = placeholder.is_some();
    let mut inner = Frame { is_many: true, ..frame.clone() };
    for thing in things(run, program, is_list) {
        let mut is_placed = is_list;
        let mut all: Vec<Field<'_>> = Vec::with_capacity(words.len() + 1);
        for field in words {
            match replaced(&field.text, sign, &thing) {
                Some(text) => {
                    is_placed = true;
                    all.push(Field { text, ..field.clone() });
                }
                None => all.push(field.clone()),
            }
        }
        if !is_placed {
            let text = Text::from_span(thing, program.call.span);
            let spread = !text.is_literal();
            all.push(Field { spread, ..Field::new(text) });
        }
        run.command(&all, &mut inner, &Stream::of(Content::Opaque), Lookup::Any);
    }
}

/// Returns the things that a command runs for. Of a literal list, these are the words that may be
/// options, and a mark for the others.
fn things(run: &Machine<'_>, program: &Program<'_, '_>, is_list: bool) -> Vec<Vec<u8>> {
    let is_search = program.call.given.iter().any(|given| !given.words.is_empty());
    if is_search {
        // A search also finds its starting points.
        let roots = program.call.operands.iter().filter(|root| root.text.is_literal());
        let roots = roots.take(THINGS_MAX).map(|root| root.text.bytes.to_vec());
        return roots.chain([found(program, is_list, run)]).collect();
    }
    match &program.input.content {
        Content::Literal(text) => {
            let separates = |byte: &u8| match is_list {
                true => *byte == b'\n',
                false => byte.is_ascii_whitespace(),
            };
            let mut things: Vec<Vec<u8>> = vec![Mark::Hole.text().to_vec()];
            let all = text.bytes.split(separates).filter(|thing| may_be_option(thing));
            things.extend(all.take(THINGS_MAX).map(<[u8]>::to_vec));
            // The list may be longer, and any option may follow.
            if things.len() > THINGS_MAX {
                things.push(Mark::Made.text().to_vec());
            }
            things
        }
        _ if program.input.is_secret => vec![[Mark::Made.text(), Mark::Secret.text()].concat()],
        Content::Made => vec![Mark::Made.text().to_vec()],
        _ => vec![Mark::Hole.text().to_vec()],
    }
}

/// Returns the name of the things that a search finds: its `-name`, unless that is a pattern.
fn named(run: &Machine<'_>, program: &Program<'_, '_>) -> Vec<u8> {
    let is_name = |given: &&Given<'_>| {
        given.name.is_some_and(|name| run.facts.name_id(b"-name") == Some(name))
    };
    let mut given = program.call.given.iter().take(OPTIONS_MAX);
    let value = given.find(is_name).and_then(|given| given.value.as_ref());
    match value {
        Some(value) if is_plain_name(&value.text) => value.text.bytes.to_vec(),
        _ => Mark::Name.text().to_vec(),
    }
}

/// Interprets `parallel`: code before `:::` that runs for each thing after it, or code after it.
fn parallel(run: &mut Machine<'_>, words: &[Field<'_>], program: &Program<'_, '_>, frame: &Frame) {
    let is_sign = |field: &Field<'_>| field.text.bytes.starts_with(b":::");
    let count = words.iter().take_while(|field| !is_sign(field)).count();
    let (command, rest) = words.split_at(count);
    let mut inner = Frame { is_many: true, ..frame.clone() };
    if command.is_empty() {
        for field in rest.iter().skip(1) {
            code::other(run, &field.text, &inner, &Stream::default());
        }
        return;
    }
    // The thing replaces `{}` in quotes, like a parameter of the code.
    let Some(code) = join_words(command) else { return };
    let (code, is_placed) = with_parameter(&code);
    let mut things: Vec<Field<'_>> = rest.iter().filter(|field| !is_sign(field)).cloned().collect();
    if things.is_empty() || things.len() > THINGS_MAX {
        let is_option = things.iter().any(|field| may_be_option(&field.text.bytes));
        let mark = if is_option || program.input.makes_options() { Mark::Made } else { Mark::Hole };
        things = vec![Field::new(Text::from_span(mark.text(), program.call.span))];
    }
    for thing in things {
        if !run.step(1, program.call.span) {
            return;
        }
        inner.state.parameters = parameters(std::slice::from_ref(&thing));
        let mut all = TextBuilder::new(code.span);
        all.push_text(&code);
        if !is_placed {
            all.push_made(b" \"$1\"", program.call.span);
        }
        code::other(run, &all.finish(), &inner, &Stream::of(Content::Opaque));
    }
}

fn is_plain_name(name: &Text<'_>) -> bool {
    name.is_literal() && !name.bytes.iter().any(|byte| b"*?[\\".contains(byte))
}

/// Returns code in which a parameter replaces the placeholders of `parallel`, and whether there was
/// one.
fn with_parameter(code: &Text<'_>) -> (Text<'static>, bool) {
    let mut builder = TextBuilder::new(code.span);
    let (mut at, mut plain, mut is_placed) = (0, 0, false);
    while let Some(byte) = code.bytes.get(at) {
        let rest = code.bytes.get(at..).unwrap_or(&[]);
        let length = rest.iter().position(|byte| *byte == b'}').filter(|_| *byte == b'{');
        let sign = length.and_then(|end| rest.get(1..end));
        let is_sign =
            sign.is_some_and(|sign| sign.iter().all(|byte| b"./#%0123456789+-".contains(byte)));
        if !is_sign {
            at += 1;
            continue;
        }
        builder.push_part(code, plain, at);
        at += length.unwrap_or(0) + 1;
        builder.push_made(b"\"$1\"", code.place(at - 1, at));
        plain = at;
        is_placed = true;
    }
    builder.push_part(code, plain, code.bytes.len());
    (builder.finish(), is_placed)
}

/// Returns the thing that a command runs for: a file below the starting points of a search, if they
/// are known.
fn found(program: &Program<'_, '_>, is_list: bool, run: &Machine<'_>) -> Vec<u8> {
    let (start, ground) = (run.ground.start(), run.ground);
    let is_search = program.call.given.iter().any(|given| !given.words.is_empty());
    let roots = &program.call.operands;
    let mut classes =
        roots.iter().map(|root| paths::classify(&root.text.bytes, &start, ground).class);
    let first = classes.next();
    let is_known = is_search
        && !is_list
        && roots.iter().all(|root| !root.text.has_hole() && !root.spread)
        && classes.all(|class| Some(class) == first);
    if !is_known {
        return Mark::Hole.text().to_vec();
    }
    let mut path = roots.first().map_or(b".".to_vec(), |root| root.text.bytes.to_vec());
    path.push(b'/');
    path.extend(named(run, program));
    path
}

/// Returns a text with the placeholder replaced by a thing; `None` without a placeholder.
fn replaced(text: &Text<'_>, sign: &[u8], thing: &[u8]) -> Option<Text<'static>> {
    if sign.is_empty() || text.bytes.len() < sign.len() {
        return None;
    }
    let found = |from: usize| {
        let rest = text.bytes.get(from..)?;
        rest.windows(sign.len()).position(|window| window == sign).map(|at| from + at)
    };
    let mut next = found(0);
    next?;
    let mut builder = TextBuilder::new(text.span);
    let mut done = 0;
    while let Some(at) = next {
        builder.push_part(text, done, at);
        builder.push_made(thing, text.span);
        done = at + sign.len();
        next = found(done);
    }
    builder.push_part(text, done, text.bytes.len());
    Some(builder.finish())
}
