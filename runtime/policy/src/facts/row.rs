//! The rows of a program, as stored in the table.
//!
//! ```text
//! node     distance of its parent(3 bytes; of a program NO_PARENT and its file), tier | style | parts, bits | parts, extras,
//!          name, says, line, the extras that are there, then each part that is there with its length:
//!          options, operands, forms, sub-commands
//! option   length, tier | arity | parts, line, role, cap, says, values, letters, names
//!          or 0, the distance from the node back to an equal option, the line that its lines are counted from
//! text     2 * its number, or 2 * its length + 1 and its bytes if only this row has it
//! operand  role | position, line | parts, first operand, values
//! value    tier | parts, line, pattern, cap, role, says
//! form     length, tier | parts, lists, line, says, the parts, then the lists with their lengths
//! sub      distance of its node, how many names, names
//! ```
//!
//! Names are numbers in rising order, each written as the distance to the one before; letters of
//! names such as `-x` come first. The line of a row is written as the distance to the line of its
//! node.
//!
//! Rows refer to each other by distances, and hold the texts that only they use. An edited fact
//! therefore moves few other bytes, and a version control system stores a small difference.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::model::{Arity, Output, Position, Role, Special, Style};
use super::names::NameId;
use crate::tier::Tier;

/// The number of a program or sub-command: the offset of its row.
pub type NodeId = u32;
/// The number of an option: the offset of its row.
pub(crate) type FlagId = u32;
/// The number of a text: its offset among the texts or, with the bit [`IN_ROW`], among the rows.
pub(crate) type TextId = u32;

/// The bit that marks a text inside a row.
pub(super) const IN_ROW: TextId = 1 << 31;

/// The parent number of a program.
pub(super) const NO_PARENT: NodeId = 0xff_ffff;

/// The number of a program or a distance, as written: three bytes, the lowest first.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(transparent)]
pub(super) struct NodeBytes(pub(super) [u8; 3]);

impl NodeBytes {
    /// Takes a number; returns `None` unless it is below [`NO_PARENT`].
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

/// The number of a missing tier.
pub(super) const NO_TIER: u8 = 4;

/// Flags of a node.
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

/// Optional parts of a node.
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

/// Optional parts of an option.
pub(super) mod flag_part {
    /// The arity number of options without a value that open a port.
    pub(in crate::facts) const LISTENS: u8 = 3;
    pub(in crate::facts) const EVERYWHERE: u8 = 1 << 4;
    pub(in crate::facts) const CAP: u8 = 1 << 5;
    pub(in crate::facts) const SAYS: u8 = 1 << 6;
    pub(in crate::facts) const VALUES: u8 = 1 << 7;
}

/// Parts of an operand, in the bits next to its line.
pub(super) mod operand_part {
    pub(in crate::facts) const BITS: u32 = 3;
    pub(in crate::facts) const VALUES: u32 = 1;
    pub(in crate::facts) const FROM: u32 = 2;
    pub(in crate::facts) const NOT_LAST: u32 = 4;
}

/// Optional parts of a value.
pub(super) mod value_part {
    pub(in crate::facts) const CAP: u8 = 4;
    pub(in crate::facts) const ROLE: u8 = 8;
    pub(in crate::facts) const SAYS: u8 = 16;
}

/// Optional parts and lists of a form.
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

/// A range of bytes of rows, and the base of the line numbers in it.
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

/// A list of names.
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
    /// The file of a program; 0 for a sub-command.
    pub(super) file: u8,
    pub(super) name: NameId,
    pub(super) says: TextId,
    pub(crate) writes: TextId,
    /// `None` for unreviewed facts.
    pub(crate) tier: Option<Tier>,
    pub(crate) style: Style,
    pub(super) bits: u8,
    /// The operand after which all words are operands; 0 for none.
    pub(crate) stop: u8,
    /// The position of the sub-command among the operands, from 1.
    pub(crate) sub_at: u8,
    pub(crate) stdin: Role,
    pub(crate) output: Output,
    pub(crate) special: Special,
    pub(super) checked: TextId,
    /// The user whose rights it takes unless an option names one.
    pub(crate) user: TextId,
    pub(crate) line: u16,
    pub(super) flags: Extent,
    pub(crate) operands: Extent,
    pub(crate) forms: Extent,
    pub(super) subs: Extent,
    /// The end of the row.
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

/// The beginning of the row of a program or sub-command.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeHead {
    pub(super) parent: Option<NodeId>,
    /// The file of a program; 0 for a sub-command.
    pub(super) file: u8,
    pub(super) first: u8,
}

impl NodeHead {
    /// Returns the tier, `Some(None)` for unreviewed facts, or `None` for an invalid byte.
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
    /// Returns its length in bytes.
    pub(super) const fn size(&self) -> usize {
        self.names.names.end.saturating_sub(self.id) as usize
    }

    /// `--help`, an undeclared option of every program: the program then does nothing else.
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
    /// The first operand that it describes, from 1; 0 for any remaining one.
    pub(crate) from: u8,
    pub(crate) not_last: bool,
    pub(crate) role: Role,
    pub(crate) line: u16,
    pub(crate) values: Extent,
}

/// The row of a special value.
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
