//! The digest of the statements of facts: each statement counts, and places and orders are left out.

use std::collections::BTreeMap;

use relay_bundle::Digest;
use relay_policy::facts::{
    Arity, Facts, Flag, Form, Knowledge, LanguageWords, Node, Operand, Output, Place, Position,
    Role, Special, Style, Value, WordKind, encode,
};
use relay_policy::tier::Tier;

use super::FACTS;

fn meaning(knowledge: &Knowledge) -> Digest {
    let table = encode(knowledge).expect("a table");
    let facts = Facts::open(&table).expect("the table opens");
    let again = encode(&facts.knowledge()).expect("a table");
    assert_eq!(
        Facts::open(&again).expect("it opens").meaning(),
        facts.meaning(),
        "it is read again"
    );
    facts.meaning()
}

#[test]
fn places_and_order_mean_nothing() {
    fn turned(mut node: Node) -> Node {
        let after_the_first = |names: &mut Vec<String>| {
            if let [_, others @ ..] = names.as_mut_slice() {
                others.reverse();
            }
        };
        after_the_first(&mut node.names);
        node.flags.iter_mut().for_each(|flag| flag.names.reverse());
        node.subs = node.subs.into_iter().map(turned).collect();
        node.without_places()
    }
    let mut other = FACTS.knowledge();
    other.programs = other.programs.into_iter().rev().map(turned).collect();
    other.environment.reverse();
    other.words.reverse();
    other.files = vec!["elsewhere.kdl".to_owned()];
    assert_eq!(meaning(&other), FACTS.meaning());
}

fn sample() -> Knowledge {
    let place = Place::default();
    let value = || Value {
        pattern: "a*".to_owned(),
        tier: Tier::Reversible,
        cap: None,
        role: Role::Text,
        says: String::new(),
        place,
    };
    let operand = || Operand {
        position: Position::Next,
        from: 0,
        not_last: false,
        role: Role::Read,
        values: vec![value()],
        place,
    };
    let flag = Flag {
        names: vec!["--flag".to_owned(), "-f".to_owned()],
        tier: Tier::Reversible,
        cap: None,
        arity: Arity::Required,
        role: Role::Read,
        says: String::new(),
        everywhere: false,
        values: vec![value()],
        place,
    };
    let form = Form {
        tier: Tier::Reversible,
        says: String::new(),
        has: vec!["--flag".to_owned()],
        without: vec!["-f".to_owned()],
        least: 0,
        most: 9,
        matching: vec!["b*".to_owned()],
        operands: vec![operand()],
        roles: vec![("--flag".to_owned(), Role::Write)],
        output: None,
        stdin: None,
        writes: String::new(),
        place,
    };
    let node = |name: &str, subs: Vec<Node>| Node {
        names: vec![name.to_owned(), format!("{name}-alias")],
        tier: Some(Tier::Reversible),
        says: String::new(),
        style: Style::Gnu,
        stop: 0,
        sub_at: 1,
        numbers: false,
        bundle_first: false,
        ignore_case: false,
        sends: false,
        listens: false,
        builtin: false,
        user: String::new(),
        writes: String::new(),
        stdin: Role::Text,
        output: Output::Opaque,
        special: Special::Nothing,
        flags: vec![flag.clone()],
        operands: vec![operand()],
        forms: vec![form.clone()],
        subs,
        checked: String::new(),
        place,
    };
    let words = LanguageWords {
        language: Role::Sql,
        kind: WordKind::Deletes,
        words: vec!["drop".to_owned()],
        place,
    };
    Knowledge {
        programs: vec![node("program", vec![node("sub", Vec::new())])],
        environment: vec!["OURS".to_owned()],
        words: vec![words],
        files: vec![String::new()],
    }
}

/// A change to a sample, with its text.
type Change = (&'static str, fn(&mut Knowledge));

/// Changes, each of another meaning.
macro_rules! changes {
    ($sample:ident: $($change:expr;)+) => {
        vec![$((stringify!($change), |$sample: &mut Knowledge| { $change; }),)+]
    };
}

#[test]
fn all_that_a_fact_says_counts() {
    let changes: Vec<Change> = changes! { all:
        all.environment.push("MORE".to_owned());
        all.words[0].words.push("truncate".to_owned());
        all.words[0].kind = WordKind::Runs;
        all.words[0].language = Role::Awk;
        all.programs[0].names.reverse();
        all.programs[0].names.push("another".to_owned());
        all.programs[0].tier = None;
        all.programs[0].tier = Some(Tier::ReadOnly);
        all.programs[0].says = "says".to_owned();
        all.programs[0].style = Style::Go;
        all.programs[0].stop = 1;
        all.programs[0].sub_at = 2;
        all.programs[0].numbers = true;
        all.programs[0].bundle_first = true;
        all.programs[0].ignore_case = true;
        all.programs[0].sends = true;
        all.programs[0].listens = true;
        all.programs[0].builtin = true;
        all.programs[0].user = "user".to_owned();
        all.programs[0].writes = "writes".to_owned();
        all.programs[0].stdin = Role::Script;
        all.programs[0].output = Output::Nothing;
        all.programs[0].special = Special::Eval;
        all.programs[0].flags.clear();
        all.programs[0].operands.clear();
        all.programs[0].forms.clear();
        all.programs[0].subs.clear();
        all.programs[0].subs[0].names.reverse();
        all.programs[0].subs[0].names.push("another".to_owned());
        all.programs[0].subs[0].says = "says".to_owned();
        all.programs[0].flags[0].names.truncate(1);
        all.programs[0].flags[0].tier = Tier::Stateful;
        all.programs[0].flags[0].cap = Some(Tier::ReadOnly);
        all.programs[0].flags[0].arity = Arity::Attached;
        all.programs[0].flags[0].arity = Arity::None;
        all.programs[0].flags[0].role = Role::Write;
        all.programs[0].flags[0].says = "says".to_owned();
        all.programs[0].flags[0].everywhere = true;
        all.programs[0].flags[0].values.clear();
        all.programs[0].flags[0].values[0].pattern = "c*".to_owned();
        all.programs[0].flags[0].values[0].tier = Tier::Stateful;
        all.programs[0].flags[0].values[0].cap = Some(Tier::ReadOnly);
        all.programs[0].flags[0].values[0].role = Role::Write;
        all.programs[0].flags[0].values[0].says = "says".to_owned();
        all.programs[0].operands[0].position = Position::Last;
        all.programs[0].operands[0].from = 1;
        all.programs[0].operands[0].not_last = true;
        all.programs[0].operands[0].role = Role::Write;
        all.programs[0].operands[0].values.clear();
        all.programs[0].forms[0].tier = Tier::Stateful;
        all.programs[0].forms[0].says = "says".to_owned();
        all.programs[0].forms[0].has.clear();
        all.programs[0].forms[0].without.clear();
        all.programs[0].forms[0].least = 1;
        all.programs[0].forms[0].most = 8;
        all.programs[0].forms[0].matching.clear();
        all.programs[0].forms[0].operands.clear();
        all.programs[0].forms[0].roles.clear();
        all.programs[0].forms[0].roles[0].0 = "-f".to_owned();
        all.programs[0].forms[0].roles[0].1 = Role::Read;
        all.programs[0].forms[0].output = Some(Output::Nothing);
        all.programs[0].forms[0].stdin = Some(Role::Script);
        all.programs[0].forms[0].writes = "writes".to_owned();
    };
    let mut known = BTreeMap::from([(meaning(&sample()).hex(), "nothing")]);
    for (change, apply) in changes {
        let mut changed = sample();
        apply(&mut changed);
        if let Some(same) = known.insert(meaning(&changed).hex(), change) {
            panic!("`{change}` means the same as `{same}`");
        }
    }
}

/// Of the roles of an option without a value, the row keeps the one that listens.
#[test]
fn a_role_that_the_row_leaves_out_means_nothing() {
    let with = |role: Role| {
        let mut sample = sample();
        sample.programs[0].flags[0].arity = Arity::None;
        sample.programs[0].flags[0].role = role;
        meaning(&sample)
    };
    assert_eq!(with(Role::Read), with(Role::Text));
    assert_ne!(with(Role::Listen), with(Role::Text));
}
