//! Operands, and values of options.

use smallvec::SmallVec;

use super::machine::Machine;
use super::own::{Own, Program};
use super::{each, path, role};
use crate::effect::{Cap, Fact, Touch, What};
use crate::facts::{Extent, NodeId, OperandRow, Position, Role, matches};
use crate::paths::PathClass;
use crate::tier::Floor;
use crate::value::{Field, Stream, Text};

/// An option or operand with a value.
#[derive(Clone, Copy)]
pub(super) struct Valued {
    /// The program or sub-command that declares it.
    pub(super) owner: NodeId,
    pub(super) role: Role,
    pub(super) values: Extent,
}

impl Valued {
    const fn operand(owner: NodeId, row: &OperandRow) -> Self {
        Self { owner, role: row.role, values: row.values }
    }
}

/// Interprets operands; returns the output of the code that they run.
pub(super) fn all(
    run: &mut Machine<'_>,
    rows: Extent,
    program: &Program<'_, '_>,
    own: &mut Own,
) -> Option<Stream> {
    let operands = &program.call.operands;
    if operands.is_empty() {
        return None;
    }
    let declared: SmallVec<[OperandRow; 4]> = run.facts.operands(rows).collect();
    let at_position = |position| declared.iter().filter(move |row| row.position == position);
    let rest = at_position(Position::Rest).next();
    let last = at_position(Position::Last).next();
    let mut next = at_position(Position::Next);
    let mut is_shifted = false;
    for (at, operand) in operands.iter().enumerate() {
        let is_last = at + 1 == operands.len() && operands.len() > 1;
        let row = match (last, next.next()) {
            (Some(last), _) if is_last => Some(last),
            (_, Some(next)) => Some(next),
            // Operands outside of the rest belonged to a row that was lost.
            _ => rest
                .filter(|rest| at + 1 >= usize::from(rest.from) && !(rest.not_last && is_last))
                // A single operand is also the last one.
                .or(if at == 0 { last } else { None }),
        };
        let Some(row) = row else {
            own.doubt(Floor::UnknownFlag, operand.text.span, "no fact declares this operand");
            continue;
        };
        let role = row.role;
        run.effects.operand_role(program.id, at, role);
        if role.takes_rest() {
            own.has_code = true;
            let words = operands.get(at..).unwrap_or(&[]);
            return each::words(run, role, words, program, own);
        }
        let count = own.effects.len();
        value(run, Valued::operand(program.node.id, row), operand, program, own);
        if row.role == Role::Write && row.position == Position::Last && is_last {
            lands_in(run, operands.get(..at).unwrap_or(&[]), operand, own);
        }
        own.says(count, program.node.id, row.line);
        // After an operand of any number of words, the position of the others is unknown.
        if is_shifted {
            for other in declared.iter().filter(|other| other.role != role) {
                if !other.role.takes_rest() {
                    let of = Valued::operand(program.node.id, other);
                    value(run, of, operand, program, own);
                }
            }
        }
        is_shifted |= operand.spread && declared.len() > 1;
    }
    None
}

/// Adds files copied into a folder, under the names of their sources.
fn lands_in(run: &mut Machine<'_>, sources: &[Field<'_>], target: &Field<'_>, own: &mut Own) {
    for source in sources {
        let bytes = &source.text.bytes;
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        let name = bytes.get(..end).unwrap_or(&[]).rsplit(|byte| *byte == b'/').next();
        let Some(name) = name.filter(|name| !name.is_empty() && *name != b"." && *name != b"..")
        else {
            continue;
        };
        let path = [&*target.text.bytes, b"/", name].concat();
        let path = Text::from_span(path, target.text.span);
        let class = path::path_of(run, &path, &own.frame).class;
        if matches!(class, PathClass::Admits | PathClass::Critical) {
            path::own_path(run, Touch::Write, &path, own);
        }
    }
}

/// Interprets the value of an option or an operand.
pub(super) fn value(
    run: &mut Machine<'_>,
    of: Valued,
    field: &Field<'_>,
    program: &Program<'_, '_>,
    own: &mut Own,
) {
    let Valued { owner, role, values } = of;
    own.has_code |= role.is_code();
    let bytes = &*field.text.bytes;
    let found = run.facts.values(values).find(|row| {
        let pattern = run.facts.text(row.pattern);
        matches(pattern, bytes)
    });
    // A value that decides has siblings; `*` matches the others.
    let other = found.filter(|row| run.facts.text(row.pattern) == "*");
    let is_literal = field.text.is_literal();
    let is_unlisted = found.is_none() || (other.is_some() && !is_literal);
    if is_unlisted && !role.is_path() && run.facts.decides(values) {
        own.add(What::Unlisted { listed: values, is_literal }, field.text.span);
    }
    let Some(row) = found else {
        return role::role(run, role, field, program, own);
    };
    let count = own.effects.len();
    if row.acts() {
        own.add(What::Declared(Fact::Value(owner, row.id)), field.text.span);
    }
    own.says(count, owner, row.line);
    if let (true, Some(flag)) = (row.cap.is_some(), own.flag) {
        own.cap(flag, Some(Cap::Value(row.id)));
    }
    // A folder of the host keeps its role, even if a value declares another one.
    if role == Role::Mount && row.role != role {
        role::role(run, role, field, program, own);
    }
    if row.role == Role::Text && other.is_some() {
        role::role(run, role, field, program, own);
    } else if row.role != Role::Text {
        let pattern = run.facts.text(row.pattern);
        // A value with the role of its operand is taken whole, since its row only adds to it,
        // unless its pattern names a key.
        let taken = match pattern.strip_suffix('*') {
            Some(start) if row.role != role || start.ends_with('=') => taken(start, bytes),
            _ => 0,
        };
        let rest = Field { text: field.text.after(taken), ..field.clone() };
        role::role(run, row.role, &rest, program, own);
    }
}

/// Returns the length of the beginning of a value that a pattern consumes: up to the part matched
/// by its last star.
fn taken(start: &str, bytes: &[u8]) -> usize {
    match start.rsplit_once('*') {
        Some((_, last)) if !last.is_empty() => {
            let found = bytes.windows(last.len()).rposition(|part| part == last.as_bytes());
            found.map_or(0, |at| at + last.len())
        }
        Some(_) => 0,
        None => start.len(),
    }
}
