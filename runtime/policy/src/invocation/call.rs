//! Options, operands and sub-commands of a call.

use smallvec::SmallVec;

use crate::effect::What;
use crate::facts::{Facts, FlagRow, NameId, NodeId, NodeRow};
use crate::span::Span;
use crate::value::Field;

/// The words of a program, taken apart.
#[derive(Debug)]
pub(crate) struct Invocation<'c> {
    /// The program and its sub-commands.
    pub(crate) chain: SmallVec<[NodeRow; 2]>,
    /// Their words.
    pub(crate) span: Span,
    /// The positions of the sub-commands among the words.
    pub(crate) subs: Vec<usize>,
    pub(crate) given: Vec<Given<'c>>,
    pub(crate) operands: Vec<Field<'c>>,
    /// The index of the first operand after `--`; all words from there on are operands.
    pub(crate) dashes: Option<usize>,
    /// Whether options may end at the first operand, because of `POSIXLY_CORRECT`.
    pub(crate) is_posix: bool,
    /// Whether an undeclared option was given.
    pub(crate) has_unknown: bool,
    /// The doubts about its words.
    pub(crate) doubts: Vec<(What, Span)>,
    /// The word after the first undeclared option; it may be the value of that option.
    pub(crate) doubt: Option<usize>,
    /// Whether a sub-command is unknown, and with it the meaning of all words after it.
    pub(crate) is_lost: bool,
}

/// An option that was given.
#[derive(Debug)]
pub(crate) struct Given<'c> {
    /// The program or sub-command that declares it.
    pub(crate) owner: NodeId,
    pub(crate) flag: FlagRow,
    /// Its declared name; `None` for an undeclared `--help`.
    pub(crate) name: Option<NameId>,
    pub(crate) span: Span,
    pub(crate) value: Option<Field<'c>>,
    /// The words of a command that ends with `;`.
    pub(crate) words: Vec<Field<'c>>,
    /// Whether the name is complete and certainly an option. Only such options lower a tier.
    pub(crate) is_whole: bool,
    /// Whether its value turns it off: `--all=false`.
    pub(crate) is_off: bool,
    /// Whether it is a `--version` that no fact declares.
    pub(crate) is_undeclared_version: bool,
}

impl Invocation<'_> {
    /// Returns whether an option of this name is given.
    pub(crate) fn gives(&self, facts: &Facts<'_>, name: &[u8]) -> bool {
        let name = facts.name_id(name);
        name.is_some() && self.given.iter().any(|given| given.name == name)
    }
}
