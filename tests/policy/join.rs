//! Facts joined to others: a table of both, against one that is made of all of them at once.

use std::collections::BTreeSet;

use relay_policy::classify::{Rules, classify};
use relay_policy::facts::{Facts, Knowledge, Node, encode, join};
use relay_policy::tier::Tier;

use super::FACTS;
use super::corpus::open_rows;
use crate::random::Random;

/// The facts of a project beside those that are shipped.
struct Two {
    shipped: Knowledge,
    own: Knowledge,
}

impl Two {
    /// Divides the shipped facts at random. Some programs are on both sides, with other facts.
    fn divided(random: &mut Random) -> Self {
        let all = FACTS.knowledge();
        let file = u8::try_from(all.files.len()).expect("few files");
        let mut two = Self {
            shipped: Knowledge { programs: Vec::new(), environment: Vec::new(), ..all.clone() },
            own: Knowledge { files: vec!["own.kdl".to_owned()], ..Knowledge::default() },
        };
        for mut program in all.programs {
            let kind = random.below(20);
            if kind > 1 {
                two.shipped.programs.push(program.clone());
            }
            if kind < 5 {
                program = program.in_file(file);
                match kind {
                    3 => program.tier = Some(Tier::Irreversible),
                    // Others keep the first names, or the last ones.
                    4 if program.names.len() > 1 => {
                        let end = random.below(2) * (program.names.len() - 1);
                        program.names = vec![program.names[end].clone()];
                    }
                    _ => {}
                }
                two.own.programs.push(program);
            }
        }
        for name in all.environment {
            let side = if random.below(2) == 0 { &mut two.shipped } else { &mut two.own };
            side.environment.push(name);
        }
        two
    }

    fn joined(&self) -> Vec<u8> {
        let shipped = encode(&self.shipped).expect("a table");
        join(Facts::open(&shipped).expect("it opens"), &self.own).expect("a table")
    }

    /// The words of the contract: each own program replaces the shipped ones of its names.
    fn all(&self) -> Knowledge {
        let names: BTreeSet<&String> = self.own.programs.iter().flat_map(|it| &it.names).collect();
        let mut all = self.shipped.clone();
        all.programs.iter_mut().for_each(|it| it.names.retain(|name| !names.contains(name)));
        all.programs.retain(|program| !program.names.is_empty());
        all.programs.extend_from_slice(&self.own.programs);
        all.environment.extend_from_slice(&self.own.environment);
        all.files.extend_from_slice(&self.own.files);
        all
    }
}

/// All in one order.
fn sorted(facts: &Facts<'_>) -> Knowledge {
    let mut all = facts.knowledge();
    all.programs.sort_by(|left, right| left.names.cmp(&right.names));
    all
}

#[test]
fn joined_facts_are_those_of_one_table() {
    let commands: Vec<String> = open_rows().into_iter().map(|row| row.command).collect();
    let mut random = Random(32);
    for _ in 0..3 {
        let two = Two::divided(&mut random);
        let (joined, whole) = (two.joined(), encode(&two.all()).expect("a table"));
        let [joined, whole] = [&joined, &whole].map(|it| Facts::open(it).expect("it opens"));
        assert_eq!(sorted(&joined), sorted(&whole));
        assert_eq!(joined.program_names(), whole.program_names());
        assert_eq!(joined.program_counts(), whole.program_counts());
        for name in whole.program_names() {
            assert_eq!(joined.first_name(&name), whole.first_name(&name));
            let [one, other] = [joined, whole].map(|facts| {
                facts.program(name.as_bytes()).and_then(|program| facts.program_facts(program))
            });
            assert_eq!(one, other);
        }
        for command in &commands {
            let [one, other] = [joined, whole].map(|facts| {
                let verdict = classify(command, &facts, &Rules::default());
                let hits = verdict.hits.iter().map(|hit| (hit.tier, hit.span, hit.message(&facts)));
                let places = verdict.hits.iter().map(|hit| format!("{:?}", hit.at(&facts)));
                (verdict.tier, hits.collect::<Vec<_>>(), places.collect::<Vec<_>>())
            });
            assert_eq!(one, other, "{command}");
        }
    }
}

#[test]
fn joined_facts_are_taken_apart_and_joined_again() {
    let mut random = Random(33);
    for _ in 0..5 {
        let two = Two::divided(&mut random);
        let table = two.joined();
        let (shipped, own) = Facts::open(&table).expect("it opens").parted().expect("joined");
        assert!(shipped == encode(&two.shipped).expect("a table"));
        assert!(join(Facts::open(&shipped).expect("it opens"), &own).expect("a table") == table);
        let mut own = own.programs;
        own.sort_by(|left, right| left.names.cmp(&right.names));
        let sorted = |mut program: Node| {
            program.names.get_mut(1..).unwrap_or_default().sort();
            program
        };
        let mut written: Vec<_> = two.own.programs.into_iter().map(sorted).collect();
        written.sort_by(|left, right| left.names.cmp(&right.names));
        assert_eq!(own, written);
        assert!(FACTS.parted().is_none());
    }
}

/// Who joins facts may lie about the shipped ones: that a table ends earlier, so that what follows means
/// something else in another table.
#[test]
fn a_table_that_begins_with_no_table_is_compared_as_a_whole() {
    let ours = FACTS.program(b"git").and_then(|git| FACTS.program_facts(git)).expect("a program");
    let table = join(*FACTS, &own(&[&ours], &[])).expect("a table");
    let header = size_of::<[u32; 9]>() + size_of::<[u8; 32]>();
    // The header of the shipped facts follows that of all; the numbers of words and of bytes of texts are in it.
    let number = |table: &[u8], of: usize| {
        let at = header + 4 * of;
        (at, u32::from_le_bytes(table[at..at + 4].try_into().expect("four bytes")))
    };
    let less = |of: usize, by: u32| {
        let mut less = table.clone();
        let (at, was) = number(&table, of);
        less[at..at + 4].copy_from_slice(&(was - by).to_le_bytes());
        less
    };
    let (words, texts) = (4, 8);
    assert!(Facts::open(&less(words, 1)).is_err(), "words are shipped alone");
    let one = less(texts, 40);
    let mut other = one.clone();
    let added = u32::from_le_bytes(table[4 * texts..4 * texts + 4].try_into().expect("four bytes"))
        - number(&table, texts).1;
    let last = table.len() - added as usize - 2;
    other[last] = if other[last] == b'x' { b'y' } else { b'x' };
    let [one, other] = [&one, &other].map(|table| Facts::open(table).expect("it opens"));
    assert_ne!(one.knowledge(), other.knowledge());
    assert!(one.programs_apart(&other).is_none());
    let whole = Facts::open(&table).expect("it opens");
    assert!(whole.programs_apart(&whole).is_some_and(|[it, _]| it.len() == 1));
}

/// Facts that are joined with the shipped ones, and the digest of both.
fn meaning(own: &Knowledge) -> String {
    let table = join(*FACTS, own).expect("a table");
    Facts::open(&table).expect("it opens").meaning().hex()
}

fn own(programs: &[&Node], environment: &[&str]) -> Knowledge {
    let environment = environment.iter().map(|name| (*name).to_owned()).collect();
    let programs = programs.iter().map(|program| (*program).clone()).collect();
    Knowledge { programs, environment, ..Knowledge::default() }
}

#[test]
fn each_joined_fact_counts_unless_it_is_shipped() {
    let shipped = FACTS.meaning().hex();
    let known = |name: &str| {
        FACTS.program(name.as_bytes()).and_then(|it| FACTS.program_facts(it)).expect("a program")
    };
    let [git, rm] = ["git", "rm"].map(known);
    assert_eq!(meaning(&own(&[], &[])), shipped);
    assert_eq!(meaning(&own(&[&git, &rm], &[])), shipped, "it is shipped");
    let renamed = Node { names: vec!["ours".to_owned()], ..git.clone() };
    let higher = Node { tier: Some(Tier::Irreversible), ..rm.clone() };
    let also = Node { names: [git.names.clone(), vec!["ours".to_owned()]].concat(), ..git.clone() };
    let several = FACTS.knowledge().programs.into_iter().find(|it| it.names.len() > 2);
    let several = several.expect("a program of several names");
    let fewer = Node { names: several.names[..1].to_vec(), ..several };
    let digests = [
        shipped,
        meaning(&own(&[&renamed], &[])),
        meaning(&own(&[&higher], &[])),
        meaning(&own(&[&also], &[])),
        meaning(&own(&[&fewer], &[])),
        meaning(&own(&[], &["OURS"])),
        meaning(&own(&[], &["OURS", "OURS_*"])),
        meaning(&own(&[&renamed], &["OURS"])),
        meaning(&own(&[&renamed, &higher], &[])),
    ];
    assert_eq!(BTreeSet::from(digests.clone()).len(), digests.len());
    assert_eq!(
        meaning(&own(&[&higher, &renamed], &[])),
        digests[8],
        "their order counts for nothing"
    );
}

#[test]
fn facts_that_fit_no_table_are_refused() {
    let git = FACTS.program(b"git").and_then(|git| FACTS.program_facts(git)).expect("a program");
    let text = Node { says: "a\0b".to_owned(), ..git.clone() };
    assert!(join(*FACTS, &own(&[&text], &[])).is_err());
    let mut deep = Node { subs: Vec::new(), ..git.clone() };
    for _ in 0..9 {
        deep = Node { subs: vec![deep], ..git.clone() };
    }
    assert!(join(*FACTS, &own(&[&deep], &[])).is_err(), "a reader would refuse it");
    let words = Knowledge { words: FACTS.knowledge().words, ..own(&[], &[]) };
    assert!(join(*FACTS, &words).is_err());
    let many = (0..65_281).map(|number| format!("ours{number}")).collect();
    assert!(join(*FACTS, &own(&[&Node { names: many, ..git.clone() }], &[])).is_err());
    let table = join(*FACTS, &own(&[&git], &[])).expect("a table");
    let joined = Facts::open(&table).expect("it opens");
    assert!(join(joined, &own(&[], &[])).is_err(), "they are joined once");
}
