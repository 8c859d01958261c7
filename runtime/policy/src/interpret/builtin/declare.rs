//! `declare`, `local`, `typeset`, `readonly` and `export`.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::{arithmetic, variables};
use crate::facts::Special;
use crate::state::Frame;
use crate::value::{Field, Mark, Stream, cut_of, part_of};
use std::rc::Rc;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    let call = program.call;
    let special = program.node.special;
    let is_export = special == Special::Export || call.gives(run.facts, b"-x");
    let is_reference = call.gives(run.facts, b"-n");
    let is_integer = call.gives(run.facts, b"-i");
    let recases = [b"-l", b"-u"].iter().any(|name| call.gives(run.facts, *name));
    for field in &call.operands {
        if is_reference || is_integer {
            arithmetic::evaluate(run, &field.text, frame);
        }
        declare(run, field, special == Special::Declare, frame);
        declared(run, field, is_export, is_integer);
        if is_reference {
            refer(run, field);
        }
        if recases {
            recase(run, field);
        }
    }
    None
}

/// Notes the assignments of `export`, `declare` and similar builtins.
fn declare(run: &mut Machine<'_>, field: &Field<'_>, is_local: bool, frame: &mut Frame) {
    let bytes = &*field.text.bytes;
    let equals = bytes.iter().position(|byte| *byte == b'=');
    let end = equals.unwrap_or(bytes.len());
    let name = bytes.get(..end).unwrap_or(bytes);
    let is_append = name.ends_with(b"+");
    let name = name.strip_suffix(b"+").unwrap_or(name);
    // An unquoted bracket begins a pattern.
    let bare = name.split(|byte| *byte == b'[' || Mark::Query.is(*byte)).next().unwrap_or(name);
    if bare.len() < name.len() {
        arithmetic::evaluate(run, &field.text.part(0, end), frame);
    }
    let Some(name) = str::from_utf8(bare).ok().filter(|name| !name.is_empty()) else {
        run.variables.lose();
        return;
    };
    let Some(equals) = equals else {
        // A local variable begins empty.
        if is_local {
            run.variables.assign(name, [].into());
        }
        return;
    };
    let value = bytes.get(equals + 1..).unwrap_or(&[]).into();
    let is_known = !field.spread && !is_append && bare.len() == end;
    let value: Rc<[u8]> = value;
    // `declare -a 'X=(…)'` evaluates the text again, as elements.
    if value.starts_with(b"(") && !Mark::Element.is_in(&value) {
        arithmetic::late(run, &field.text.after(equals + 1), frame);
        run.variables.assign(name, cut_of(&value).into());
    }
    match is_known {
        true => run.variables.set(name, value),
        false => run.variables.assign(name, part_of(&value).into()),
    }
    let name = name.to_owned();
    variables::prompts(run, &name, bytes.get(equals + 1..).unwrap_or(&[]), field.text.span, frame);
    variables::exported(run, &name, field.text.place(0, end), !is_local);
}

/// Notes the other attributes of a declared variable.
fn declared(run: &mut Machine<'_>, field: &Field<'_>, is_export: bool, is_integer: bool) {
    let bytes = &*field.text.bytes;
    let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) else { return };
    if is_export {
        if run.variables.is_assigned(name) {
            variables::exported(run, name, field.text.place(0, end), true);
        }
        run.variables.export(name);
    }
    if is_integer {
        run.shell.integers.push(name.to_owned());
    }
}

/// Notes the effect of `declare -l` and `-u`: the variable changes the case of its values.
fn recase(run: &mut Machine<'_>, field: &Field<'_>) {
    let bytes = &*field.text.bytes;
    let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    if let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
        run.variables.assign(name, Mark::Made.text().into());
    }
}

/// Notes the effect of `declare -n`: each name may hold the value of the other.
fn refer(run: &mut Machine<'_>, field: &Field<'_>) {
    for name in field.text.bytes.split(|byte| *byte == b'=') {
        match str::from_utf8(name) {
            Ok(name) => run.variables.assign(name, Mark::Made.text().into()),
            Err(_) => run.variables.lose(),
        }
    }
}
