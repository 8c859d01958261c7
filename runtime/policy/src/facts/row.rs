//! The rows of a program, as they lie in the table.
//!
//! ```text
//! node     distance of its parent(3 bytes; of a program NO_PARENT and its file), tier | style | parts, bits | parts, extras,
//!          name, says, line, the extras that are there, then each part that is there with its length:
//!          options, operands, forms, sub-commands
//! option   length, tier | arity | parts, line, role, cap, says, values, letters, names
//!          or 0, the distance from the node back to an equal option, the line that its lines are counted from
//! text     2 * its number, or of one that only this row has 2 * its length + 1 and its bytes
//! operand  role | position, line | parts, first operand, values
//! value    tier | parts, line, pattern, cap, role, says
//! form     length, tier | parts, lists, line, says, the parts, then the lists with their lengths
//! sub      distance of its node, how many names, names
//! ```
//!
//! Names are numbers in rising order, each written as the distance to the one before; the letters of names
//! such as `-x` are in front of them. The line of a row is written as the distance to the line of its node.
//!
//! Rows refer to each other by distances, and hold the texts that they alone have. So a fact that is edited moves few
//! other bytes, and a version control system stores its table as a small difference.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::cursor::Cursor;
use super::model::{Arity, Output, Position, Role, Special, Style};
use super::names::NameId;
use crate::tier::Tier;

/// The number of a program or sub-command: where its row begins.
pub type NodeId = u32;
/// The number of an option: where its row begins.
pub(crate) type FlagId = u32;
/// The number of a text: where it begins, among the texts or, with the bit [`IN_ROW`], among the rows.
pub(crate) type TextId = u32;

/// The bit of the number of a text that only one row has.
pub(super) const IN_ROW: TextId = 1 << 31;

/// The parent of a program, which has none.
pub(super) const NO_PARENT: NodeId = 0xff_ffff;

/// The number of a program or a distance as it is written: in three bytes, the lowest first.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(transparent)]
pub(super) struct NodeBytes([u8; 3]);

impl NodeBytes {
    /// Takes a number; `None` of one that is not below [`NO_PARENT`].
    pub(super) fn new(id: NodeId) -> Option<Self> {
        let [low, middle, high, _] = id.to_le_bytes();
        (id < NO_PARENT).then_some(Self([low, middle, high]))
    }

    pub(super) const NONE: Self = Self([0xff; 3]);

    pub(super) const fn get(self) -> NodeId {
        let Self([low, middle, high]) = self;
        u32::from_le_bytes([low, middle, high, 0])
    }
}
/// The number for a tier that is not given.
pub(super) const NO_TIER: u8 = 4;

/// Properties of a node that are on or off.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum NodeBit {
    Numbers = 1,
    BundleFirst = 2,
    IgnoreCase = 4,
    Sends = 8,
    Builtin = 16,
    Listens = 128,
}

/// Parts of a node that may be missing.
pub(super) mod part {
    pub(in crate::facts) const FLAGS: u8 = 1 << 6;
    pub(in crate::facts) const OPERANDS: u8 = 1 << 7;
    pub(in crate::facts) const FORMS: u8 = 1 << 5;
    pub(in crate::facts) const SUBS: u8 = 1 << 6;

    pub(in crate::facts) const STOP: u8 = 1;
    pub(in crate::facts) const SUB_AT: u8 = 2;
    pub(in crate::facts) const STDIN: u8 = 4;
    pub(in crate::facts) const OUTPUT: u8 = 8;
    pub(in crate::facts) const SPECIAL: u8 = 16;
    pub(in crate::facts) const WRITES: u8 = 32;
    pub(in crate::facts) const CHECKED: u8 = 64;
    pub(in crate::facts) const USER: u8 = 128;
}

/// Parts of an option that may be missing.
pub(super) mod flag_part {
    /// The number of the arity of options without a value that open a port.
    pub(in crate::facts) const LISTENS: u8 = 3;
    pub(in crate::facts) const EVERYWHERE: u8 = 1 << 4;
    pub(in crate::facts) const CAP: u8 = 1 << 5;
    pub(in crate::facts) const SAYS: u8 = 1 << 6;
    pub(in crate::facts) const VALUES: u8 = 1 << 7;
}

/// Parts of an operand, in the bits beside its line.
pub(super) mod operand_part {
    pub(in crate::facts) const BITS: u32 = 3;
    pub(in crate::facts) const VALUES: u32 = 1;
    pub(in crate::facts) const FROM: u32 = 2;
    pub(in crate::facts) const NOT_LAST: u32 = 4;
}

/// Parts of a value that may be missing.
pub(super) mod value_part {
    pub(in crate::facts) const CAP: u8 = 4;
    pub(in crate::facts) const ROLE: u8 = 8;
    pub(in crate::facts) const SAYS: u8 = 16;
}

/// Parts and lists of a form that may be missing.
pub(super) mod form_part {
    pub(in crate::facts) const OUTPUT: u8 = 4;
    pub(in crate::facts) const STDIN: u8 = 8;
    pub(in crate::facts) const WRITES: u8 = 16;
    pub(in crate::facts) const LEAST: u8 = 32;
    pub(in crate::facts) const MOST: u8 = 64;

    pub(in crate::facts) const HAS: u8 = 1;
    pub(in crate::facts) const WITHOUT: u8 = 2;
    pub(in crate::facts) const MATCHING: u8 = 4;
    pub(in crate::facts) const OPERANDS: u8 = 8;
    pub(in crate::facts) const ROLES: u8 = 16;
}

/// Some bytes of rows, and the line that the lines in them are counted from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u16,
}

impl Extent {
    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Some names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NameList {
    /// The letters of names such as `-x`.
    pub(super) letters: Extent,
    /// The numbers of the others.
    pub(super) names: Extent,
}

impl NameList {
    pub(crate) const fn is_empty(&self) -> bool {
        self.letters.is_empty() && self.names.is_empty()
    }
}

/// A program or a sub-command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeRow {
    pub(crate) id: NodeId,
    pub(crate) parent: Option<NodeId>,
    /// The file of a program; 0 of a sub-command.
    pub(super) file: u8,
    pub(super) name: NameId,
    pub(super) says: TextId,
    pub(crate) writes: TextId,
    /// `None` if no one has read its facts yet.
    pub(crate) tier: Option<Tier>,
    pub(crate) style: Style,
    bits: u8,
    /// From which operand on no word is an option; 0 for never.
    pub(crate) stop: u8,
    /// Which operand is the sub-command, from 1.
    pub(crate) sub_at: u8,
    pub(crate) stdin: Role,
    pub(crate) output: Output,
    pub(crate) special: Special,
    pub(super) checked: TextId,
    /// The user whose rights it takes if no option names one.
    pub(crate) user: TextId,
    pub(crate) line: u16,
    pub(super) flags: Extent,
    pub(crate) operands: Extent,
    pub(crate) forms: Extent,
    pub(super) subs: Extent,
    /// Where the row ends.
    pub(super) end: u32,
}

impl NodeRow {
    pub(crate) const fn has(&self, bit: NodeBit) -> bool {
        self.bits & bit as u8 != 0
    }

    pub(crate) const fn has_subs(&self) -> bool {
        !self.subs.is_empty()
    }
}

/// How a program or a sub-command begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeHead {
    pub(super) parent: Option<NodeId>,
    /// The file of a program; 0 of a sub-command.
    pub(super) file: u8,
    first: u8,
}

impl NodeHead {
    /// Returns the tier, of which `None` says that no one has read its facts yet; `None` if the byte means nothing.
    pub(super) fn tier(&self) -> Option<Option<Tier>> {
        match self.first & 7 {
            NO_TIER => Some(None),
            tier => Tier::from_number(tier).map(Some),
        }
    }
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlagRow {
    pub(crate) id: FlagId,
    pub(crate) tier: Tier,
    pub(crate) cap: Option<Tier>,
    pub(crate) arity: Arity,
    pub(crate) role: Role,
    pub(super) says: TextId,
    pub(crate) is_everywhere: bool,
    pub(super) has_pattern: bool,
    pub(crate) line: u16,
    pub(crate) values: Extent,
    pub(super) names: NameList,
}

impl FlagRow {
    /// Returns how many bytes it takes.
    pub(super) const fn size(&self) -> usize {
        self.names.names.end.saturating_sub(self.id) as usize
    }

    /// `--help`, which every program may have and no fact declares: nothing else is done then.
    pub(crate) const HELP: Self = Self {
        id: FlagId::MAX,
        tier: Tier::ReadOnly,
        cap: Some(Tier::ReadOnly),
        arity: Arity::None,
        role: Role::Text,
        says: 0,
        is_everywhere: false,
        has_pattern: false,
        line: 0,
        values: Extent { start: 0, end: 0, line: 0 },
        names: NameList {
            letters: Extent { start: 0, end: 0, line: 0 },
            names: Extent { start: 0, end: 0, line: 0 },
        },
    };
}

/// An operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperandRow {
    pub(crate) position: Position,
    /// The first operand that it is about, from 1; 0 for whichever is left.
    pub(crate) from: u8,
    pub(crate) not_last: bool,
    pub(crate) role: Role,
    pub(crate) line: u16,
    pub(crate) values: Extent,
}

/// The row of a value with a meaning of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueRow {
    pub(crate) id: u32,
    pub(crate) pattern: TextId,
    pub(super) says: TextId,
    pub(crate) tier: Tier,
    pub(crate) cap: Option<Tier>,
    pub(crate) role: Role,
    pub(crate) line: u16,
}

/// The row of a form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormRow {
    pub(crate) id: u32,
    pub(super) says: TextId,
    pub(crate) writes: TextId,
    pub(crate) tier: Tier,
    pub(crate) output: Option<Output>,
    pub(crate) stdin: Option<Role>,
    pub(crate) least: u8,
    pub(crate) most: u8,
    pub(crate) line: u16,
    pub(crate) has: NameList,
    pub(crate) without: NameList,
    pub(crate) matching: Extent,
    pub(crate) operands: Extent,
    pub(crate) roles: Extent,
}

/// A sub-command of a node, by its names.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubRow {
    pub(super) node: NodeId,
    pub(super) has_pattern: bool,
    pub(super) names: Extent,
}

/// Reads rows one after the other. `None` of a row that is cut or holds what means nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowReader<'a> {
    cursor: Cursor<'a>,
    line: u16,
    /// The node whose rows are read, which distances are counted from.
    node: NodeId,
}

impl<'a> RowReader<'a> {
    pub(super) fn new(bytes: &'a [u8], extent: Extent) -> Self {
        let bytes = bytes.get(..extent.end as usize).unwrap_or(&[]);
        Self { cursor: Cursor::new(bytes, extent.start as usize), line: extent.line, node: 0 }
    }

    /// Reads the options of a node.
    pub(super) fn of_node(bytes: &'a [u8], node: &NodeRow) -> Self {
        Self { node: node.id, ..Self::new(bytes, node.flags) }
    }

    /// Reads only how a node begins.
    pub(super) fn node_head(bytes: &'a [u8], id: NodeId) -> Option<NodeHead> {
        let mut cursor = Cursor::new(bytes, id as usize);
        let head = Self::head(&mut cursor, id);
        (!cursor.is_short()).then_some(head)
    }

    #[inline]
    fn head(cursor: &mut Cursor<'a>, id: NodeId) -> NodeHead {
        let mut byte = || cursor.byte();
        let parent = NodeBytes([byte(), byte(), byte()]).get();
        let file = if parent == NO_PARENT { byte() } else { 0 };
        let parent = (parent != NO_PARENT).then(|| id.saturating_add(parent));
        NodeHead { parent, file, first: byte() }
    }

    pub(super) fn node(bytes: &'a [u8], id: NodeId) -> Option<NodeRow> {
        let mut reader = Self { cursor: Cursor::new(bytes, id as usize), line: 0, node: id };
        let head = Self::head(&mut reader.cursor, id);
        let NodeHead { parent, file, first } = head;
        let (bits, extras) = (reader.cursor.byte(), reader.cursor.byte());
        let (name, says, line) = (reader.cursor.short(), reader.text_id(), reader.cursor.short());
        reader.line = line;
        let mut extra = |mask: u8, usual: u8| match extras & mask {
            0 => usual,
            _ => reader.cursor.byte(),
        };
        let (stop, sub_at) = (extra(part::STOP, 0), extra(part::SUB_AT, 1));
        let stdin = Role::from_number(extra(part::STDIN, 0))?;
        let output = Output::from_number(extra(part::OUTPUT, 0))?;
        let special = Special::from_number(extra(part::SPECIAL, 0))?;
        let mut text = |mask: u8| if extras & mask == 0 { 0 } else { reader.text_id() };
        let (writes, checked, user) = (text(part::WRITES), text(part::CHECKED), text(part::USER));
        let mut list = |is_there: bool| if is_there { reader.list() } else { Extent::default() };
        let flags = list(first & part::FLAGS != 0);
        let operands = list(first & part::OPERANDS != 0);
        let forms = list(bits & part::FORMS != 0);
        let subs = list(bits & part::SUBS != 0);
        let row = NodeRow {
            id,
            parent,
            file,
            name,
            says,
            writes,
            tier: head.tier()?,
            style: Style::from_number(first >> 3 & 7)?,
            bits,
            stop,
            sub_at: sub_at.max(1),
            stdin,
            output,
            special,
            checked,
            user,
            line,
            flags,
            operands,
            forms,
            subs,
            end: u32::try_from(reader.cursor.at()).ok()?,
        };
        (!reader.cursor.is_short()).then_some(row)
    }

    pub(super) fn is_done(&self) -> bool {
        self.cursor.is_at_end()
    }

    pub(super) fn flag(&mut self) -> Option<FlagRow> {
        let mut id = u32::try_from(self.cursor.at()).ok()?;
        let mut rest = self.list();
        if rest.is_empty() {
            let distance = self.cursor.number();
            let line = self.line.wrapping_add(self.cursor.short());
            id = self.node.checked_sub(distance)?;
            let cursor = self.cursor.moved_to(id as usize);
            rest = Self { cursor, line, ..*self }.list();
            // An equal option is written there, so that no reference leads to another.
            (!rest.is_empty()).then_some(())?;
        }
        let cursor = self.cursor.within(rest.start, rest.end);
        let mut reader = Self { cursor, line: rest.line, ..*self };
        let parts = reader.cursor.byte();
        let (line, bits) = reader.line_and_bits(2);
        let (arity, role) = match parts >> 2 & 3 {
            flag_part::LISTENS => (Arity::None, Role::Listen),
            number => match Arity::from_number(number)? {
                Arity::None => (Arity::None, Role::Text),
                arity => (arity, Role::from_number(reader.cursor.byte())?),
            },
        };
        let cap = reader.cap(parts & flag_part::CAP != 0)?;
        let says = if parts & flag_part::SAYS == 0 { 0 } else { reader.text_id() };
        let values = if parts & flag_part::VALUES == 0 { Extent::default() } else { reader.list() };
        let letters = if bits & 1 == 0 { Extent::default() } else { reader.list() };
        let start = u32::try_from(reader.cursor.at()).ok()?;
        let row = FlagRow {
            id,
            tier: Tier::from_number(parts & 3)?,
            cap,
            arity,
            role,
            says,
            is_everywhere: parts & flag_part::EVERYWHERE != 0,
            has_pattern: bits & 2 != 0,
            line,
            values,
            names: NameList { letters, names: Extent { start, ..rest } },
        };
        (!self.cursor.is_short() && !reader.cursor.is_short()).then_some(row)
    }

    pub(super) fn operand(&mut self) -> Option<OperandRow> {
        let head = self.cursor.byte();
        let (line, parts) = self.line_and_bits(operand_part::BITS);
        let is_there = |part| parts & part != 0;
        let row = OperandRow {
            position: Position::from_number(head & 3)?,
            role: Role::from_number(head >> 2)?,
            line,
            from: if is_there(operand_part::FROM) { self.cursor.byte() } else { 0 },
            not_last: is_there(operand_part::NOT_LAST),
            values: if is_there(operand_part::VALUES) { self.list() } else { Extent::default() },
        };
        (!self.cursor.is_short()).then_some(row)
    }

    pub(super) fn value(&mut self) -> Option<ValueRow> {
        let id = u32::try_from(self.cursor.at()).ok()?;
        let parts = self.cursor.byte();
        let line = self.line();
        let pattern = self.text_id();
        let cap = self.cap(parts & value_part::CAP != 0)?;
        let role = if parts & value_part::ROLE == 0 { 0 } else { self.cursor.byte() };
        let says = if parts & value_part::SAYS == 0 { 0 } else { self.text_id() };
        let tier = Tier::from_number(parts & 3)?;
        let row = ValueRow { id, pattern, says, tier, cap, role: Role::from_number(role)?, line };
        (!self.cursor.is_short()).then_some(row)
    }

    pub(super) fn form(&mut self) -> Option<FormRow> {
        let id = u32::try_from(self.cursor.at()).ok()?;
        let rest = self.list();
        let mut reader = Self { cursor: self.cursor.within(rest.start, rest.end), ..*self };
        let (parts, lists) = (reader.cursor.byte(), reader.cursor.byte());
        let line = reader.line();
        let says = reader.text_id();
        let mut one = |mask: u8| (parts & mask != 0).then(|| reader.cursor.byte());
        let output = one(form_part::OUTPUT);
        let stdin = one(form_part::STDIN);
        let least = one(form_part::LEAST).unwrap_or(0);
        let most = one(form_part::MOST).unwrap_or(u8::MAX);
        let writes = if parts & form_part::WRITES == 0 { 0 } else { reader.text_id() };
        let mut names = |mask: u8| match lists & mask {
            0 => NameList::default(),
            _ => {
                let all = reader.list();
                let mut inner = Self { cursor: reader.cursor.within(all.start, all.end), ..reader };
                let letters = inner.list();
                NameList { letters, names: Extent { start: letters.end, ..all } }
            }
        };
        let (has, without) = (names(form_part::HAS), names(form_part::WITHOUT));
        let mut list = |mask: u8| match lists & mask {
            0 => Extent::default(),
            _ => reader.list(),
        };
        let row = FormRow {
            id,
            says,
            writes,
            tier: Tier::from_number(parts & 3)?,
            output: output.map(Output::from_number).map_or(Some(None), |it| it.map(Some))?,
            stdin: stdin.map(Role::from_number).map_or(Some(None), |it| it.map(Some))?,
            least,
            most,
            line,
            has,
            without,
            matching: list(form_part::MATCHING),
            operands: list(form_part::OPERANDS),
            roles: list(form_part::ROLES),
        };
        (!self.cursor.is_short() && !reader.cursor.is_short()).then_some(row)
    }

    /// Reads a sub-command of the node that begins at `node`.
    pub(super) fn sub(&mut self, node: NodeId) -> Option<SubRow> {
        let distance = self.cursor.number();
        let head = self.cursor.number();
        let names = self.extent(head >> 1);
        let row = SubRow { node: node.checked_sub(distance)?, has_pattern: head & 1 != 0, names };
        (!self.cursor.is_short()).then_some(row)
    }

    /// Reads the role that an option's value has in a form.
    pub(super) fn role(&mut self) -> Option<(NameId, Role)> {
        let (name, role) = (self.cursor.short(), self.cursor.byte());
        (!self.cursor.is_short()).then_some((name, Role::from_number(role)?))
    }

    pub(super) fn text(&mut self) -> Option<TextId> {
        let text = self.text_id();
        (!self.cursor.is_short()).then_some(text)
    }

    /// Reads the number of a text, and skips a text that is here.
    fn text_id(&mut self) -> TextId {
        let at = u32::try_from(self.cursor.at()).unwrap_or(u32::MAX);
        let number = self.cursor.number();
        if number & 1 == 0 {
            return number >> 1;
        }
        self.cursor.take((number >> 1) as usize);
        IN_ROW | at
    }

    /// Reads a length, and skips as many bytes.
    fn list(&mut self) -> Extent {
        let length = self.cursor.number();
        self.extent(length)
    }

    fn extent(&mut self, length: u32) -> Extent {
        let start = u32::try_from(self.cursor.at()).unwrap_or(u32::MAX);
        self.cursor.take(length as usize);
        Extent { start, end: start.saturating_add(length), line: self.line }
    }

    fn line(&mut self) -> u16 {
        self.line.wrapping_add(self.cursor.short())
    }

    /// Reads a line with this many bits below it.
    fn line_and_bits(&mut self, count: u32) -> (u16, u32) {
        let number = self.cursor.number();
        let distance = u16::try_from(number >> count).unwrap_or_else(|_| {
            self.cursor.fail();
            0
        });
        (self.line.wrapping_add(distance), number & ((1 << count) - 1))
    }

    fn cap(&mut self, is_there: bool) -> Option<Option<Tier>> {
        if !is_there {
            return Some(None);
        }
        Tier::from_number(self.cursor.byte()).map(Some)
    }
}

/// The numbers of names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameIds<'a> {
    cursor: Cursor<'a>,
    before: NameId,
}

impl<'a> NameIds<'a> {
    pub(super) fn new(bytes: &'a [u8], extent: Extent) -> Self {
        let bytes = bytes.get(..extent.end as usize).unwrap_or(&[]);
        Self { cursor: Cursor::new(bytes, extent.start as usize), before: 0 }
    }

    /// Returns whether all of it was numbers.
    pub(super) fn is_whole(mut self) -> bool {
        while self.next().is_some() {}
        !self.cursor.is_short()
    }
}

impl Iterator for NameIds<'_> {
    type Item = NameId;

    fn next(&mut self) -> Option<NameId> {
        if self.cursor.is_at_end() {
            return None;
        }
        self.before = self.before.wrapping_add(self.cursor.short());
        Some(self.before)
    }
}
