//! Table -> knowledge: for people, and for projects that add to the facts.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::model::{
    Flag, Form, Knowledge, LanguageWords, Node, Operand, Place, Role, Value, WordKind,
};
use super::names::{NameId, letter_of};
use super::row::{
    Extent, FlagRow, FormRow, NameList, NodeBit, NodeId, NodeRow, OperandRow, ValueRow,
};
use super::table::Facts;

impl Facts<'_> {
    /// Returns everything in the table.
    #[must_use]
    pub fn knowledge(&self) -> Knowledge {
        Knowledge {
            programs: nodes(self.programs_spelled(&Spelled::all(self), |_, _| true)),
            environment: self.environment().map(str::to_owned).collect(),
            words: self.language_words(),
            files: self.files().into_iter().map(str::to_owned).collect(),
        }
    }

    /// Returns the programs of the files whose name is `wanted`, and those of an unnamed file.
    #[must_use]
    pub fn programs_of(&self, wanted: impl Fn(&str) -> bool) -> Vec<Node> {
        let files: Vec<bool> = self.files().into_iter().map(wanted).collect();
        self.programs_where(|_, row| files.get(usize::from(row.file)).is_none_or(|it| *it))
    }

    pub(super) fn programs_where(&self, wanted: impl Fn(NodeId, &NodeRow) -> bool) -> Vec<Node> {
        nodes(self.programs_spelled(&Spelled::default(), wanted))
    }

    /// Returns the programs with one of these names, each with all of its names.
    pub fn programs_named<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> BTreeMap<NodeId, Node> {
        let programs: BTreeSet<NodeId> =
            names.filter_map(|name| self.program(name.as_bytes())).collect();
        // Most projects describe programs of their own.
        if programs.is_empty() {
            return BTreeMap::new();
        }
        let all = self.programs_spelled(&Spelled::default(), |id, _| programs.contains(&id));
        all.into_iter().collect()
    }

    fn programs_spelled(
        &self,
        spelled: &Spelled,
        wanted: impl Fn(NodeId, &NodeRow) -> bool,
    ) -> Vec<(NodeId, Node)> {
        let named = self.named();
        let programs = named.chunk_by(|(one, _), (other, _)| one == other).filter_map(|named| {
            let (node, _) = named.first()?;
            let row = self.node(*node)?;
            let names = named.iter().map(|(_, name)| *name);
            let decode = Decode { facts: self, spelled, file: row.file };
            wanted(*node, &row).then(|| (*node, decode.node(&row, names.collect())))
        });
        programs.collect()
    }

    /// Returns the number of programs, and that of their names.
    #[must_use]
    pub fn program_counts(&self) -> (usize, usize) {
        let named = self.named();
        (named.chunk_by(|(one, _), (other, _)| one == other).count(), named.len())
    }

    /// Returns each name of a program, by program. The names of a program keep their order.
    fn named(&self) -> Vec<(NodeId, NameId)> {
        let names = self.program_rows().map(|row| (row.node.get(), row.name.get()));
        let mut named: Vec<_> = names.collect();
        named.sort_by_key(|(node, _)| *node);
        named
    }

    /// Returns the harmless variables: names, or prefixes that end with `*`.
    pub fn environment(&self) -> impl Iterator<Item = &str> {
        self.environment.iter().map(|id| self.text(id.get()))
    }

    /// Returns the facts of a program, with all of its names.
    #[must_use]
    pub fn program_facts(&self, id: NodeId) -> Option<Node> {
        let own = self.program_rows().filter(|row| row.node.get() == id);
        let names: Vec<NameId> = own.map(|row| row.name.get()).collect();
        let row = self.node(id)?;
        let decode = Decode { facts: self, spelled: &Spelled::default(), file: row.file };
        (!names.is_empty()).then(|| decode.node(&row, names))
    }

    /// Returns whether the shell itself is this program.
    #[must_use]
    pub fn is_builtin(&self, program: NodeId) -> bool {
        self.node(program).is_some_and(|row| row.has(NodeBit::Builtin))
    }

    fn language_words(&self) -> Vec<LanguageWords> {
        let mut all: Vec<LanguageWords> = Vec::new();
        for row in self.words {
            let language = Role::from_number(row.language).unwrap_or_default();
            let kind = WordKind::from_number(row.kind).unwrap_or_default();
            let word = self.name(row.word.get());
            match all.iter_mut().find(|it| it.language == language && it.kind == kind) {
                Some(words) => words.words.push(word),
                None => all.push(LanguageWords {
                    language,
                    kind,
                    words: vec![word],
                    place: Place::default(),
                }),
            }
        }
        all
    }
}

fn nodes(programs: Vec<(NodeId, Node)>) -> Vec<Node> {
    programs.into_iter().map(|(_, node)| node).collect()
}

/// Names that were read: a name is shared with those before it in its block, and most occur many times.
#[derive(Default)]
struct Spelled(RefCell<HashMap<NameId, String>>);

impl Spelled {
    /// Reads all names, each after the one before it.
    fn all(facts: &Facts<'_>) -> Self {
        let mut known = HashMap::new();
        facts
            .names
            .each(|id, name| _ = known.insert(id, String::from_utf8_lossy(name).into_owned()));
        Self(RefCell::new(known))
    }

    fn name(&self, facts: &Facts<'_>, id: NameId) -> String {
        let Self(known) = self;
        known.borrow_mut().entry(id).or_insert_with(|| facts.name(id)).clone()
    }
}

/// The tables and names for decoding the rows of one program.
#[derive(Clone, Copy)]
struct Decode<'f, 'a> {
    facts: &'f Facts<'a>,
    spelled: &'f Spelled,
    file: u8,
}

impl Decode<'_, '_> {
    fn node(self, row: &NodeRow, names: Vec<NameId>) -> Node {
        let facts = self.facts;
        // The canonical name comes first.
        let others = names.into_iter().filter(|name| *name != row.name);
        let mut all = vec![self.name(row.name)];
        all.append(&mut self.spelled(others));
        let subs = facts.subs(row).filter_map(|sub| {
            let names = facts.name_ids(sub.names).collect();
            Some(self.node(&facts.node(sub.node)?, names))
        });
        Node {
            names: all,
            tier: row.tier,
            says: facts.text(row.says).to_owned(),
            style: row.style,
            stop: row.stop,
            sub_at: row.sub_at,
            numbers: row.has(NodeBit::Numbers),
            bundle_first: row.has(NodeBit::BundleFirst),
            ignore_case: row.has(NodeBit::IgnoreCase),
            sends: row.has(NodeBit::Sends),
            listens: row.has(NodeBit::Listens),
            builtin: row.has(NodeBit::Builtin),
            user: facts.text(row.user).to_owned(),
            writes: facts.text(row.writes).to_owned(),
            stdin: row.stdin,
            output: row.output,
            special: row.special,
            flags: facts.flags(row).map(|row| self.flag(&row)).collect(),
            operands: self.operands(row.operands),
            forms: facts.forms(row).map(|row| self.form(&row)).collect(),
            subs: subs.collect(),
            checked: facts.text(row.checked).to_owned(),
            place: self.place(row.line),
        }
    }

    fn name(self, id: NameId) -> String {
        self.spelled.name(self.facts, id)
    }

    /// Returns names in the order of their texts, the letters at the end.
    fn spelled(self, ids: impl Iterator<Item = NameId>) -> Vec<String> {
        if !self.facts.is_joined() {
            // Their numbers have this order.
            return ids.map(|id| self.name(id)).collect();
        }
        let mut names: Vec<_> = ids.map(|id| (letter_of(id).is_some(), self.name(id))).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }

    const fn place(self, line: u16) -> Place {
        Place { file: self.file, line }
    }

    fn names(self, list: NameList) -> Vec<String> {
        let (letters, names): (Vec<_>, Vec<_>) =
            self.facts.listed(list).partition(|id| letter_of(*id).is_some());
        let mut all = self.spelled(letters.into_iter());
        all.append(&mut self.spelled(names.into_iter()));
        all
    }

    fn flag(self, row: &FlagRow) -> Flag {
        Flag {
            names: self.names(row.names),
            tier: row.tier,
            cap: row.cap,
            arity: row.arity,
            role: row.role,
            says: self.facts.text(row.says).to_owned(),
            everywhere: row.is_everywhere,
            values: self.values(row.values),
            place: self.place(row.line),
        }
    }

    fn values(self, extent: Extent) -> Vec<Value> {
        let value = |row: ValueRow| Value {
            pattern: self.facts.text(row.pattern).to_owned(),
            tier: row.tier,
            cap: row.cap,
            role: row.role,
            says: self.facts.text(row.says).to_owned(),
            place: self.place(row.line),
        };
        self.facts.values(extent).map(value).collect()
    }

    fn operands(self, extent: Extent) -> Vec<Operand> {
        let operand = |row: OperandRow| Operand {
            position: row.position,
            from: row.from,
            not_last: row.not_last,
            role: row.role,
            values: self.values(row.values),
            place: self.place(row.line),
        };
        self.facts.operands(extent).map(operand).collect()
    }

    fn form(self, row: &FormRow) -> Form {
        let roles = self.facts.roles(row);
        Form {
            tier: row.tier,
            says: self.facts.text(row.says).to_owned(),
            has: self.names(row.has),
            without: self.names(row.without),
            least: row.least,
            most: row.most,
            matching: self.facts.texts(row.matching).map(str::to_owned).collect(),
            operands: self.operands(row.operands),
            roles: roles.map(|(name, role)| (self.name(name), role)).collect(),
            output: row.output,
            stdin: row.stdin,
            writes: self.facts.text(row.writes).to_owned(),
            place: self.place(row.line),
        }
    }
}
