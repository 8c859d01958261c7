//! Knowledge -> table.

use std::collections::BTreeMap;

use thiserror::Error;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use super::model::{Flag, Form, Knowledge, Node, Operand, Value};
use super::table::{
    BUILTIN, BUNDLE_FIRST, FORM, FlagRow, FormRow, Header, IGNORE_CASE, NO_NODE, NO_TIER, NUMBERS,
    NameRow, Names, NodeRow, OperandRow, Rows, SENDS, UNSET, ValueRow, WordRow,
};
use crate::tier::Tier;

/// The knowledge does not fit a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("too many {what}: a table counts to 65,534")]
pub struct EncodeError {
    /// What there are too many of.
    pub what: &'static str,
}

/// Writes knowledge as a table. The same knowledge gives the same bytes.
///
/// Of programs with the same name the last one counts.
///
/// # Errors
///
/// There is more than the numbers of a table can count.
pub fn encode(knowledge: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder::default();
    encoder.string("");
    let mut programs = BTreeMap::new();
    for program in &knowledge.programs {
        let id = encoder.node(program, NO_NODE)?;
        programs.extend(program.names.iter().map(|name| (name.as_str(), id)));
    }
    let programs: Vec<_> = programs
        .into_iter()
        .map(|(name, id)| NameRow { name: encoder.string(name), row: U16::new(id) })
        .collect();
    let mut words = BTreeMap::new();
    for row in &knowledge.words {
        for word in &row.words {
            words.insert((row.language as u8, word.as_str()), row.kind as u8);
        }
    }
    let words: Vec<_> = words
        .into_iter()
        .map(|((language, word), kind)| WordRow { word: encoder.string(word), language, kind })
        .collect();
    let environment: Vec<_> =
        knowledge.environment.iter().map(|name| encoder.string(name)).collect();
    let files: Vec<_> = knowledge.files.iter().map(|name| encoder.string(name)).collect();
    encoder.finish(&programs, &words, &environment, &files)
}

#[derive(Default)]
struct Encoder {
    nodes: Vec<NodeRow>,
    names: Vec<NameRow>,
    flags: Vec<FlagRow>,
    operands: Vec<OperandRow>,
    values: Vec<ValueRow>,
    forms: Vec<FormRow>,
    references: Vec<NameRow>,
    ids: BTreeMap<String, u32>,
    ends: Vec<U32>,
    text: String,
}

impl Encoder {
    /// Returns the number of a string. Too many are found out at the end.
    fn string(&mut self, text: &str) -> U16 {
        let id = match self.ids.get(text) {
            Some(id) => *id,
            None => {
                self.text.push_str(text);
                self.ends.push(U32::new(size(self.text.len())));
                let id = size(self.ids.len());
                self.ids.insert(text.to_owned(), id);
                id
            }
        };
        U16::new(u16::try_from(id).unwrap_or(u16::MAX))
    }

    fn node(&mut self, node: &Node, parent: u16) -> Result<u16, EncodeError> {
        let Node {
            names,
            tier,
            says,
            style,
            stop,
            sub_at,
            numbers,
            bundle_first,
            ignore_case,
            sends,
            builtin,
            writes,
            stdin,
            output,
            special,
            flags,
            operands,
            forms,
            subs,
            place,
        } = node;
        let id = number(self.nodes.len(), "programs and sub-commands")?;
        let mut bits = 0;
        for (is_set, bit) in [
            (*numbers, NUMBERS),
            (*bundle_first, BUNDLE_FIRST),
            (*ignore_case, IGNORE_CASE),
            (*sends, SENDS),
            (*builtin, BUILTIN),
        ] {
            bits |= if is_set { bit } else { 0 };
        }
        let name = self.string(names.first().map_or("", String::as_str));
        let row = NodeRow {
            name,
            says: self.string(says),
            writes: self.string(writes),
            parent: U16::new(parent),
            tier: tier.map_or(NO_TIER, Tier::number),
            style: *style as u8,
            bits,
            stop: *stop,
            sub_at: *sub_at,
            stdin: *stdin as u8,
            output: *output as u8,
            special: *special as u8,
            place: (*place).into(),
            flag_names: Names::default(),
            operands: self.operands(operands)?,
            forms: self.forms(forms)?,
            sub_names: Names::default(),
        };
        self.nodes.push(row);
        let flag_names = self.flags(flags)?;
        let mut sub_names = Vec::new();
        for sub in subs {
            let sub_id = self.node(sub, id)?;
            sub_names.extend(sub.names.iter().map(|name| (name.as_str(), sub_id)));
        }
        let sub_names = self.names(sub_names)?;
        if let Some(row) = self.nodes.get_mut(usize::from(id)) {
            row.flag_names = flag_names;
            row.sub_names = sub_names;
        }
        Ok(id)
    }

    /// Adds names: sorted, so that they can be searched, then patterns, longer ones first.
    fn names(&mut self, mut names: Vec<(&str, u16)>) -> Result<Names, EncodeError> {
        names.sort_by_key(|(name, _)| match name.contains('*') {
            false => (0, *name),
            true => (usize::MAX - name.len(), *name),
        });
        let patterns = names.iter().filter(|(name, _)| name.contains('*')).count();
        let start = self.names.len();
        for (name, row) in names {
            let name = self.string(name);
            self.names.push(NameRow { name, row: U16::new(row) });
        }
        let count = U16::new(number(self.names.len() - start, "names of one program")?);
        let patterns = u8::try_from(patterns)
            .map_err(|_| EncodeError { what: "patterns of one program (255 are the most)" })?;
        Ok(Names { start: U32::new(size(start)), count, patterns })
    }

    fn flags(&mut self, flags: &[Flag]) -> Result<Names, EncodeError> {
        let mut names = Vec::new();
        for flag in flags {
            let Flag { names: own, tier, cap, arity, role, says, everywhere, values, place } = flag;
            let id = number(self.flags.len(), "options")?;
            let row = FlagRow {
                says: self.string(says),
                tier: tier.number(),
                cap: cap.map_or(NO_TIER, Tier::number),
                arity: *arity as u8,
                role: *role as u8,
                everywhere: u8::from(*everywhere),
                place: (*place).into(),
                values: self.values(values)?,
            };
            self.flags.push(row);
            names.extend(own.iter().map(|name| (name.as_str(), id)));
        }
        self.names(names)
    }

    fn values(&mut self, values: &[Value]) -> Result<Rows, EncodeError> {
        let start = self.values.len();
        for value in values {
            let Value { pattern, tier, cap, role, says, place } = value;
            let row = ValueRow {
                pattern: self.string(pattern),
                says: self.string(says),
                tier: tier.number(),
                cap: cap.map_or(NO_TIER, Tier::number),
                role: *role as u8,
                place: (*place).into(),
            };
            self.values.push(row);
        }
        rows(start, self.values.len(), "values")
    }

    fn operands(&mut self, operands: &[Operand]) -> Result<Rows, EncodeError> {
        let mut added = Vec::new();
        for operand in operands {
            let Operand { position, role, values, place } = operand;
            let values = self.values(values)?;
            let place = (*place).into();
            added.push(OperandRow { position: *position as u8, role: *role as u8, place, values });
        }
        let start = self.operands.len();
        self.operands.extend(added);
        rows(start, self.operands.len(), "operands")
    }

    fn forms(&mut self, forms: &[Form]) -> Result<Rows, EncodeError> {
        let mut added = Vec::new();
        for form in forms {
            let Form {
                tier,
                says,
                has,
                without,
                least,
                most,
                matching,
                operands,
                roles,
                output,
                stdin,
                writes,
                place,
            } = form;
            let row = FormRow {
                says: self.string(says),
                writes: self.string(writes),
                tier: tier.number(),
                output: output.map_or(UNSET, |output| output as u8),
                stdin: stdin.map_or(UNSET, |stdin| stdin as u8),
                least: *least,
                most: *most,
                place: (*place).into(),
                has: self.references(has.iter().map(|name| (name.as_str(), 0)))?,
                without: self.references(without.iter().map(|name| (name.as_str(), 0)))?,
                matching: self.references(matching.iter().map(|name| (name.as_str(), 0)))?,
                operands: self.operands(operands)?,
                roles: self
                    .references(roles.iter().map(|(name, role)| (name.as_str(), *role as u16)))?,
            };
            added.push(row);
        }
        let start = self.forms.len();
        self.forms.extend(added);
        rows(start, self.forms.len(), "forms")
    }

    fn references<'n>(
        &mut self,
        references: impl Iterator<Item = (&'n str, u16)>,
    ) -> Result<Rows, EncodeError> {
        let start = self.references.len();
        for (name, row) in references {
            let name = self.string(name);
            self.references.push(NameRow { name, row: U16::new(row) });
        }
        rows(start, self.references.len(), "conditions")
    }

    fn finish(
        self,
        programs: &[NameRow],
        words: &[WordRow],
        environment: &[U16],
        files: &[U16],
    ) -> Result<Vec<u8>, EncodeError> {
        number(self.ends.len(), "strings")?;
        let header = Header {
            form: U32::new(FORM),
            programs: U32::new(size(programs.len())),
            nodes: U32::new(size(self.nodes.len())),
            names: U32::new(size(self.names.len())),
            flags: U32::new(size(self.flags.len())),
            operands: U32::new(size(self.operands.len())),
            values: U32::new(size(self.values.len())),
            forms: U32::new(size(self.forms.len())),
            references: U32::new(size(self.references.len())),
            words: U32::new(size(words.len())),
            environment: U32::new(size(environment.len())),
            files: U32::new(size(files.len())),
            strings: U32::new(size(self.ends.len())),
            text: U32::new(size(self.text.len())),
        };
        Ok([
            header.as_bytes(),
            programs.as_bytes(),
            self.nodes.as_bytes(),
            self.names.as_bytes(),
            self.flags.as_bytes(),
            self.operands.as_bytes(),
            self.values.as_bytes(),
            self.forms.as_bytes(),
            self.references.as_bytes(),
            words.as_bytes(),
            environment.as_bytes(),
            files.as_bytes(),
            self.ends.as_bytes(),
            self.text.as_bytes(),
        ]
        .concat())
    }
}

fn number(count: usize, what: &'static str) -> Result<u16, EncodeError> {
    match u16::try_from(count) {
        Ok(id) if id != NO_NODE => Ok(id),
        _ => Err(EncodeError { what }),
    }
}

fn rows(start: usize, end: usize, what: &'static str) -> Result<Rows, EncodeError> {
    number(end, what)?;
    Ok(Rows { start: U16::new(number(start, what)?), count: U16::new(number(end - start, what)?) })
}

/// Returns a length as the table counts it; `finish` refuses long before it would not fit.
fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
