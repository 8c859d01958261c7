//! The check of a table: every row is readable, and every reference has a target.

use std::collections::BTreeSet;

use super::cursor::Damaged;
use super::model::{Role, WordKind};
use super::names::NameId;
use super::row::{Extent, FlagId, FormRow, NameList, NodeId, NodeRow, TextId};
use super::row_reader::RowReader;
use super::table::{Facts, ProgramRow};

/// The deepest level of sub-commands.
const DEPTH_MAX: usize = 8;

impl<'a> Facts<'a> {
    /// Opens a table, reading all of it once.
    ///
    /// # Errors
    ///
    /// The table was altered or cut, or another version wrote it.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let facts = Self::split(bytes)?;
        facts.names.checked()?;
        check(&facts, facts.programs.iter().chain(facts.added), facts.rows.len())?;
        Ok(facts)
    }

    /// Opens a table of joined facts, reading the last ones; [`Self::open`] has read those before them.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub(super) fn open_joined(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let facts = Self::split(bytes)?;
        facts.names.checked_from(facts.names.base)?;
        let before = facts.base.rows.get() as usize;
        check(&facts, facts.added.iter(), facts.rows.len() - before)?;
        Ok(facts)
    }

    /// Opens a table that [`Self::open`] has read before. Rows of another table give wrong facts,
    /// and no panic.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`], as far as the header shows it.
    pub fn reopen(bytes: &'a [u8]) -> Result<Self, Damaged> {
        Self::split(bytes)
    }
}

/// Reads these programs, whose rows have `row_bytes`, and all that is not a row.
///
/// Each byte of a row belongs to one node, and `SHARED_MAX` limits the options that nodes share, so
/// the work is linear in the table.
fn check<'r>(
    facts: &Facts<'_>,
    programs: impl Iterator<Item = &'r ProgramRow> + Clone,
    row_bytes: usize,
) -> Result<(), Damaged> {
    if !facts.has_readable_texts() {
        return Err(Damaged("a text is cut or not UTF-8"));
    }
    let mut texts = facts.environment.iter().chain(facts.files).map(|id| id.get());
    let is_sorted = [facts.programs, facts.added]
        .iter()
        .all(|rows| rows.is_sorted_by(|left, right| left.name.get() < right.name.get()))
        && facts.words.is_sorted_by(|left, right| {
            (left.language, left.word.get()) < (right.language, right.word.get())
        });
    let is_known = facts.words.iter().all(|row| {
        Role::from_number(row.language).is_some()
            && WordKind::from_number(row.kind).is_some()
            && facts.has_name(row.word.get())
    });
    if !is_sorted || !is_known || !texts.all(|id| facts.is_text(id)) {
        return Err(Damaged("what its rows begin with is wrong"));
    }
    let mut check = Check {
        facts,
        names: facts.names_in_use(),
        row_bytes,
        bytes: 0,
        option_bytes: 0,
        shared: BTreeSet::new(),
    };
    let is_named = programs.clone().all(|row| facts.has_name(row.name.get()));
    let programs: BTreeSet<NodeId> = programs.map(|row| row.node.get()).collect();
    let is_whole =
        is_named && programs.into_iter().all(|id| check.node(id, None, DEPTH_MAX).is_some());
    if is_whole { Ok(()) } else { Err(Damaged("a row is wrong")) }
}

struct Check<'f, 'a> {
    facts: &'f Facts<'a>,
    /// For each number, whether it has a name. A search for each name of a table takes longer than
    /// all other checks.
    names: Vec<bool>,
    /// The bytes of their rows.
    row_bytes: usize,
    /// The bytes of the nodes that were read.
    bytes: usize,
    /// The bytes of their options; shared ones count for each node.
    option_bytes: usize,
    /// The shared options that were read.
    shared: BTreeSet<FlagId>,
}

/// The largest ratio of the options of all nodes to all rows, in bytes.
const SHARED_MAX: usize = 16;

/// A check returns `None` where the table is wrong.
impl Check<'_, '_> {
    fn node(&mut self, id: NodeId, parent: Option<NodeId>, depth: usize) -> Option<()> {
        let row = self.facts.node(id)?;
        self.bytes += (row.end - id) as usize;
        let is_whole = row.parent == parent
            && self.bytes <= self.row_bytes
            && self.name(row.name).is_some()
            && self.facts.is_text(row.says)
            && self.facts.is_text(row.writes)
            && (parent.is_some() || self.facts.files.len() > usize::from(row.file));
        is_whole.then_some(())?;
        self.flags(&row)?;
        self.operands(row.operands)?;
        self.forms(&row)?;
        let mut before = None;
        for sub in self.facts.read_all(row.subs, |reader| reader.sub(id))? {
            self.names(sub.names)?;
            (before < Some(sub.node)).then_some(())?;
            before = Some(sub.node);
            self.node(sub.node, Some(id), depth.checked_sub(1)?)?;
        }
        Some(())
    }

    fn flags(&mut self, node: &NodeRow) -> Option<()> {
        for flag in self.facts.all_flags(node)? {
            self.option_bytes += flag.size();
            (self.option_bytes / SHARED_MAX <= self.row_bytes).then_some(())?;
            if flag.id < node.id && !self.shared.insert(flag.id) {
                continue;
            }
            self.text(flag.says)?;
            self.values(flag.values)?;
            self.list(flag.names)?;
        }
        Some(())
    }

    fn operands(&self, extent: Extent) -> Option<()> {
        for operand in self.facts.read_all(extent, RowReader::operand)? {
            self.values(operand.values)?;
        }
        Some(())
    }

    fn values(&self, extent: Extent) -> Option<()> {
        for value in self.facts.read_all(extent, RowReader::value)? {
            self.text(value.pattern)?;
            self.text(value.says)?;
        }
        Some(())
    }

    fn forms(&self, node: &NodeRow) -> Option<()> {
        for form in self.facts.read_all(node.forms, RowReader::form)? {
            self.form(&form)?;
        }
        Some(())
    }

    fn form(&self, form: &FormRow) -> Option<()> {
        self.text(form.says)?;
        self.text(form.writes)?;
        self.list(form.has)?;
        self.list(form.without)?;
        self.operands(form.operands)?;
        for text in self.facts.read_all(form.matching, RowReader::text)? {
            self.text(text)?;
        }
        for (name, _) in self.facts.read_all(form.roles, RowReader::role)? {
            self.name(name)?;
        }
        Some(())
    }

    fn list(&self, list: NameList) -> Option<()> {
        self.facts.listed(list).try_for_each(|id| self.name(id))?;
        self.facts.name_ids(list.names).is_whole().then_some(())
    }

    fn names(&self, names: Extent) -> Option<()> {
        self.list(NameList { names, ..NameList::default() })
    }

    fn name(&self, id: NameId) -> Option<()> {
        self.names.get(usize::from(id)).copied().unwrap_or(false).then_some(())
    }

    fn text(&self, id: TextId) -> Option<()> {
        self.facts.is_text(id).then_some(())
    }
}
