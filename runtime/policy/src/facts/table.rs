//! The facts as a table that is used where it lies.
//!
//! The table is the numbers of rows, then the rows kind by kind, then the strings. `Facts::open` checks
//! every reference once; after that nothing is parsed and nothing can be missing.

use std::mem::size_of;

use thiserror::Error;
use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::model::{Arity, Output, Place, Position, Role, Special, Style, WordKind};
use crate::tier::Tier;

/// Which form of the table this code reads and writes.
pub(super) const FORM: u32 = 1;

/// The number for a tier that is not given.
pub(super) const NO_TIER: u8 = 0xff;
/// The number for a role, output or form that is not given.
pub(super) const UNSET: u8 = 0xff;
/// The number for a node that has no parent.
pub(super) const NO_NODE: u16 = 0xffff;

/// The number of a program or sub-command.
pub type NodeId = u16;
/// The number of an option.
pub(crate) type FlagId = u16;

/// The table was altered or cut, or written by another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the table of facts is damaged: {0}")]
pub struct Damaged(pub &'static str);

/// How many rows of each kind there are.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Header {
    pub(super) form: U32,
    pub(super) programs: U32,
    pub(super) nodes: U32,
    pub(super) names: U32,
    pub(super) flags: U32,
    pub(super) operands: U32,
    pub(super) values: U32,
    pub(super) forms: U32,
    pub(super) references: U32,
    pub(super) words: U32,
    pub(super) environment: U32,
    pub(super) files: U32,
    pub(super) strings: U32,
    pub(super) text: U32,
}

/// Some rows that follow each other.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Rows {
    pub(super) start: U16,
    pub(super) count: U16,
}

/// Names that can be searched, and after them patterns.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Names {
    /// Where they begin.
    pub(super) start: U32,
    /// How many there are.
    pub(super) count: U16,
    /// How many of the last are patterns.
    pub(super) patterns: u8,
}

/// A name and the row that it names.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct NameRow {
    pub(crate) name: U16,
    pub(crate) row: U16,
}

/// Where a fact was written.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct PlaceRow {
    pub(super) file: u8,
    pub(super) line: U16,
}

/// A program or a sub-command.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct NodeRow {
    pub(super) name: U16,
    pub(super) says: U16,
    pub(crate) writes: U16,
    pub(super) parent: U16,
    pub(super) tier: u8,
    pub(super) style: u8,
    pub(super) bits: u8,
    pub(super) stop: u8,
    pub(super) sub_at: u8,
    pub(super) stdin: u8,
    pub(super) output: u8,
    pub(super) special: u8,
    pub(crate) place: PlaceRow,
    pub(super) flag_names: Names,
    pub(crate) operands: Rows,
    pub(super) forms: Rows,
    pub(super) sub_names: Names,
}

/// An option.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct FlagRow {
    pub(super) says: U16,
    pub(super) tier: u8,
    pub(super) cap: u8,
    pub(super) arity: u8,
    pub(super) role: u8,
    pub(super) everywhere: u8,
    pub(crate) place: PlaceRow,
    pub(crate) values: Rows,
}

/// An operand.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct OperandRow {
    pub(super) position: u8,
    pub(super) role: u8,
    pub(crate) place: PlaceRow,
    pub(crate) values: Rows,
}

/// What a certain value means.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct ValueRow {
    pub(crate) pattern: U16,
    pub(super) says: U16,
    pub(super) tier: u8,
    pub(super) cap: u8,
    pub(super) role: u8,
    pub(crate) place: PlaceRow,
}

/// What a command is under conditions.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct FormRow {
    pub(super) says: U16,
    pub(crate) writes: U16,
    pub(super) tier: u8,
    pub(super) output: u8,
    pub(super) stdin: u8,
    pub(crate) least: u8,
    pub(crate) most: u8,
    pub(crate) place: PlaceRow,
    pub(crate) has: Rows,
    pub(crate) without: Rows,
    pub(crate) matching: Rows,
    pub(crate) operands: Rows,
    pub(crate) roles: Rows,
}

/// A word of a language.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct WordRow {
    pub(super) word: U16,
    pub(super) language: u8,
    pub(super) kind: u8,
}

pub(super) const NUMBERS: u8 = 1;
pub(super) const BUNDLE_FIRST: u8 = 2;
pub(super) const IGNORE_CASE: u8 = 4;
pub(super) const SENDS: u8 = 8;
pub(super) const BUILTIN: u8 = 16;

/// The facts in force.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Programs by name, sorted.
    pub(super) programs: &'a [NameRow],
    nodes: &'a [NodeRow],
    /// Names of options and of sub-commands; those of a node follow each other, sorted, patterns last.
    pub(super) names: &'a [NameRow],
    flags: &'a [FlagRow],
    operands: &'a [OperandRow],
    values: &'a [ValueRow],
    forms: &'a [FormRow],
    /// Conditions and roles of forms: strings, options, or an option and a role.
    references: &'a [NameRow],
    /// Words of languages, sorted by language and word.
    pub(super) words: &'a [WordRow],
    /// Harmless variables, sorted.
    pub(super) environment: &'a [U16],
    pub(super) files: &'a [U16],
    /// Where each string ends.
    strings: &'a [U32],
    text: &'a str,
}

/// One name of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagName {
    /// The option.
    pub(crate) flag: FlagId,
    /// The number of the name's text.
    pub(crate) name: u16,
}

impl NameRow {
    const fn flag(&self) -> FlagName {
        FlagName { flag: self.row.get(), name: self.name.get() }
    }
}

/// Where a fact was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactPlace<'a> {
    /// The fact file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u16,
}

impl<'a> Facts<'a> {
    /// Opens a table, checking all of it once.
    ///
    /// # Errors
    ///
    /// The table was altered or cut, or another version wrote it.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let (header, rest) =
            Header::ref_from_prefix(bytes).map_err(|_| Damaged("it is too short"))?;
        if header.form.get() != FORM {
            return Err(Damaged("another version wrote it"));
        }
        let (programs, rest) = rows(rest, header.programs)?;
        let (nodes, rest) = rows(rest, header.nodes)?;
        let (names, rest) = rows(rest, header.names)?;
        let (flags, rest) = rows(rest, header.flags)?;
        let (operands, rest) = rows(rest, header.operands)?;
        let (values, rest) = rows(rest, header.values)?;
        let (forms, rest) = rows(rest, header.forms)?;
        let (references, rest) = rows(rest, header.references)?;
        let (words, rest) = rows(rest, header.words)?;
        let (environment, rest) = rows(rest, header.environment)?;
        let (files, rest) = rows(rest, header.files)?;
        let (strings, rest) = rows(rest, header.strings)?;
        if rest.len() != header.text.get() as usize {
            return Err(Damaged("its length is wrong"));
        }
        let text = str::from_utf8(rest).map_err(|_| Damaged("its text is not UTF-8"))?;
        let facts = Self {
            programs,
            nodes,
            names,
            flags,
            operands,
            values,
            forms,
            references,
            words,
            environment,
            files,
            strings,
            text,
        };
        facts.check()?;
        Ok(facts)
    }

    /// Checks every reference and every number of an enumeration.
    fn check(&self) -> Result<(), Damaged> {
        let mut before = 0;
        for end in self.strings {
            let end = end.get() as usize;
            if end < before || !self.text.is_char_boundary(end) {
                return Err(Damaged("a string is out of place"));
            }
            before = end;
        }
        let strings = self.strings.len();
        let is_string = |id: U16| usize::from(id.get()) < strings;
        let within = |rows: Rows, count: usize| {
            usize::from(rows.start.get()) + usize::from(rows.count.get()) <= count
        };
        let within_names = |names: Names| {
            names.start.get() as usize + usize::from(names.count.get()) <= self.names.len()
        };
        let is_tier = |tier: u8| tier == NO_TIER || Tier::from_number(tier).is_some();
        let is_role = |role: u8| role == UNSET || Role::from_number(role).is_some();
        let is_output = |output: u8| output == UNSET || Output::from_number(output).is_some();
        let is_place = |place: PlaceRow| usize::from(place.file) < self.files.len();

        let nodes = self.nodes.iter().all(|row| {
            is_string(row.name)
                && is_string(row.says)
                && is_string(row.writes)
                && (row.parent.get() == NO_NODE || usize::from(row.parent.get()) < self.nodes.len())
                && is_tier(row.tier)
                && Style::from_number(row.style).is_some()
                && is_role(row.stdin)
                && is_output(row.output)
                && Special::from_number(row.special).is_some()
                && is_place(row.place)
                && within_names(row.flag_names)
                && within(row.operands, self.operands.len())
                && within(row.forms, self.forms.len())
                && within_names(row.sub_names)
        });
        let flag_names = self.nodes.iter().all(|row| {
            let named = |names: Names, count: usize| {
                self.all_names(names)
                    .iter()
                    .all(|name| is_string(name.name) && usize::from(name.row.get()) < count)
            };
            named(row.flag_names, self.flags.len()) && named(row.sub_names, self.nodes.len())
        });
        let programs = self
            .programs
            .iter()
            .all(|row| is_string(row.name) && usize::from(row.row.get()) < self.nodes.len());
        let flags = self.flags.iter().all(|row| {
            is_string(row.says)
                && is_tier(row.tier)
                && is_tier(row.cap)
                && Arity::from_number(row.arity).is_some()
                && is_role(row.role)
                && is_place(row.place)
                && within(row.values, self.values.len())
        });
        let operands = self.operands.iter().all(|row| {
            Position::from_number(row.position).is_some()
                && is_role(row.role)
                && is_place(row.place)
                && within(row.values, self.values.len())
        });
        let values = self.values.iter().all(|row| {
            is_string(row.pattern)
                && is_string(row.says)
                && is_tier(row.tier)
                && is_tier(row.cap)
                && is_role(row.role)
                && is_place(row.place)
        });
        let forms = self.forms.iter().all(|row| {
            is_string(row.says)
                && is_string(row.writes)
                && is_tier(row.tier)
                && is_output(row.output)
                && is_role(row.stdin)
                && is_place(row.place)
                && [row.has, row.without, row.matching, row.roles]
                    .into_iter()
                    .all(|rows| within(rows, self.references.len()))
                && within(row.operands, self.operands.len())
        });
        let others = self.references.iter().all(|row| is_string(row.name))
            && self.words.iter().all(|row| {
                is_string(row.word)
                    && is_role(row.language)
                    && WordKind::from_number(row.kind).is_some()
            })
            && self.environment.iter().chain(self.files).all(|id| is_string(*id));
        if nodes && flag_names && programs && flags && operands && values && forms && others {
            return Ok(());
        }
        Err(Damaged("a row refers to what is not there"))
    }

    pub(super) fn slice<T>(&self, all: &'a [T], rows: Rows) -> &'a [T] {
        let start = usize::from(rows.start.get());
        all.get(start..start + usize::from(rows.count.get())).unwrap_or(&[])
    }

    pub(crate) fn string(&self, id: U16) -> &'a str {
        let id = usize::from(id.get());
        let end = self.strings.get(id).map_or(0, |end| end.get() as usize);
        let start = match id.checked_sub(1) {
            Some(before) => self.strings.get(before).map_or(0, |end| end.get() as usize),
            None => 0,
        };
        self.text.get(start..end).unwrap_or("")
    }

    /// Returns the program with this name.
    #[must_use]
    pub fn program(&self, name: &[u8]) -> Option<NodeId> {
        let found = self.find(self.programs, name)?;
        Some(found.row.get())
    }

    /// Returns the names of all programs, sorted.
    pub fn program_names(&self) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        self.programs.iter().map(|row| self.string(row.name))
    }

    /// Returns the names of the fact files, by their numbers.
    #[must_use]
    pub fn files(&self) -> Vec<&'a str> {
        self.files.iter().map(|id| self.string(*id)).collect()
    }

    /// Returns how many programs and sub-commands there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&'a NodeRow> {
        self.nodes.get(usize::from(id))
    }

    pub(crate) fn flag(&self, id: FlagId) -> Option<&'a FlagRow> {
        self.flags.get(usize::from(id))
    }

    pub(crate) fn operands(&self, rows: Rows) -> &'a [OperandRow] {
        self.slice(self.operands, rows)
    }

    pub(crate) fn values(&self, rows: Rows) -> &'a [ValueRow] {
        self.slice(self.values, rows)
    }

    pub(crate) fn forms(&self, node: &NodeRow) -> &'a [FormRow] {
        self.slice(self.forms, node.forms)
    }

    pub(crate) fn references(&self, rows: Rows) -> &'a [NameRow] {
        self.slice(self.references, rows)
    }

    pub(super) fn all_names(&self, names: Names) -> &'a [NameRow] {
        let start = names.start.get() as usize;
        self.names.get(start..start + usize::from(names.count.get())).unwrap_or(&[])
    }

    /// Returns the names that can be searched, and the patterns.
    fn names(&self, names: Names) -> (&'a [NameRow], &'a [NameRow]) {
        let all = self.all_names(names);
        all.split_at(all.len().saturating_sub(usize::from(names.patterns)))
    }

    /// Returns whether a node has sub-commands.
    pub(crate) fn has_subs(&self, node: &NodeRow) -> bool {
        node.sub_names.count.get() > 0
    }

    /// Returns where a fact was written.
    #[must_use]
    pub(crate) fn place(&self, place: PlaceRow) -> FactPlace<'a> {
        let file = self.files.get(usize::from(place.file));
        FactPlace { file: file.map_or("", |id| self.string(*id)), line: place.line.get() }
    }

    /// Returns the sub-command of a node that a word names: an exact name, else the first pattern.
    pub(crate) fn sub(&self, node: &NodeRow, word: &[u8]) -> Option<NodeId> {
        let (names, patterns) = self.names(node.sub_names);
        let lowered;
        let word = if node.bits & IGNORE_CASE != 0 {
            lowered = word.to_ascii_lowercase();
            &lowered
        } else {
            word
        };
        if let Some(found) = self.find(names, word) {
            return Some(found.row.get());
        }
        let mut matching = patterns.iter().filter(|row| matches(self.string(row.name), word));
        matching.next().map(|row| row.row.get())
    }

    fn find(&self, names: &'a [NameRow], name: &[u8]) -> Option<&'a NameRow> {
        let at = names.binary_search_by(|row| self.string(row.name).as_bytes().cmp(name)).ok()?;
        names.get(at)
    }

    /// Returns the option of this exact name that a node itself declares.
    pub(crate) fn own_flag(&self, node: &NodeRow, name: &[u8]) -> Option<FlagName> {
        self.find(self.names(node.flag_names).0, name).map(NameRow::flag)
    }

    /// Returns the option whose pattern (`--set-*`) a word matches.
    pub(crate) fn flag_pattern(&self, node: &NodeRow, word: &[u8]) -> Option<FlagName> {
        let (_, patterns) = self.names(node.flag_names);
        let mut matching = patterns.iter().filter(|row| matches(self.string(row.name), word));
        matching.next().map(NameRow::flag)
    }

    /// Returns the options whose names begin with `start`.
    pub(crate) fn flags_from(
        &self,
        node: &'a NodeRow,
        start: &'a [u8],
    ) -> impl Iterator<Item = FlagName> + use<'a> {
        let facts = *self;
        let (names, _) = facts.names(node.flag_names);
        let from = names.partition_point(|row| facts.string(row.name).as_bytes() < start);
        names
            .get(from..)
            .unwrap_or(&[])
            .iter()
            .take_while(move |row| facts.string(row.name).as_bytes().starts_with(start))
            .map(NameRow::flag)
    }

    /// Returns what a word of a language means.
    pub(crate) fn word(&self, language: Role, word: &str) -> Option<WordKind> {
        let key = (language as u8, word);
        let at = self
            .words
            .binary_search_by(|row| (row.language, self.string(row.word)).cmp(&key))
            .ok()?;
        WordKind::from_number(self.words.get(at)?.kind)
    }

    /// Returns whether a variable of the environment is known to change no code.
    #[must_use]
    pub fn is_harmless_variable(&self, name: &str) -> bool {
        self.environment.iter().any(|id| matches(self.string(*id), name.as_bytes()))
    }
}

/// Returns whether a word is a pattern's: its whole text, or with `*` at one end what is left.
pub(crate) fn matches(pattern: &str, word: &[u8]) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        word.starts_with(start.as_bytes())
    } else if let Some(end) = pattern.strip_prefix('*') {
        word.ends_with(end.as_bytes())
    } else {
        pattern.as_bytes() == word
    }
}

/// Splits rows off the beginning.
fn rows<T: FromBytes + Immutable + KnownLayout + Unaligned>(
    bytes: &[u8],
    count: U32,
) -> Result<(&[T], &[u8]), Damaged> {
    let count = count.get() as usize;
    let length = count.checked_mul(size_of::<T>()).ok_or(Damaged("a count is too large"))?;
    let (rows, rest) = bytes.split_at_checked(length).ok_or(Damaged("it is too short"))?;
    let rows = <[T]>::ref_from_bytes(rows).map_err(|_| Damaged("a row is misplaced"))?;
    Ok((rows, rest))
}

impl NodeRow {
    /// Returns its tier; `None` if no one has read its facts yet.
    pub(crate) fn tier(&self) -> Option<Tier> {
        Tier::from_number(self.tier)
    }

    pub(crate) fn style(&self) -> Style {
        Style::from_number(self.style).unwrap_or_default()
    }

    pub(crate) fn stdin(&self) -> Role {
        Role::from_number(self.stdin).unwrap_or_default()
    }

    pub(crate) fn output(&self) -> Output {
        Output::from_number(self.output).unwrap_or_default()
    }

    pub(crate) fn special(&self) -> Special {
        Special::from_number(self.special).unwrap_or_default()
    }

    /// Returns which operand is the sub-command, from 1.
    pub(crate) fn sub_at(&self) -> u8 {
        self.sub_at.max(1)
    }

    /// Returns from which operand on no word is an option; 0 for never.
    pub(crate) const fn stop(&self) -> u8 {
        self.stop
    }

    pub(crate) const fn has(&self, bit: NodeBit) -> bool {
        self.bits & bit as u8 != 0
    }
}

/// A property of a node that is on or off.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum NodeBit {
    Numbers = NUMBERS,
    BundleFirst = BUNDLE_FIRST,
    Sends = SENDS,
    Builtin = BUILTIN,
    IgnoreCase = IGNORE_CASE,
}

impl FlagRow {
    pub(crate) const fn is_everywhere(&self) -> bool {
        self.everywhere != 0
    }

    pub(crate) fn tier(&self) -> Tier {
        Tier::from_number(self.tier).unwrap_or_default()
    }

    pub(crate) fn cap(&self) -> Option<Tier> {
        Tier::from_number(self.cap)
    }

    pub(crate) fn arity(&self) -> Arity {
        Arity::from_number(self.arity).unwrap_or_default()
    }

    pub(crate) fn role(&self) -> Role {
        Role::from_number(self.role).unwrap_or_default()
    }
}

impl OperandRow {
    pub(crate) fn position(&self) -> Position {
        Position::from_number(self.position).unwrap_or_default()
    }

    pub(crate) fn role(&self) -> Role {
        Role::from_number(self.role).unwrap_or_default()
    }
}

impl ValueRow {
    pub(crate) fn tier(&self) -> Tier {
        Tier::from_number(self.tier).unwrap_or_default()
    }

    pub(crate) fn cap(&self) -> Option<Tier> {
        Tier::from_number(self.cap)
    }

    pub(crate) fn role(&self) -> Role {
        Role::from_number(self.role).unwrap_or_default()
    }
}

impl FormRow {
    pub(crate) fn tier(&self) -> Tier {
        Tier::from_number(self.tier).unwrap_or_default()
    }

    pub(crate) fn output(&self) -> Option<Output> {
        Output::from_number(self.output)
    }

    pub(crate) fn stdin(&self) -> Option<Role> {
        Role::from_number(self.stdin)
    }
}

impl From<Place> for PlaceRow {
    fn from(Place { file, line }: Place) -> Self {
        Self { file, line: U16::new(line) }
    }
}

/// What people read of facts.
impl<'a> Facts<'a> {
    /// Returns the name of a program with its sub-commands: `git stash drop`.
    #[must_use]
    pub fn command_name(&self, node: NodeId) -> String {
        let mut names = Vec::new();
        let mut next = Some(node);
        // A damaged table could name a node as its own parent.
        while let (Some(row), true) = (next.and_then(|id| self.node(id)), names.len() < 8) {
            names.push(self.string(row.name));
            next = (row.parent.get() != NO_NODE).then(|| row.parent.get());
        }
        names.reverse();
        names.join(" ")
    }

    pub(crate) fn node_says(&self, node: NodeId) -> &'a str {
        self.node(node).map_or("", |row| self.string(row.says))
    }

    pub(crate) fn form_says(&self, form: u16) -> &'a str {
        self.forms.get(usize::from(form)).map_or("", |row| self.string(row.says))
    }

    pub(crate) fn flag_says(&self, flag: FlagId) -> &'a str {
        self.flag(flag).map_or("", |row| self.string(row.says))
    }

    pub(crate) fn value_says(&self, value: u16) -> &'a str {
        self.values.get(usize::from(value)).map_or("", |row| self.string(row.says))
    }

    /// Returns the text of an option's name.
    pub(crate) fn flag_name(&self, name: FlagName) -> &'a str {
        self.string(U16::new(name.name))
    }

    /// Returns the number of a form of a node.
    pub(crate) fn form_id(&self, node: &NodeRow, at: usize) -> u16 {
        node.forms.start.get().saturating_add(u16::try_from(at).unwrap_or(u16::MAX))
    }

    /// Returns the number of a value among some rows.
    pub(crate) fn value_id(&self, rows: Rows, at: usize) -> u16 {
        rows.start.get().saturating_add(u16::try_from(at).unwrap_or(u16::MAX))
    }
}
