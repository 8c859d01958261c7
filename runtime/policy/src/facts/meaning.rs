//! The digest of the statements of facts: equal for tables of the same facts, wherever they were written.
//!
//! It is that of a canonical text, which holds as much as the rows of a table do: names whose order counts for
//! nothing are sorted, each once. So a table that is read and written again has the same digest.

use std::collections::BTreeMap;

use relay_bundle::Digest;

use super::cursor::put_number;
use super::model::{Arity, Flag, Form, Knowledge, LanguageWords, Node, Operand, Role, Value};
use super::row::NodeId;
use super::table::Facts;
use crate::tier::Tier;

/// The names of programs, each with the number of the one that it means.
pub(super) type Owners<'k> = BTreeMap<&'k str, usize>;

/// Returns the names of programs. The last of several programs with one name counts.
pub(super) fn owners(knowledge: &Knowledge) -> Owners<'_> {
    let mut owners = Owners::new();
    for (at, program) in knowledge.programs.iter().enumerate() {
        owners.extend(program.names.iter().map(|name| (name.as_str(), at)));
    }
    owners
}

/// Returns the digest of knowledge without its places, its files and the dates of its reviews.
pub(super) fn meaning(knowledge: &Knowledge, owners: &Owners<'_>) -> Digest {
    let Knowledge { programs: _, environment, words, files: _ } = knowledge;
    let mut text = Canonical::default();
    text.statements(&statements(knowledge, owners));
    text.variables(environment);
    // The last of equal words counts, as in a table.
    let kinds: BTreeMap<_, _> = words
        .iter()
        .flat_map(|LanguageWords { language, kind, words, place: _ }| {
            words.iter().map(move |word| ((*language as u8, word.as_str()), *kind as u8))
        })
        .collect();
    text.list(kinds.len());
    for ((language, word), kind) in kinds {
        text.bytes([language, kind]);
        text.text(word);
    }
    Digest::of(&text.0)
}

/// Returns the digest of facts that are joined to others, so without words of languages. One that states what these
/// state of all names of the program is left out. `replaced` are the programs of `base` with names of these.
pub(super) fn joined_meaning(
    (base, replaced): (&Facts<'_>, &BTreeMap<NodeId, Node>),
    own: &Knowledge,
    owners: &Owners<'_>,
) -> Digest {
    let mut statements = statements(own, owners);
    statements.retain(|statement| {
        let first = statement.names.first().and_then(|name| base.program(name.as_bytes()));
        let known = first.and_then(|program| replaced.get(&program));
        !known.is_some_and(|known| statement.is_of(known))
    });
    if statements.is_empty() && own.environment.is_empty() {
        return base.meaning();
    }
    let mut text = Canonical(base.meaning().0.to_vec());
    text.statements(&statements);
    text.variables(&own.environment);
    Digest::of(&text.0)
}

/// The names by which a program is known, sorted, and its facts.
struct Statement<'k> {
    names: Vec<&'k str>,
    program: &'k Node,
}

/// Returns the programs in the order of their first names, as those of a table.
fn statements<'k>(knowledge: &'k Knowledge, owners: &Owners<'k>) -> Vec<Statement<'k>> {
    let mut names: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, program) in owners {
        names.entry(*program).or_default().push(name);
    }
    let mut all: Vec<_> = names
        .into_iter()
        .filter_map(|(at, names)| Some(Statement { names, program: knowledge.programs.get(at)? }))
        .collect();
    all.sort_unstable_by(|left, right| left.names.first().cmp(&right.names.first()));
    all
}

impl Statement<'_> {
    /// Returns whether it is that of a program of a table.
    fn is_of(&self, known: &Node) -> bool {
        let mut names: Vec<&str> = known.names.iter().map(String::as_str).collect();
        names.sort_unstable();
        let text = |names: &[&str], program: &Node| {
            let mut text = Canonical::default();
            text.program(names, program);
            text.0
        };
        text(&names, known) == text(&self.names, self.program)
    }
}

/// A text in which each list follows its length, so that different facts have different texts.
#[derive(Default)]
struct Canonical(Vec<u8>);

impl Canonical {
    fn bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend(bytes);
    }

    fn list(&mut self, length: usize) {
        // A longer one fits no table.
        put_number(&mut self.0, u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn text(&mut self, text: &str) {
        self.list(text.len());
        self.0.extend(text.as_bytes());
    }

    /// Writes names of one meaning, in any order.
    fn names<'n>(&mut self, names: impl ExactSizeIterator<Item = &'n str>) {
        // Most are alone.
        if names.len() == 1 {
            self.list(1);
            names.for_each(|name| self.text(name));
            return;
        }
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        self.list(names.len());
        names.into_iter().for_each(|name| self.text(name));
    }

    fn statements(&mut self, statements: &[Statement<'_>]) {
        self.list(statements.len());
        statements.iter().for_each(|it| self.program(&it.names, it.program));
    }

    fn program(&mut self, names: &[&str], program: &Node) {
        let canonical = program.names.iter().find(|name| names.contains(&name.as_str()));
        self.text(canonical.map_or("", String::as_str));
        self.names(names.iter().copied());
        self.node(program);
    }

    fn variables(&mut self, environment: &[String]) {
        let mut variables: Vec<&str> = environment.iter().map(String::as_str).collect();
        variables.sort_unstable();
        self.list(variables.len());
        variables.into_iter().for_each(|name| self.text(name));
    }

    fn cap(&mut self, cap: Option<Tier>) {
        self.bytes(cap.map_or([0, 0], |cap| [1, cap.number()]));
    }

    /// Writes a node but for its names.
    fn node(&mut self, node: &Node) {
        let Node {
            names: _,
            tier,
            says,
            style,
            stop,
            sub_at,
            numbers,
            bundle_first,
            ignore_case,
            sends,
            listens,
            builtin,
            user,
            writes,
            stdin,
            output,
            special,
            flags,
            operands,
            forms,
            subs,
            checked: _,
            place: _,
        } = node;
        self.cap(*tier);
        self.bytes([*style as u8, *stop, (*sub_at).max(1)]);
        self.bytes(
            [*numbers, *bundle_first, *ignore_case, *sends, *listens, *builtin].map(u8::from),
        );
        self.bytes([*stdin as u8, *output as u8, *special as u8]);
        for text in [says, user, writes] {
            self.text(text);
        }
        self.list(flags.len());
        flags.iter().for_each(|flag| self.flag(flag));
        self.operands(operands);
        self.list(forms.len());
        forms.iter().for_each(|form| self.form(form));
        self.list(subs.len());
        for sub in subs {
            self.text(sub.names.first().map_or("", String::as_str));
            self.names(sub.names.iter().map(String::as_str));
            self.node(sub);
        }
    }

    fn flag(&mut self, flag: &Flag) {
        let Flag { names, tier, cap, arity, role, says, everywhere, values, place: _ } = flag;
        // The row of an option without a value keeps this role alone.
        let role = match (arity, role) {
            (Arity::None, Role::Listen) => Role::Listen,
            (Arity::None, _) => Role::Text,
            (_, role) => *role,
        };
        self.names(names.iter().map(String::as_str));
        self.bytes([tier.number(), *arity as u8, role as u8, u8::from(*everywhere)]);
        self.cap(*cap);
        self.text(says);
        self.values(values);
    }

    fn values(&mut self, values: &[Value]) {
        self.list(values.len());
        for value in values {
            let Value { pattern, tier, cap, role, says, place: _ } = value;
            self.text(pattern);
            self.bytes([tier.number(), *role as u8]);
            self.cap(*cap);
            self.text(says);
        }
    }

    fn operands(&mut self, operands: &[Operand]) {
        self.list(operands.len());
        for operand in operands {
            let Operand { position, from, not_last, role, values, place: _ } = operand;
            self.bytes([*position as u8, *from, u8::from(*not_last), *role as u8]);
            self.values(values);
        }
    }

    fn form(&mut self, form: &Form) {
        let Form {
            tier,
            says,
            has,
            without,
            least,
            most,
            matching,
            operands,
            roles,
            output,
            stdin,
            writes,
            place: _,
        } = form;
        self.bytes([tier.number(), *least, *most]);
        self.bytes(output.map_or([0, 0], |output| [1, output as u8]));
        self.bytes(stdin.map_or([0, 0], |stdin| [1, stdin as u8]));
        for text in [says, writes] {
            self.text(text);
        }
        for names in [has, without] {
            self.names(names.iter().map(String::as_str));
        }
        self.list(matching.len());
        matching.iter().for_each(|text| self.text(text));
        self.operands(operands);
        self.list(roles.len());
        for (name, role) in roles {
            self.text(name);
            self.bytes([*role as u8]);
        }
    }
}
