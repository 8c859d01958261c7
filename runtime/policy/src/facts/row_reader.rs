//! The rows of a table, decoded.

use super::cursor::Cursor;
use super::model::{Arity, Output, Position, Role, Special, Style};
use super::names::NameId;
use super::row::{
    Extent, FlagRow, FormRow, IN_ROW, NO_PARENT, NameList, NodeBytes, NodeHead, NodeId, NodeRow,
    OperandRow, SubRow, TextId, ValueRow, flag_part, form_part, operand_part, part, value_part,
};
use crate::tier::Tier;

/// Reads rows one after the other. Returns `None` for a row that is cut off or invalid.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowReader<'a> {
    cursor: Cursor<'a>,
    line: u16,
    /// The node whose rows are read: the base of distances.
    node: NodeId,
}

impl<'a> RowReader<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a [u8], extent: Extent) -> Self {
        let bytes = bytes.get(..extent.end as usize).unwrap_or(&[]);
        Self { cursor: Cursor::new(bytes, extent.start as usize), line: extent.line, node: 0 }
    }

    /// Reads the options of a node.
    pub(super) fn of_node(bytes: &'a [u8], node: &NodeRow) -> Self {
        Self { node: node.id, ..Self::new(bytes, node.flags) }
    }

    /// Reads only the beginning of a node.
    pub(super) fn node_head(bytes: &'a [u8], id: NodeId) -> Option<NodeHead> {
        let mut cursor = Cursor::new(bytes, id as usize);
        let head = Self::head(&mut cursor, id);
        (!cursor.is_short()).then_some(head)
    }

    /// Reads a node up to its name.
    pub(super) fn node_name(bytes: &'a [u8], id: NodeId) -> Option<(NodeHead, NameId)> {
        let mut cursor = Cursor::new(bytes, id as usize);
        let head = Self::head(&mut cursor, id);
        let [_bits, _extras] = [cursor.byte(), cursor.byte()];
        let name = cursor.short();
        (!cursor.is_short()).then_some((head, name))
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

    #[inline]
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
            // The target must be a whole option, so that each reference ends after one step.
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

    #[inline]
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

    /// Reads a sub-command of the node at offset `node`.
    #[inline]
    pub(super) fn sub(&mut self, node: NodeId) -> Option<SubRow> {
        let distance = self.cursor.number();
        let head = self.cursor.number();
        let names = self.extent(head >> 1);
        let row = SubRow { node: node.checked_sub(distance)?, has_pattern: head & 1 != 0, names };
        (!self.cursor.is_short()).then_some(row)
    }

    /// Reads the role of an option's value in a form.
    pub(super) fn role(&mut self) -> Option<(NameId, Role)> {
        let (name, role) = (self.cursor.short(), self.cursor.byte());
        (!self.cursor.is_short()).then_some((name, Role::from_number(role)?))
    }

    pub(super) fn text(&mut self) -> Option<TextId> {
        let text = self.text_id();
        (!self.cursor.is_short()).then_some(text)
    }

    /// Reads the number of a text, and skips a text inside the row.
    #[inline]
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
    #[inline]
    fn list(&mut self) -> Extent {
        let length = self.cursor.number();
        self.extent(length)
    }

    #[inline]
    fn extent(&mut self, length: u32) -> Extent {
        let start = u32::try_from(self.cursor.at()).unwrap_or(u32::MAX);
        self.cursor.take(length as usize);
        Extent { start, end: start.saturating_add(length), line: self.line }
    }

    #[inline]
    fn line(&mut self) -> u16 {
        self.line.wrapping_add(self.cursor.short())
    }

    /// Reads a line above this many bits.
    #[inline]
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
    #[inline]
    pub(super) fn new(bytes: &'a [u8], extent: Extent) -> Self {
        let bytes = bytes.get(..extent.end as usize).unwrap_or(&[]);
        Self { cursor: Cursor::new(bytes, extent.start as usize), before: 0 }
    }

    /// Returns whether it consists of numbers only.
    pub(super) fn is_whole(mut self) -> bool {
        while self.next().is_some() {}
        !self.cursor.is_short()
    }
}

impl Iterator for NameIds<'_> {
    type Item = NameId;

    #[inline]
    fn next(&mut self) -> Option<NameId> {
        if self.cursor.is_at_end() {
            return None;
        }
        self.before = self.before.wrapping_add(self.cursor.short());
        Some(self.before)
    }
}
