//! Programs, sub-commands and options by their names, and how these are related.

use std::borrow::Cow;

use super::names::{NameId, letter_of};
use super::row::{FlagRow, NodeId, NodeRow};
use super::row_reader::RowReader;
use super::table::Facts;

/// How two names of options are related. A row of facts lists options that have one meaning for tiers: they may be names
/// of one option, or options of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinship {
    /// They are of different rows.
    Apart,
    /// They are of one row.
    Alike,
    /// They are the letter and the word of one option.
    Same,
}

impl Facts<'_> {
    /// Returns the first of the names of the program that has this one; `None` for a program that is unknown.
    #[must_use]
    pub fn first_name<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        let id = self.names.find(name.as_bytes())?;
        let node = self.program_of(id)?;
        let first = RowReader::node_name(self.rows, node);
        let is_first = first.is_some_and(|(head, name)| name == id && head.parent.is_none());
        Some(if is_first { name.into() } else { self.command_name(node).into() })
    }

    /// Returns the names of all programs, sorted.
    #[must_use]
    pub fn program_names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.program_rows().map(|row| self.name(row.name.get())).collect();
        names.sort_unstable();
        names
    }

    /// Returns the name of a program with its sub-commands: `git stash drop`.
    #[must_use]
    pub fn command_name(&self, node: NodeId) -> String {
        let mut names = Vec::new();
        let mut next = self.node(node);
        while let Some(row) = next {
            names.push(self.name(row.name));
            next = row.parent.and_then(|parent| self.node(parent));
        }
        names.reverse();
        names.join(" ")
    }

    /// Returns the program of a sub-command; a program is its own.
    pub(crate) fn root(&self, node: NodeId) -> NodeId {
        let mut root = node;
        while let Some(parent) = self.node(root).and_then(|row| row.parent) {
            root = parent;
        }
        root
    }

    /// Returns the program or sub-command around a sub-command.
    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.node(node)?.parent
    }

    /// Returns how two names of options of a program or sub-command are related.
    pub(crate) fn kinship(&self, node: NodeId, one: NameId, other: NameId) -> Kinship {
        let mut next = self.node(node);
        while let Some(row) = next {
            if let Some(flag) = self.own_flag(&row, one) {
                if !self.lists(flag.names, other) {
                    return Kinship::Apart;
                }
                let is_pair = self.listed(flag.names).count() == 2;
                let is_letter = |name| letter_of(name).is_some();
                return match is_pair && is_letter(one) != is_letter(other) {
                    true => Kinship::Same,
                    false => Kinship::Alike,
                };
            }
            next = row.parent.and_then(|parent| self.node(parent));
        }
        Kinship::Apart
    }

    /// Returns the sub-command of a program that these words name, one after the other; `None` if one
    /// of them is unknown.
    #[must_use]
    pub fn sub_command(&self, program: NodeId, words: &[&str]) -> Option<NodeId> {
        words.iter().try_fold(program, |node, word| self.sub(&self.node(node)?, word.as_bytes()))
    }

    /// Returns the names of the sub-commands of a program or sub-command.
    #[must_use]
    pub fn sub_names(&self, node: NodeId) -> Vec<String> {
        let Some(row) = self.node(node) else { return Vec::new() };
        let subs = self.subs(&row);
        subs.flat_map(|sub| self.name_ids(sub.names)).map(|id| self.name(id)).collect()
    }

    /// Returns the names of all options of a program or sub-command, and of those around it.
    #[must_use]
    pub fn flag_names(&self, node: NodeId) -> Vec<String> {
        let mut names = Vec::new();
        let mut next = self.node(node);
        while let Some(row) = next {
            let flags = self.flags(&row);
            names.extend(flags.flat_map(|flag| self.listed(flag.names)).map(|id| self.name(id)));
            next = row.parent.and_then(|parent| self.node(parent));
        }
        names
    }

    /// Returns whether a program or sub-command, one around it, or any below it has an option.
    #[must_use]
    pub fn has_flag(&self, node: NodeId, name: &str) -> bool {
        let word = name.as_bytes();
        let wanted = self.names.find(word);
        let is_it = |flag: &FlagRow| wanted.is_some_and(|name| self.lists(flag.names, name));
        let has = |row: &NodeRow| {
            self.flags(row).any(|flag| is_it(&flag)) || self.flag_pattern(row, word).is_some()
        };
        let around = |row: &NodeRow| row.parent.and_then(|parent| self.node(parent));
        let mut open = Vec::from_iter(self.node(node));
        if std::iter::successors(open.first().and_then(around), around).any(|row| has(&row)) {
            return true;
        }
        while let Some(row) = open.pop() {
            if has(&row) {
                return true;
            }
            open.extend(self.subs(&row).filter_map(|sub| self.node(sub.node)));
        }
        false
    }

    /// Returns the name of an option.
    #[must_use]
    pub fn option_name(&self, name: NameId) -> String {
        self.name(name)
    }
}
