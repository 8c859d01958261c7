//! The facts as a table for use in place.
//!
//! The table begins with the lengths of its parts; the parts follow: names, programs, words of
//! languages, and rows (`row.rs`) with their texts. `Facts::open` reads every row once; later reads
//! always succeed.
//!
//! In a table of joined facts (`join.rs`), the header of the first ones follows its own, and each part
//! begins with that of the first ones.

use std::ffi::CStr;
use std::mem::size_of;

use relay_bundle::Digest;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::cursor::{Cursor, Damaged};
use super::model::{Place, Role, WordKind};
use super::names::{BlockIds, NameId, Names, letter_of, name_of};
use super::row::{
    Extent, FlagId, FlagRow, FormRow, IN_ROW, NameList, NodeBit, NodeBytes, NodeId, NodeRow,
    OperandRow, SubRow, TextId, ValueRow,
};
use super::row_reader::{NameIds, RowReader};
use crate::tier::Tier;

/// The version of the table format.
pub(super) const FORM: u32 = 6;
/// That of a table of joined facts.
pub(super) const FORM_JOINED: u32 = 7;

/// The size of each part: the number of rows if they have one size, else bytes.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Header {
    pub(super) form: U32,
    pub(super) blocks: U32,
    pub(super) name_bytes: U32,
    pub(super) programs: U32,
    pub(super) words: U32,
    pub(super) environment: U32,
    pub(super) files: U32,
    pub(super) rows: U32,
    pub(super) texts: U32,
    /// See [`Facts::meaning`].
    pub(super) meaning: [u8; 32],
}

/// A name and its program.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct ProgramRow {
    pub(super) name: U16,
    pub(super) node: NodeBytes,
}

/// A word of a language.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct WordRow {
    pub(super) language: u8,
    pub(super) kind: u8,
    pub(super) word: U16,
}

/// The facts in force.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub(super) header: &'a Header,
    /// The header of the facts that others were joined to; for all other tables, the same.
    pub(super) base: &'a Header,
    pub(super) names: Names<'a>,
    /// Sorted by name.
    pub(super) programs: &'a [ProgramRow],
    /// The programs that were joined to these: they count where both have a name. Sorted by name.
    pub(super) added: &'a [ProgramRow],
    /// Sorted by language and word.
    pub(super) words: &'a [WordRow],
    /// Harmless variables.
    pub(super) environment: &'a [U32],
    pub(super) files: &'a [U32],
    pub(super) rows: &'a [u8],
    /// Each ends with a zero byte.
    pub(super) texts: &'a [u8],
}

/// A place in a fact file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactPlace<'a> {
    /// The fact file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u16,
}

impl<'a> Facts<'a> {
    /// Splits a table into its parts, whose names and rows are read later.
    pub(super) fn split(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let (header, rest) = Header::read(bytes)?;
        let (base, rest) = match header.form.get() {
            FORM => (header, rest),
            FORM_JOINED => Header::read(rest)?,
            _ => return Err(Damaged("another version wrote it")),
        };
        if base.form.get() != FORM || !base.is_beginning_of(header) {
            return Err(Damaged("another version wrote what it begins with"));
        }
        if base.words.get() != header.words.get() {
            return Err(Damaged("words of a language were joined to it"));
        }
        let (starts, rest) = rows::<U64>(rest, header.blocks)?;
        let (ids, rest) = rows::<BlockIds>(rest, header.blocks)?;
        let (offsets, rest) = rows(rest, header.blocks)?;
        let (name_bytes, rest) = rows(rest, header.name_bytes)?;
        let (programs, rest) = rows(rest, base.programs)?;
        let (added, rest) = rows(rest, (header.programs.get() - base.programs.get()).into())?;
        let (words, rest) = rows(rest, header.words)?;
        let (environment, rest) = rows(rest, header.environment)?;
        let (files, rest) = rows(rest, header.files)?;
        let (node_rows, rest) = rows(rest, header.rows)?;
        let texts = rest;
        if texts.len() != header.texts.get() as usize {
            return Err(Damaged("its length is wrong"));
        }
        let base_blocks = base.blocks.get() as usize;
        let names = Names { ids, starts, offsets, bytes: name_bytes, base: base_blocks };
        let rows = node_rows;
        Ok(Self { header, base, names, programs, added, words, environment, files, rows, texts })
    }

    /// Returns the digest of the facts without their places: equal for tables of the same facts that were
    /// joined to the same ones, if to any. The writer of the table computed it.
    #[must_use]
    pub const fn meaning(&self) -> Digest {
        Digest(self.header.meaning)
    }

    /// Returns whether facts were joined to others.
    pub(super) fn is_joined(&self) -> bool {
        self.header.form.get() == FORM_JOINED
    }

    /// Returns the program with this name.
    #[must_use]
    pub fn program(&self, name: &[u8]) -> Option<NodeId> {
        self.program_of(self.names.find(name)?)
    }

    pub(super) fn program_of(&self, name: NameId) -> Option<NodeId> {
        let row = found(self.added, name).or_else(|| found(self.programs, name))?;
        Some(row.node.get())
    }

    /// Returns the name of each program, with the program.
    pub(super) fn program_rows(&self) -> impl Iterator<Item = &'a ProgramRow> + use<'a> {
        let (programs, added) = (self.programs, self.added);
        programs.iter().filter(|row| found(added, row.name.get()).is_none()).chain(added)
    }

    /// Returns the names of the fact files, by their numbers.
    #[must_use]
    pub fn files(&self) -> Vec<&'a str> {
        self.files.iter().map(|id| self.text(id.get())).collect()
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<NodeRow> {
        RowReader::node(self.rows, id)
    }

    /// Returns the tier of a program or sub-command without its options; `None` for unreviewed
    /// facts.
    pub(crate) fn tier(&self, node: NodeId) -> Option<Tier> {
        RowReader::node_head(self.rows, node)?.tier()?
    }

    pub(crate) fn name(&self, id: NameId) -> String {
        self.names.name(id)
    }

    /// Returns the number of a name that some fact has.
    pub(crate) fn name_id(&self, name: &[u8]) -> Option<NameId> {
        self.names.find(name)
    }

    pub(super) fn has_name(&self, id: NameId) -> bool {
        self.names.has(id)
    }

    /// Returns for each number whether a name has it.
    pub(super) fn names_in_use(&self) -> Vec<bool> {
        self.names.in_use()
    }

    pub(crate) fn text(&self, id: TextId) -> &'a str {
        if id & IN_ROW != 0 {
            return self.text_in_row(id).unwrap_or("");
        }
        if id == 0 {
            // The first text is empty, and most rows have it.
            return "";
        }
        self.text_at(id as usize).unwrap_or("")
    }

    /// Returns the text that begins at an offset among the texts.
    fn text_at(&self, at: usize) -> Option<&'a str> {
        CStr::from_bytes_until_nul(self.texts.get(at..)?).ok()?.to_str().ok()
    }

    fn text_in_row(&self, id: TextId) -> Option<&'a str> {
        let mut cursor = Cursor::new(self.rows, (id & !IN_ROW) as usize);
        let length = cursor.number() >> 1;
        str::from_utf8(cursor.take(length as usize)).ok()
    }

    /// Returns whether a text begins at this offset.
    pub(super) fn is_text(&self, id: TextId) -> bool {
        if id & IN_ROW != 0 {
            return self.text_in_row(id).is_some();
        }
        // A byte of this form is inside of a character.
        let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        self.texts.get(id as usize).is_some_and(|byte| !is_inside(byte))
    }

    /// Returns whether all texts can be read; [`Self::is_text`] relies on it.
    pub(super) fn has_readable_texts(&self) -> bool {
        str::from_utf8(self.texts).is_ok_and(|texts| texts.is_empty() || texts.ends_with('\0'))
    }

    pub(super) fn name_ids(&self, names: Extent) -> NameIds<'a> {
        NameIds::new(self.rows, names)
    }

    fn letters(&self, list: NameList) -> &'a [u8] {
        let Extent { start, end, .. } = list.letters;
        self.rows.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// Returns the numbers of all names of a list.
    pub(super) fn listed(&self, list: NameList) -> impl Iterator<Item = NameId> + use<'a> {
        let letters = self.letters(list).iter().map(|letter| name_of(*letter));
        letters.chain(self.name_ids(list.names))
    }

    /// Returns whether a list holds a name.
    pub(crate) fn lists(&self, list: NameList, name: NameId) -> bool {
        match letter_of(name) {
            Some(letter) => self.letters(list).contains(&letter),
            None => self.has_id(list.names, name),
        }
    }

    /// Returns whether a list of rising numbers holds this one.
    fn has_id(&self, names: Extent, name: NameId) -> bool {
        self.name_ids(names).find(|id| *id >= name) == Some(name)
    }

    /// Reads rows of one kind.
    fn read<T, R: Fn(&mut RowReader<'a>) -> Option<T>>(
        &self,
        extent: Extent,
        read: R,
    ) -> impl Iterator<Item = T> + use<'a, T, R> {
        let mut reader = RowReader::new(self.rows, extent);
        std::iter::from_fn(move || if reader.is_done() { None } else { read(&mut reader) })
    }

    /// Reads all rows of one kind; `None` if one of them is damaged.
    pub(super) fn read_all<T>(
        &self,
        extent: Extent,
        read: impl Fn(&mut RowReader<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut reader = RowReader::new(self.rows, extent);
        let mut all = Vec::new();
        while !reader.is_done() {
            all.push(read(&mut reader)?);
        }
        Some(all)
    }

    pub(crate) fn flags(&self, node: &NodeRow) -> impl Iterator<Item = FlagRow> + use<'a> {
        let mut reader = RowReader::of_node(self.rows, node);
        std::iter::from_fn(move || if reader.is_done() { None } else { reader.flag() })
    }

    /// Reads all options of a node; `None` if one of them is damaged.
    pub(super) fn all_flags(&self, node: &NodeRow) -> Option<Vec<FlagRow>> {
        let mut reader = RowReader::of_node(self.rows, node);
        let mut all = Vec::new();
        while !reader.is_done() {
            all.push(reader.flag()?);
        }
        Some(all)
    }

    pub(crate) fn operands(&self, extent: Extent) -> impl Iterator<Item = OperandRow> + use<'a> {
        self.read(extent, RowReader::operand)
    }

    pub(crate) fn values(&self, extent: Extent) -> impl Iterator<Item = ValueRow> + use<'a> {
        self.read(extent, RowReader::value)
    }

    pub(crate) fn forms(&self, node: &NodeRow) -> impl Iterator<Item = FormRow> + use<'a> {
        self.read(node.forms, RowReader::form)
    }

    pub(super) fn subs(&self, node: &NodeRow) -> impl Iterator<Item = SubRow> + use<'a> {
        let id = node.id;
        self.read(node.subs, move |reader| reader.sub(id))
    }

    /// Returns the role of an option's value in a form.
    pub(crate) fn form_role(&self, form: &FormRow, name: NameId) -> Option<Role> {
        self.roles(form).find(|(of, _)| *of == name).map(|(_, role)| role)
    }

    pub(super) fn roles(&self, form: &FormRow) -> impl Iterator<Item = (NameId, Role)> + use<'a> {
        self.read(form.roles, RowReader::role)
    }

    /// Returns the texts of a list.
    pub(crate) fn texts(&self, extent: Extent) -> impl Iterator<Item = &'a str> + use<'a> {
        let facts = *self;
        self.read(extent, RowReader::text).map(move |id| facts.text(id))
    }

    /// Returns the sub-command of a node named by a word: an exact name, else the longest pattern.
    pub(crate) fn sub(&self, node: &NodeRow, word: &[u8]) -> Option<NodeId> {
        let lowered;
        let word = if node.has(NodeBit::IgnoreCase) {
            lowered = word.to_ascii_lowercase();
            &lowered
        } else {
            word
        };
        if let Some(name) = self.names.find(word)
            && let Some(sub) = self.subs(node).find(|sub| self.has_id(sub.names, name))
        {
            return Some(sub.node);
        }
        let mut best: Option<(usize, NodeId)> = None;
        for sub in self.subs(node).filter(|sub| sub.has_pattern) {
            for pattern in self.patterns(sub.names, word) {
                if best.is_none_or(|(length, _)| pattern.len() > length) {
                    best = Some((pattern.len(), sub.node));
                }
            }
        }
        best.map(|(_, node)| node)
    }

    /// Returns the patterns among some names that a word matches.
    fn patterns(&self, names: Extent, word: &[u8]) -> impl Iterator<Item = String> {
        let near = self.name_ids(names).filter(|id| self.names.may_match(*id, word));
        let patterns = near.map(|id| self.name(id)).filter(|name| name.contains('*'));
        patterns.filter(|pattern| matches(pattern, word))
    }

    /// Returns the option of this exact name that a node itself declares.
    pub(crate) fn own_flag(&self, node: &NodeRow, name: NameId) -> Option<FlagRow> {
        self.flags(node).find(|flag| self.lists(flag.names, name))
    }

    /// Returns the option with the longest pattern (`--set-*`) that matches a word, and the
    /// pattern.
    pub(crate) fn flag_pattern(&self, node: &NodeRow, word: &[u8]) -> Option<(FlagRow, NameId)> {
        let mut best: Option<(usize, FlagRow, NameId)> = None;
        for flag in self.flags(node).filter(|flag| flag.has_pattern) {
            let ids = self.name_ids(flag.names.names);
            for id in ids.filter(|id| self.names.may_match(*id, word)) {
                let pattern = self.name(id);
                let is_longer = best.is_none_or(|(length, ..)| pattern.len() > length);
                if is_longer && pattern.contains('*') && matches(&pattern, word) {
                    best = Some((pattern.len(), flag, id));
                }
            }
        }
        best.map(|(_, flag, name)| (flag, name))
    }

    /// Returns the options of a node whose names begin with `start`, with these names.
    pub(crate) fn flags_from(&self, node: &NodeRow, start: &[u8]) -> Vec<(FlagRow, NameId)> {
        let ranges = self.names.from(start);
        let is_near = |id: &NameId| ranges.iter().any(|range| range.contains(id));
        let mut found = Vec::new();
        for flag in self.flags(node) {
            let names = self.name_ids(flag.names.names).filter(is_near);
            found.extend(names.map(|name| (flag, name)));
        }
        found
    }

    /// Returns the meaning of a word of a language.
    pub(crate) fn word(&self, language: Role, word: &str) -> Option<WordKind> {
        let key = (language as u8, self.names.find(word.as_bytes())?);
        let at = self.words.binary_search_by_key(&key, |row| (row.language, row.word.get()));
        WordKind::from_number(self.words.get(at.ok()?)?.kind)
    }

    /// Returns whether a variable of the environment is declared harmless: the same code runs with
    /// it.
    #[must_use]
    pub fn is_harmless_variable(&self, name: &str) -> bool {
        let first = name.bytes().next().unwrap_or(0);
        // The first letter rules most of them out.
        let is_near = |id: TextId| match self.texts.get(id as usize) {
            Some(byte) => *byte == first || *byte == b'*',
            None => true,
        };
        let mut near = self.environment.iter().map(|id| id.get()).filter(|id| is_near(*id));
        // A bracket is literal here: only names and prefixes are harmless.
        near.any(|id| matches_star(self.text(id), name.as_bytes()))
    }

    /// Returns the place of a row of a node in its fact file.
    pub(crate) fn place_of(&self, node: NodeId, line: u16) -> Place {
        let head = |node| RowReader::node_head(self.rows, node);
        let mut program = head(node);
        while let Some(parent) = program.and_then(|head| head.parent) {
            program = head(parent);
        }
        Place { file: program.map_or(0, |head| head.file), line }
    }

    /// Returns the place with the name of its file.
    pub(crate) fn fact_place(&self, place: Place) -> FactPlace<'a> {
        let file = self.files.get(usize::from(place.file));
        FactPlace { file: file.map_or("", |id| self.text(id.get())), line: place.line }
    }
}

/// The pattern of relative paths.
pub(crate) const RELATIVE: &str = "[relative]";
/// The pattern of any word that is a plain name.
pub(crate) const NAME: &str = "[name]";

/// Returns whether a word matches a pattern: its whole text, the rest at a `*` at one end, a
/// relative path for [`RELATIVE`], or a plain name for [`NAME`].
pub(crate) fn matches(pattern: &str, word: &[u8]) -> bool {
    match word {
        // A word that begins with an unknown byte may be an absolute path.
        [first, ..] if pattern == RELATIVE => {
            first.is_ascii_alphanumeric() || matches!(first, b'.' | b'_' | b'@')
        }
        [first, ..] if pattern == NAME => first.is_ascii_alphanumeric() && is_plain_name(word),
        _ => matches_star(pattern, word),
    }
}

/// Returns whether a word is a plain name, as opposed to a path, address or setting; it may compare
/// a version, as in `name==1.0`.
fn is_plain_name(word: &[u8]) -> bool {
    let is_comparison = |two: &[u8]| matches!(two, b"==" | b"<=" | b">=" | b"~=" | b"!=");
    let is_compared = word.windows(2).any(is_comparison);
    word.iter().all(|byte| match byte {
        b'/' | b':' | b'\\' | b'@' => false,
        b'=' => is_compared,
        byte => byte.is_ascii(),
    })
}

/// Returns whether a word matches a pattern: its whole text, or the rest at a `*` at one end.
fn matches_star(pattern: &str, word: &[u8]) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        word.starts_with(start.as_bytes())
    } else if let Some(end) = pattern.strip_prefix('*') {
        word.ends_with(end.as_bytes())
    } else {
        pattern.as_bytes() == word
    }
}

/// Returns the row of a program with this name.
pub(super) fn found(rows: &[ProgramRow], name: NameId) -> Option<&ProgramRow> {
    rows.get(rows.binary_search_by_key(&name, |row| row.name.get()).ok()?)
}

impl Header {
    fn read(bytes: &[u8]) -> Result<(&Self, &[u8]), Damaged> {
        Self::ref_from_prefix(bytes).map_err(|_| Damaged("it is too short"))
    }

    /// Returns whether each part of another table is at least as long.
    fn is_beginning_of(&self, other: &Self) -> bool {
        let sizes = |it: &Self| {
            let Self {
                blocks, name_bytes, programs, words, environment, files, rows, texts, ..
            } = *it;
            [blocks, name_bytes, programs, words, environment, files, rows, texts].map(U32::get)
        };
        sizes(self).iter().zip(sizes(other)).all(|(base, all)| *base <= all)
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

/// The texts of facts that people read, and their rows.
impl<'a> Facts<'a> {
    pub(crate) fn node_says(&self, node: NodeId) -> &'a str {
        self.node(node).map_or("", |row| self.text(row.says))
    }

    /// Returns the option with an id.
    pub(crate) fn flag_row(&self, flag: FlagId) -> Option<FlagRow> {
        self.reader_at(flag).flag()
    }

    /// Returns the value with an id.
    pub(crate) fn value_row(&self, value: u32) -> Option<ValueRow> {
        self.reader_at(value).value()
    }

    /// Returns the form with an id.
    pub(crate) fn form_row(&self, form: u32) -> Option<FormRow> {
        self.reader_at(form).form()
    }

    pub(crate) fn form_says(&self, form: u32) -> &'a str {
        let row = self.reader_at(form).form();
        row.map_or("", |row| self.text(row.says))
    }

    pub(crate) fn flag_says(&self, flag: FlagId) -> &'a str {
        let row = self.reader_at(flag).flag();
        row.map_or("", |row| self.text(row.says))
    }

    pub(crate) fn value_says(&self, value: u32) -> &'a str {
        let row = self.reader_at(value).value();
        row.map_or("", |row| self.text(row.says))
    }

    fn reader_at(&self, start: u32) -> RowReader<'a> {
        let end = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        RowReader::new(self.rows, Extent { start, end, line: 0 })
    }
}
