//! Table -> knowledge: for people, and for projects that add to it.

use super::model::{
    Arity, Flag, Form, Knowledge, LanguageWords, Node, Operand, Place, Position, Role, Style,
    Value, WordKind,
};
use super::table::{
    Facts, FormRow, NO_NODE, NameRow, NodeBit, NodeId, NodeRow, OperandRow, PlaceRow, Rows,
    ValueRow,
};

impl Facts<'_> {
    /// Returns everything that the table holds.
    #[must_use]
    pub fn knowledge(&self) -> Knowledge {
        let is_program = |id: NodeId| self.node(id).is_some_and(|row| row.parent.get() == NO_NODE);
        let count = NodeId::try_from(self.node_count()).unwrap_or(NO_NODE);
        let programs = (0..count).filter(|id| is_program(*id));
        Knowledge {
            programs: programs.filter_map(|id| self.program_facts(id)).collect(),
            environment: self.environment.iter().map(|id| self.string(*id).to_owned()).collect(),
            words: self.language_words(),
            files: self.files.iter().map(|id| self.string(*id).to_owned()).collect(),
        }
    }

    /// Returns the facts of a program, with all of its names.
    #[must_use]
    pub fn program_facts(&self, id: NodeId) -> Option<Node> {
        let own = self.programs.iter().filter(|row| row.row.get() == id);
        let names: Vec<_> = own.map(|row| self.string(row.name).to_owned()).collect();
        // Other facts of the same name replaced these.
        (!names.is_empty()).then(|| self.decode_node(id, names))?
    }

    fn decode_node(&self, id: NodeId, names: Vec<String>) -> Option<Node> {
        let row = self.node(id)?;
        let sub_names = self.all_names(row.sub_names);
        let mut subs: Vec<NodeId> = sub_names.iter().map(|name| name.row.get()).collect();
        subs.sort_unstable();
        subs.dedup();
        // INVARIANT: a sub-command is after what it belongs to, so this ends.
        let subs = subs.into_iter().filter(|sub| *sub > id);
        Some(Node {
            names,
            tier: row.tier(),
            says: self.string(row.says).to_owned(),
            style: Style::from_number(row.style).unwrap_or_default(),
            stop: row.stop,
            sub_at: row.sub_at,
            numbers: row.has(NodeBit::Numbers),
            bundle_first: row.has(NodeBit::BundleFirst),
            ignore_case: row.has(NodeBit::IgnoreCase),
            sends: row.has(NodeBit::Sends),
            builtin: row.has(NodeBit::Builtin),
            writes: self.string(row.writes).to_owned(),
            stdin: row.stdin(),
            output: row.output(),
            special: row.special(),
            flags: self.decode_flags(row),
            operands: self.decode_operands(row.operands),
            forms: self.forms(row).iter().map(|form| self.decode_form(form)).collect(),
            subs: subs
                .filter_map(|sub| self.decode_node(sub, self.named(sub_names, sub)))
                .collect(),
            place: row.place.into(),
        })
    }

    fn named(&self, names: &[NameRow], row: u16) -> Vec<String> {
        let own = names.iter().filter(|name| name.row.get() == row);
        own.map(|name| self.string(name.name).to_owned()).collect()
    }

    fn decode_flags(&self, node: &NodeRow) -> Vec<Flag> {
        let names = self.all_names(node.flag_names);
        let mut ids: Vec<u16> = names.iter().map(|name| name.row.get()).collect();
        ids.sort_unstable();
        ids.dedup();
        let flag = |id: u16| {
            let row = self.flag(id)?;
            Some(Flag {
                names: self.named(names, id),
                tier: row.tier(),
                cap: row.cap(),
                arity: Arity::from_number(row.arity).unwrap_or_default(),
                role: row.role(),
                says: self.string(row.says).to_owned(),
                everywhere: row.is_everywhere(),
                values: self.decode_values(row.values),
                place: row.place.into(),
            })
        };
        ids.into_iter().filter_map(flag).collect()
    }

    fn decode_values(&self, rows: Rows) -> Vec<Value> {
        let value = |row: &ValueRow| Value {
            pattern: self.string(row.pattern).to_owned(),
            tier: row.tier(),
            cap: row.cap(),
            role: row.role(),
            says: self.string(row.says).to_owned(),
            place: row.place.into(),
        };
        self.values(rows).iter().map(value).collect()
    }

    fn decode_operands(&self, rows: Rows) -> Vec<Operand> {
        let operand = |row: &OperandRow| Operand {
            position: Position::from_number(row.position).unwrap_or_default(),
            role: row.role(),
            values: self.decode_values(row.values),
            place: row.place.into(),
        };
        self.operands(rows).iter().map(operand).collect()
    }

    fn decode_form(&self, row: &FormRow) -> Form {
        let texts = |rows: Rows| -> Vec<String> {
            let rows = self.references(rows).iter();
            rows.map(|row| self.string(row.name).to_owned()).collect()
        };
        let role = |row: &NameRow| {
            let role = u8::try_from(row.row.get()).ok().and_then(Role::from_number);
            (self.string(row.name).to_owned(), role.unwrap_or_default())
        };
        Form {
            tier: row.tier(),
            says: self.string(row.says).to_owned(),
            has: texts(row.has),
            without: texts(row.without),
            least: row.least,
            most: row.most,
            matching: texts(row.matching),
            operands: self.decode_operands(row.operands),
            roles: self.references(row.roles).iter().map(role).collect(),
            output: row.output(),
            stdin: row.stdin(),
            writes: self.string(row.writes).to_owned(),
            place: row.place.into(),
        }
    }

    fn language_words(&self) -> Vec<LanguageWords> {
        let mut all: Vec<LanguageWords> = Vec::new();
        for row in self.words {
            let language = Role::from_number(row.language).unwrap_or_default();
            let kind = WordKind::from_number(row.kind).unwrap_or_default();
            let word = self.string(row.word).to_owned();
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

impl From<PlaceRow> for Place {
    fn from(row: PlaceRow) -> Self {
        Self { file: row.file, line: row.line.get() }
    }
}
