//! Operands: the roles of a command's words.

use relay_policy::facts::{Operand, Position, Role};
use relay_policy::tier::Floors;

use super::difference::{Concept, Difference, Row, RowPart, located, operand_words};
use super::fields::Fields;
use super::role;
use super::side::{Command, Comparison};
use super::value::{self, Values};
use crate::direction::Direction;

/// Compares the operands of a command outside of forms.
pub(super) fn compare<'k>(a: &Command<'k>, b: &Command<'k>, all: &mut Comparison<'k>) {
    let (old, new) = (a.node.operands.as_slice(), b.node.operands.as_slice());
    let mut push = |at: Option<usize>, before: Option<String>, after: Option<String>, direction| {
        let (words, part) = match at {
            Some(at) => (operand_words(new, at), RowPart::Operand(at)),
            None => ("operands".to_owned(), RowPart::Node),
        };
        let mut tells = Vec::new();
        examples(old, &mut tells);
        examples(new, &mut tells);
        all.out.push(Difference {
            part: located(&b.names, &words),
            commands: b.called(),
            concept: Concept::Operands(tells),
            before,
            after,
            direction,
            row: Row::part(&b.row, part),
            lowers: direction == Direction::NotProved && at.is_some(),
        });
    };
    if !has_same_shape(old, new) {
        let direction = shape_direction(old, new);
        let words = |list: &[Operand]| match list {
            [] => "none".to_owned(),
            list => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        };
        return push(None, Some(words(old)), Some(words(new)), direction);
    }
    for (at, (before, after)) in old.iter().zip(new).enumerate() {
        let mut fields = Fields::default();
        row(before, after, has_values(old, new), all.before, &mut fields);
        if let Some((before, after, direction)) = fields.differing() {
            push(Some(at), Some(before), Some(after), direction);
        }
    }
}

/// Returns the direction of operands that replace others.
pub(super) fn direction(old: &[Operand], new: &[Operand], all: &Comparison<'_>) -> Direction {
    if !has_same_shape(old, new) {
        return shape_direction(old, new);
    }
    let mut fields = Fields::default();
    fields.and(Direction::Same);
    for (before, after) in old.iter().zip(new) {
        row(before, after, has_values(old, new), all.before, &mut fields);
    }
    fields.differing().map_or(Direction::Same, |(_, _, direction)| direction)
}

/// Returns words that the operands of a command distinguish.
pub(super) fn examples(operands: &[Operand], out: &mut Vec<String>) {
    for operand in operands {
        value::examples(values(operand), out);
    }
}

fn has_same_shape(old: &[Operand], new: &[Operand]) -> bool {
    let shape = |operand: &Operand| (operand.position, operand.from, operand.not_last);
    old.iter().map(shape).eq(new.iter().map(shape))
}

/// Returns the direction of operands that were added or removed. A removed operand is a doubt,
/// except plain text; an added one was a doubt.
fn shape_direction(old: &[Operand], new: &[Operand]) -> Direction {
    let is_plain_rest = |operand: &Operand| {
        operand.position == Position::Rest
            && operand.role == Role::Text
            && operand.values.is_empty()
    };
    let has_last = old.iter().any(|operand| operand.position == Position::Last);
    let kept: Vec<&Operand> = old.iter().filter(|operand| !is_plain_rest(operand)).collect();
    let is_rest_alone = kept.len() < old.len() && kept.into_iter().eq(new);
    Direction::narrower_if(is_rest_alone && !has_last)
}

/// Returns whether any of these operands has declared values.
fn has_values(old: &[Operand], new: &[Operand]) -> bool {
    old.iter().chain(new).any(|operand| !operand.values.is_empty())
}

fn row(old: &Operand, new: &Operand, has_values: bool, before: Floors, fields: &mut Fields) {
    let Operand { position: _, from: _, not_last: _, role, values: _, place: _ } = new;
    if old.role != *role {
        // After any number of words, rows of other roles apply too, with their values.
        let direction = match has_values {
            true => Direction::NotProved,
            false => role::direction(old.role, *role),
        };
        fields.add(direction, "", Some(old.role.word().into()), Some(role.word().into()));
    }
    value::compare(values(old), values(new), before, fields);
}

fn values(operand: &Operand) -> Values<'_> {
    Values { list: &operand.values, role: operand.role, cap: None }
}

fn shown(operand: &Operand) -> String {
    let role = operand.role.word();
    match operand.position {
        Position::Next => role.to_owned(),
        Position::Rest => format!("rest {role}"),
        Position::Last => format!("last {role}"),
    }
}
