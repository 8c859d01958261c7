//! A program or sub-command of one side, and the state of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use relay_policy::facts::{Flag, Node};
use relay_policy::tier::Floors;

use super::difference::Difference;

/// A program or sub-command of one side.
#[derive(Debug, Clone)]
pub(super) struct Command<'k> {
    pub(super) node: &'k Node,
    /// The options that it accepts.
    pub(super) options: Options<'k>,
    /// The sub-commands that lead to it, by their names and by their numbers.
    pub(super) names: Vec<&'k str>,
    pub(super) row: Vec<usize>,
}

impl<'k> Command<'k> {
    pub(super) fn program(node: &'k Node) -> Self {
        let options = Options::of(node, &Options::default());
        Self { node, options, names: Vec::new(), row: Vec::new() }
    }

    /// Returns a sub-command, by its number.
    pub(super) fn sub(&self, at: usize) -> Option<Self> {
        let node = self.node.subs.get(at)?;
        let mut sub = Self { node, options: Options::of(node, &self.options), ..self.clone() };
        sub.names.push(node.names.first().map_or("", String::as_str));
        sub.row.push(at);
        Some(sub)
    }

    /// Returns the sub-commands as a command names them.
    pub(super) fn called(&self) -> Vec<String> {
        self.names.iter().map(|name| name.replace('*', "x")).collect()
    }
}

/// The state of a comparison of two programs, with the differences found so far.
pub(super) struct Comparison<'k> {
    pub(super) before: Floors,
    pub(super) after: Floors,
    /// Whether a value of the program after the change limits the tier of a command.
    pub(super) has_value_caps: bool,
    /// Options found to be lower for a command around the compared one.
    pub(super) known_options: BTreeSet<&'k str>,
    pub(super) out: Vec<Difference>,
}

/// The options that a command accepts, by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Options<'k> {
    pub(super) by_name: BTreeMap<&'k str, Known<'k>>,
}

/// An option of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'k> {
    pub(super) flag: &'k Flag,
    /// Its number among the command's own options; `None` for an inherited one.
    pub(super) own: Option<usize>,
}

impl<'k> Options<'k> {
    /// Returns the options of a command, with those that hold around it.
    pub(super) fn of(node: &'k Node, around: &Self) -> Self {
        let mut options = around.inherited();
        for (at, flag) in node.flags.iter().enumerate() {
            for name in &flag.names {
                let known = Known { flag, own: Some(at) };
                // Of options with one name, the first one counts.
                let entry = options.by_name.entry(name);
                entry
                    .and_modify(|it| *it = if it.own.is_some() { *it } else { known })
                    .or_insert(known);
            }
        }
        options
    }

    /// Returns those that sub-commands inherit.
    fn inherited(&self) -> Self {
        let everywhere = self.by_name.iter().filter(|(_, known)| known.flag.everywhere);
        let by_name = everywhere.map(|(name, known)| (*name, Known { own: None, ..*known }));
        Self { by_name: by_name.collect() }
    }

    pub(super) fn flags(&self) -> impl Iterator<Item = &'k Flag> + '_ {
        self.by_name.values().map(|known| known.flag)
    }

    pub(super) fn get(&self, name: &str) -> Option<Known<'k>> {
        self.by_name.get(name).copied()
    }

    /// Returns whether another long option begins with the same letter, so that a shortened name may mean
    /// either.
    pub(super) fn shares_a_letter(&self, name: &str) -> bool {
        let letter = |name: &str| name.strip_prefix("--").and_then(|rest| rest.chars().next());
        let own = letter(name);
        own.is_some() && self.by_name.keys().any(|it| *it != name && letter(it) == own)
    }
}
