//! Knowledge -> table.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use relay_bundle::Digest;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use super::cursor::put_number;
use super::encode_error::{EncodeError, TOO_MANY, size};
use super::meaning::{Owners, meaning, owners};
use super::model::{Arity, Flag, Form, Knowledge, Node, Operand, Output, Role, Special, Value};
use super::names::{NameId, letter_of};
use super::names_builder::NamesBuilder;
use super::row::{
    FlagId, NO_TIER, NodeBit, NodeBytes, NodeId, TextId, flag_part, form_part, operand_part, part,
    value_part,
};
use super::row_reader::RowReader;
use super::table::{FORM, FORM_JOINED, Facts, Header, ProgramRow, WordRow};
use super::used::{LaidOut, Used};
use crate::tier::Tier;

/// Writes knowledge as a table. The same knowledge gives the same bytes.
///
/// The last of several programs with one name counts.
///
/// # Errors
///
/// There are more items than the numbers of a table can count, or a text holds a zero byte.
pub fn encode(knowledge: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    let owners = owners(knowledge);
    let meaning = meaning(knowledge, &owners);
    encode_after(None, knowledge, &owners, meaning)
}

/// Writes knowledge after the facts of `base`.
///
/// # Errors
///
/// As for [`encode`].
pub(super) fn encode_after<'k>(
    base: Option<Facts<'k>>,
    knowledge: &'k Knowledge,
    owners: &Owners<'k>,
    meaning: Digest,
) -> Result<Vec<u8>, EncodeError> {
    let mut used = Used::with_capacity(knowledge.programs.len() * NAMES_OF_PROGRAM);
    used.names(owners.keys().copied());
    for program in owners.values().collect::<BTreeSet<_>>() {
        knowledge.programs.get(*program).into_iter().for_each(|program| used.node(program));
    }
    let words = knowledge.words.iter().flat_map(|row| &row.words);
    used.names(words.map(String::as_str));
    for text in knowledge.environment.iter().chain(&knowledge.files) {
        // These texts lie outside of rows.
        used.shared_text(text);
    }
    let LaidOut { names, ids, texts } = used.lay_out(base)?;
    let rows = base.map_or(Vec::new(), |base| base.rows.to_vec());
    let mut encoder = Encoder { base, names, ids, texts, rows, options: HashMap::new() };

    let mut nodes = BTreeMap::new();
    let mut programs = Vec::new();
    for (name, at) in owners {
        let node = match nodes.get(at) {
            Some(node) => *node,
            None => {
                let program = knowledge.programs.get(*at).ok_or(TOO_MANY)?;
                let own = program.names.iter().find(|name| owners.get(name.as_str()) == Some(at));
                let node = encoder.node(program, own.map_or("", String::as_str), true)?;
                nodes.insert(*at, node);
                node
            }
        };
        programs.push(ProgramRow { name: encoder.name_id(name), node: node_bytes(node)? });
    }
    // Added names may be between those of the base, with higher numbers.
    programs.sort_unstable_by_key(|row| row.name.get());
    encoder.finish(knowledge, &programs, meaning)
}

/// The usual number of names that a program brings: its own, and those of its options.
const NAMES_OF_PROGRAM: usize = 10;

/// The fewest bytes of an option that is written once for several nodes.
const SHARED_OPTION: usize = 8;

struct Encoder<'k> {
    /// The facts that these follow; names, texts and rows begin with theirs.
    base: Option<Facts<'k>>,
    names: NamesBuilder<'k>,
    /// The texts outside of rows.
    ids: HashMap<&'k str, TextId>,
    texts: String,
    rows: Vec<u8>,
    /// The written options, the first of equal ones.
    options: HashMap<&'k Flag, WrittenOption>,
}

/// A written option that other nodes may share.
struct WrittenOption {
    id: FlagId,
    /// The base of its line numbers.
    base: u16,
}

impl<'k> Encoder<'k> {
    fn name_id(&self, name: &str) -> U16 {
        U16::new(self.names.id(name))
    }

    fn text(&self, text: &str) -> TextId {
        self.ids.get(text).copied().unwrap_or(0)
    }

    fn put_text(&self, out: &mut Vec<u8>, text: &str) -> Result<(), EncodeError> {
        match self.ids.get(text) {
            Some(id) => put_number(out, id << 1),
            None => {
                let length = size(text.len())?;
                put_number(out, length.checked_mul(2).ok_or(TOO_MANY)? | 1);
                out.extend_from_slice(text.as_bytes());
            }
        }
        Ok(())
    }

    /// Returns the letters of names such as `-x`, and the numbers of the others.
    fn list(&self, names: &[String]) -> (Vec<u8>, Vec<NameId>) {
        let mut ids = self.ids_of(names);
        let letters = ids.iter().filter_map(|id| letter_of(*id)).collect();
        ids.retain(|id| letter_of(*id).is_none());
        (letters, ids)
    }

    /// Returns the numbers of names, rising.
    fn ids_of(&self, names: &[String]) -> Vec<NameId> {
        let mut ids: Vec<NameId> = names.iter().map(|name| self.names.id(name)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Writes numbers, which rise.
    fn put_ids(&self, out: &mut Vec<u8>, ids: Vec<NameId>) {
        let mut before = 0;
        for id in ids {
            put_number(out, u32::from(id - before));
            before = id;
        }
    }

    /// Writes a node after its sub-commands, and returns where it begins.
    fn node(
        &mut self,
        node: &'k Node,
        name: &str,
        is_program: bool,
    ) -> Result<NodeId, EncodeError> {
        let Node {
            names: _,
            tier,
            says,
            style,
            stop,
            sub_at,
            numbers,
            bundle_first,
            ignore_case,
            sends,
            listens,
            builtin,
            user,
            writes,
            stdin,
            output,
            special,
            flags,
            operands,
            forms,
            subs,
            checked,
            place,
        } = node;
        let mut sub_nodes = Vec::new();
        for sub in subs {
            let name = sub.names.first().map_or("", String::as_str);
            sub_nodes.push((sub, self.node(sub, name, false)?));
        }
        let id = size(self.rows.len())?;
        for (_, sub) in &sub_nodes {
            let distance = node_bytes(id - sub)?;
            // The first bytes of a sub-command are the distance to its parent.
            for (slot, byte) in self.rows.iter_mut().skip(*sub as usize).zip(distance.as_bytes()) {
                *slot = *byte;
            }
        }

        let line = place.line;
        let lists = [
            (self.flags(flags, line, id)?, 0, part::FLAGS),
            (self.operands(operands, line)?, 0, part::OPERANDS),
            (self.forms(forms, line)?, 1, part::FORMS),
            (self.subs(id, &sub_nodes)?, 1, part::SUBS),
        ];
        let mut heads = [tier.map_or(NO_TIER, Tier::number) | (*style as u8) << 3, 0];
        for (list, head, mask) in &lists {
            if let (Some(head), false) = (heads.get_mut(*head), list.is_empty()) {
                *head |= mask;
            }
        }
        let [first, mut bits] = heads;
        for (is_set, bit) in [
            (*numbers, NodeBit::Numbers),
            (*bundle_first, NodeBit::BundleFirst),
            (*ignore_case, NodeBit::IgnoreCase),
            (*sends, NodeBit::Sends),
            (*listens, NodeBit::Listens),
            (*builtin, NodeBit::Builtin),
        ] {
            bits |= if is_set { bit as u8 } else { 0 };
        }
        let extras = [
            (*stop, 0, part::STOP),
            ((*sub_at).max(1), 1, part::SUB_AT),
            (*stdin as u8, Role::Text as u8, part::STDIN),
            (*output as u8, Output::Opaque as u8, part::OUTPUT),
            (*special as u8, Special::Nothing as u8, part::SPECIAL),
        ];
        let extras = extras.into_iter().filter(|(value, usual, _)| value != usual);
        let mut mask = extras.clone().fold(0, |mask, (_, _, bit)| mask | bit);
        mask |= if writes.is_empty() { 0 } else { part::WRITES };
        mask |= if checked.is_empty() { 0 } else { part::CHECKED };
        mask |= if user.is_empty() { 0 } else { part::USER };

        // The distance to the parent is unknown until the parent is written; 0 holds its place.
        let parent = if is_program { NodeBytes::NONE } else { node_bytes(0)? };
        let mut row = parent.as_bytes().to_vec();
        row.extend(is_program.then_some(place.file));
        row.extend([first, bits, mask]);
        put_number(&mut row, u32::from(self.names.id(name)));
        self.put_text(&mut row, says)?;
        put_number(&mut row, u32::from(line));
        row.extend(extras.map(|(value, ..)| value));
        for text in [writes, checked, user].into_iter().filter(|text| !text.is_empty()) {
            self.put_text(&mut row, text)?;
        }
        for (list, ..) in lists {
            if !list.is_empty() {
                put_list(&mut row, &list)?;
            }
        }
        self.rows.append(&mut row);
        self.keep_options(id, flags, line);
        Ok(id)
    }

    /// Records the options written for a node.
    fn keep_options(&mut self, node: NodeId, flags: &'k [Flag], base: u16) {
        let Some(row) = RowReader::node(&self.rows, node) else { return };
        let mut reader = RowReader::of_node(&self.rows, &row);
        for flag in flags {
            let Some(option) = reader.flag() else { return };
            let id = option.id;
            // Options at lower offsets were written for another node and are recorded already.
            if id > node && option.size() >= SHARED_OPTION {
                self.options.entry(flag).or_insert(WrittenOption { id, base });
            }
        }
    }

    fn subs(&self, node: NodeId, subs: &[(&Node, NodeId)]) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        for (sub, id) in subs {
            let mut names = Vec::new();
            self.put_ids(&mut names, self.ids_of(&sub.names));
            put_number(&mut out, node - id);
            put_number(&mut out, size(names.len())? << 1 | u32::from(has_pattern(&sub.names)));
            out.append(&mut names);
        }
        Ok(out)
    }

    fn flags(&self, flags: &[Flag], base: u16, node: NodeId) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        for flag in flags {
            if let Some(known) = self.options.get(flag) {
                out.push(0);
                put_number(&mut out, node - known.id);
                put_number(&mut out, u32::from(known.base.wrapping_sub(base)));
                continue;
            }
            let Flag { names, tier, cap, arity, role, says, everywhere, values, place } = flag;
            let number = match (arity, role) {
                (Arity::None, Role::Listen) => flag_part::LISTENS,
                _ => *arity as u8,
            };
            let mut parts = tier.number() | number << 2;
            for (is_there, part) in [
                (*everywhere, flag_part::EVERYWHERE),
                (cap.is_some(), flag_part::CAP),
                (!says.is_empty(), flag_part::SAYS),
                (!values.is_empty(), flag_part::VALUES),
            ] {
                parts |= if is_there { part } else { 0 };
            }
            let mut row = vec![parts];
            let (letters, ids) = self.list(names);
            let bits = u32::from(!letters.is_empty()) | u32::from(has_pattern(names)) << 1;
            put_line(&mut row, place.line, base, (bits, 2));
            if *arity != Arity::None {
                row.push(*role as u8);
            }
            row.extend(cap.map(Tier::number));
            if !says.is_empty() {
                self.put_text(&mut row, says)?;
            }
            if !values.is_empty() {
                put_list(&mut row, &self.values(values, base)?)?;
            }
            if !letters.is_empty() {
                put_list(&mut row, &letters)?;
            }
            self.put_ids(&mut row, ids);
            put_list(&mut out, &row)?;
        }
        Ok(out)
    }

    fn operands(&self, operands: &[Operand], base: u16) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        for operand in operands {
            let Operand { position, from, not_last, role, values, place } = operand;
            out.push((*role as u8) << 2 | *position as u8);
            let mut parts = 0;
            for (is_there, part) in [
                (!values.is_empty(), operand_part::VALUES),
                (*from > 0, operand_part::FROM),
                (*not_last, operand_part::NOT_LAST),
            ] {
                parts |= if is_there { part } else { 0 };
            }
            put_line(&mut out, place.line, base, (parts, operand_part::BITS));
            if *from > 0 {
                out.push(*from);
            }
            if !values.is_empty() {
                put_list(&mut out, &self.values(values, base)?)?;
            }
        }
        Ok(out)
    }

    fn values(&self, values: &[Value], base: u16) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        for value in values {
            let Value { pattern, tier, cap, role, says, place } = value;
            let mut parts = tier.number();
            for (is_there, part) in [
                (cap.is_some(), value_part::CAP),
                (*role != Role::Text, value_part::ROLE),
                (!says.is_empty(), value_part::SAYS),
            ] {
                parts |= if is_there { part } else { 0 };
            }
            out.push(parts);
            put_number(&mut out, u32::from(place.line.wrapping_sub(base)));
            self.put_text(&mut out, pattern)?;
            out.extend(cap.map(Tier::number));
            if *role != Role::Text {
                out.push(*role as u8);
            }
            if !says.is_empty() {
                self.put_text(&mut out, says)?;
            }
        }
        Ok(out)
    }

    fn forms(&self, forms: &[Form], base: u16) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        for form in forms {
            put_list(&mut out, &self.form(form, base)?)?;
        }
        Ok(out)
    }

    fn form(&self, form: &Form, base: u16) -> Result<Vec<u8>, EncodeError> {
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
        let list = |names: &[String]| -> Result<Vec<u8>, EncodeError> {
            let mut out = Vec::new();
            if !names.is_empty() {
                let (letters, ids) = self.list(names);
                put_list(&mut out, &letters)?;
                self.put_ids(&mut out, ids);
            }
            Ok(out)
        };
        let mut patterns = Vec::new();
        for pattern in matching {
            self.put_text(&mut patterns, pattern)?;
        }
        let mut role_rows = Vec::new();
        for (name, role) in roles {
            put_number(&mut role_rows, u32::from(self.names.id(name)));
            role_rows.push(*role as u8);
        }
        let lists = [
            (list(has)?, form_part::HAS),
            (list(without)?, form_part::WITHOUT),
            (patterns, form_part::MATCHING),
            (self.operands(operands, base)?, form_part::OPERANDS),
            (role_rows, form_part::ROLES),
        ];
        let ones = [
            (output.map(|output| output as u8), form_part::OUTPUT),
            (stdin.map(|stdin| stdin as u8), form_part::STDIN),
            ((*least != 0).then_some(*least), form_part::LEAST),
            ((*most != u8::MAX).then_some(*most), form_part::MOST),
        ];
        let mut parts = tier.number();
        for (one, part) in &ones {
            parts |= if one.is_some() { *part } else { 0 };
        }
        parts |= if writes.is_empty() { 0 } else { form_part::WRITES };
        let which = lists.iter().filter(|(list, _)| !list.is_empty());
        let mut row = vec![parts, which.fold(0, |all, (_, part)| all | part)];
        put_number(&mut row, u32::from(place.line.wrapping_sub(base)));
        self.put_text(&mut row, says)?;
        row.extend(ones.iter().filter_map(|(one, _)| *one));
        if !writes.is_empty() {
            self.put_text(&mut row, writes)?;
        }
        for (list, _) in lists.iter().filter(|(list, _)| !list.is_empty()) {
            put_list(&mut row, list)?;
        }
        Ok(row)
    }

    fn finish(
        self,
        knowledge: &Knowledge,
        programs: &[ProgramRow],
        meaning: Digest,
    ) -> Result<Vec<u8>, EncodeError> {
        let mut words = BTreeMap::new();
        for row in &knowledge.words {
            for word in &row.words {
                words.insert((row.language as u8, self.names.id(word)), row.kind as u8);
            }
        }
        let words: Vec<_> = words
            .into_iter()
            .map(|((language, word), kind)| WordRow { language, kind, word: U16::new(word) })
            .collect();
        let ids = |texts: &[String]| -> Vec<U32> {
            texts.iter().map(|text| U32::new(self.text(text))).collect()
        };
        let base = self.base.map(|it| (it.programs, it.words, it.environment, it.files));
        let (base_programs, base_words, base_environment, base_files) = base.unwrap_or_default();
        let programs = [base_programs, programs].concat();
        let words = [base_words, &words].concat();
        let environment = [base_environment, &ids(&knowledge.environment)].concat();
        let files = [base_files, &ids(&knowledge.files)].concat();
        let header = Header {
            form: U32::new(if self.base.is_some() { FORM_JOINED } else { FORM }),
            blocks: U32::new(size(self.names.starts.len())?),
            name_bytes: U32::new(size(self.names.bytes.len())?),
            programs: U32::new(size(programs.len())?),
            words: U32::new(size(words.len())?),
            environment: U32::new(size(environment.len())?),
            files: U32::new(size(files.len())?),
            rows: U32::new(size(self.rows.len())?),
            texts: U32::new(size(self.texts.len())?),
            meaning: meaning.0,
        };
        Ok([
            header.as_bytes(),
            self.base.map_or(&[], |base| base.header.as_bytes()),
            self.names.starts.as_bytes(),
            self.names.ids.as_bytes(),
            self.names.offsets.as_bytes(),
            &self.names.bytes,
            programs.as_bytes(),
            words.as_bytes(),
            environment.as_bytes(),
            files.as_bytes(),
            &self.rows,
            self.texts.as_bytes(),
        ]
        .concat())
    }
}

fn node_bytes(id: NodeId) -> Result<NodeBytes, EncodeError> {
    NodeBytes::new(id).ok_or(EncodeError { what: "their rows are longer than 16 MB" })
}

fn has_pattern(names: &[String]) -> bool {
    names.iter().any(|name| name.contains('*'))
}

/// Writes the distance from the line of the node to this line, above this many bits.
fn put_line(out: &mut Vec<u8>, line: u16, base: u16, (bits, count): (u32, u32)) {
    put_number(out, u32::from(line.wrapping_sub(base)) << count | bits);
}

/// Writes bytes after their length.
fn put_list(out: &mut Vec<u8>, list: &[u8]) -> Result<(), EncodeError> {
    put_number(out, size(list.len())?);
    out.extend_from_slice(list);
    Ok(())
}
