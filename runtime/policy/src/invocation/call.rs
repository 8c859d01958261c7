//! Options, operands and sub-commands of a call.

use crate::effect::What;
use crate::facts::{Facts, FlagRow, NameId, NodeId, NodeRow};
use crate::span::Span;
use crate::value::Field;

/// The words of a program, taken apart.
#[derive(Debug)]
pub(crate) struct Invocation<'c> {
    /// The program and its sub-commands.
    pub(crate) chain: Vec<NodeRow>,
    /// Their words.
    pub(crate) span: Span,
    /// Which words are the sub-commands.
    pub(crate) subs: Vec<usize>,
    pub(crate) given: Vec<Given<'c>>,
    pub(crate) operands: Vec<Field<'c>>,
    /// From which operand on no word can be an option, because of `--`.
    pub(crate) dashes: Option<usize>,
    /// Whether options may end at the first operand, because of `POSIXLY_CORRECT`.
    pub(crate) is_posix: bool,
    /// Whether there was an option that no fact declares.
    pub(crate) has_unknown: bool,
    /// The doubts about its words.
    pub(crate) doubts: Vec<(What, Span)>,
    /// The word after the first such option, which may be its value.
    pub(crate) doubt: Option<usize>,
    /// Whether a sub-command is not known, so that nothing is known of what follows.
    pub(crate) is_lost: bool,
}

/// An option that was given.
#[derive(Debug)]
pub(crate) struct Given<'c> {
    /// Who declares it.
    pub(crate) owner: NodeId,
    pub(crate) flag: FlagRow,
    /// The name that facts give it; `None` of `--help`, which they need not declare.
    pub(crate) name: Option<NameId>,
    pub(crate) span: Span,
    pub(crate) value: Option<Field<'c>>,
    /// The words of a command that ends with `;`.
    pub(crate) words: Vec<Field<'c>>,
    /// Whether the name is whole and surely an option: another one never lowers anything.
    pub(crate) is_whole: bool,
    /// Whether its value says that it is off: `--all=false`.
    pub(crate) is_off: bool,
    /// Whether its name may ask for the version.
    pub(crate) is_version: bool,
}

impl Invocation<'_> {
    /// Returns whether an option of this name is given.
    pub(crate) fn gives(&self, facts: &Facts<'_>, name: &[u8]) -> bool {
        let name = facts.name_id(name);
        name.is_some() && self.given.iter().any(|given| given.name == name)
    }
}
