//! The facts of a project, joined to those that are shipped.
//!
//! A table of joined facts begins with the shipped ones, part by part: a part is copied, and the project's own
//! rows follow. So the work is that of the own facts, and a reader can take the two apart. A shipped program
//! whose names are all described by the project stays in the table; its names find the own ones.

use std::collections::{BTreeMap, BTreeSet};

use zerocopy::IntoBytes;

use super::encode::encode_after;
use super::encode_error::EncodeError;
use super::meaning::{joined_meaning, owners};
use super::model::{Knowledge, Node};
use super::row::NodeId;
use super::table::{Facts, found};

/// Writes the table of shipped facts and of a project's own: its programs replace the shipped ones of their names.
/// The numbers of its files follow those of the shipped ones.
///
/// # Errors
///
/// There are more items than a table can count, a text holds a zero byte, or the own facts have words of a
/// language, which are shipped alone.
pub fn join(shipped: Facts<'_>, own: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    if shipped.is_joined() {
        return Err(EncodeError { what: "facts are joined to these already" });
    }
    if !own.words.is_empty() {
        return Err(EncodeError { what: "words of a language are shipped alone" });
    }
    let names = own.programs.iter().flat_map(|program| &program.names);
    let replaced = shipped.programs_named(names.map(String::as_str));
    let meaning = joined_meaning((&shipped, &replaced), own, &owners(own));
    let mut own = own.clone();
    let renamed = renamed(replaced, &own);
    own.programs.extend(renamed);
    let table = encode_after(Some(shipped), &own, &owners(&own), meaning)?;
    match Facts::open_joined(&table) {
        Ok(_) => Ok(table),
        Err(_) => Err(EncodeError { what: "facts" }),
    }
}

/// Returns the shipped programs whose first name is described by a project, with their other names.
fn renamed(replaced: BTreeMap<NodeId, Node>, own: &Knowledge) -> Vec<Node> {
    let taken: BTreeSet<&String> = own.programs.iter().flat_map(|program| &program.names).collect();
    let mut renamed: Vec<Node> = replaced.into_values().collect();
    renamed.retain(|program| program.names.first().is_some_and(|name| taken.contains(name)));
    renamed.iter_mut().for_each(|program| program.names.retain(|name| !taken.contains(name)));
    renamed.retain(|program| !program.names.is_empty());
    renamed
}

impl<'a> Facts<'a> {
    /// Takes joined facts apart: the table of the shipped ones, and the own ones; `None` for other facts.
    #[must_use]
    pub fn parted(&self) -> Option<(Vec<u8>, Knowledge)> {
        if !self.is_joined() {
            return None;
        }
        let [environment, files] =
            [self.base.environment, self.base.files].map(|it| it.get() as usize);
        let texts = |all: Vec<&str>, from: usize| -> Vec<String> {
            all.into_iter().skip(from).map(str::to_owned).collect()
        };
        let own = Knowledge {
            programs: self.programs_where(|_, row| usize::from(row.file) >= files),
            environment: texts(self.environment().collect(), environment),
            words: Vec::new(),
            files: texts(self.files(), files),
        };
        Some((self.shipped()?.concat(), own))
    }

    /// Returns the parts of the table of the shipped facts; of other facts, those of the table itself.
    fn shipped(&self) -> Option<[&'a [u8]; 11]> {
        let base = self.base;
        let [blocks, name_bytes, words] =
            [base.blocks, base.name_bytes, base.words].map(|it| it.get() as usize);
        let [environment, files, rows, texts] =
            [base.environment, base.files, base.rows, base.texts].map(|it| it.get() as usize);
        Some([
            base.as_bytes(),
            self.names.starts.get(..blocks)?.as_bytes(),
            self.names.ids.get(..blocks)?.as_bytes(),
            self.names.offsets.get(..blocks)?.as_bytes(),
            self.names.bytes.get(..name_bytes)?,
            self.programs.as_bytes(),
            self.words.get(..words)?.as_bytes(),
            self.environment.get(..environment)?.as_bytes(),
            self.files.get(..files)?.as_bytes(),
            self.rows.get(..rows)?,
            self.texts.get(..texts)?,
        ])
    }

    /// Returns the programs in which this table and another one may differ, of each: those with a name that a
    /// project describes, and with another name of such a program. `None` unless both have the same shipped facts, a
    /// table by themselves.
    #[must_use]
    pub fn programs_apart(&self, other: &Self) -> Option<[Vec<Node>; 2]> {
        let shipped = self.shipped()?;
        if shipped != other.shipped()? || Facts::open(&shipped.concat()).is_err() {
            return None;
        }
        let added = |facts: &Self| facts.added.iter().map(|row| row.name.get());
        let mut names: BTreeSet<String> = added(self).map(|id| self.name(id)).collect();
        names.extend(added(other).map(|id| other.name(id)));
        let shipped = |name: &String| found(self.programs, self.names.find(name.as_bytes())?);
        let nodes: BTreeSet<NodeId> =
            names.iter().filter_map(shipped).map(|row| row.node.get()).collect();
        let beside = self.programs.iter().filter(|row| nodes.contains(&row.node.get()));
        names.extend(beside.map(|row| self.name(row.name.get())));
        Some([self, other].map(|facts| {
            facts.programs_named(names.iter().map(String::as_str)).into_values().collect()
        }))
    }
}
