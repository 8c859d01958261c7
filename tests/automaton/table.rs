//! Tables of automata: what is written is read, and what was altered is refused.

use relay_bundle::{Automata, AutomataWriter, Corrupt};
use relay_compiler::automaton::compile;

use super::entry::{good_table, regex, seeds, table};
use crate::random::Random;

#[test]
fn an_altered_table_is_refused_or_answers() {
    let mut random = Random(0x5eed_0028);
    for _ in 0..1_500 {
        let count = 5 * (1 + random.below(4));
        let bytes: Vec<u8> = (0..count).map(|_| random.below(256) as u8).collect();
        table(&bytes);
    }
}

#[test]
fn any_pattern_is_compiled_or_refused_at_a_part_of_it() {
    let mut random = Random(0x5eed_0029);
    let seeds = seeds();
    for _ in 0..600 {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() + 1);
            let signs = b"()[]{}*+?|\\^$.-,09az:<>=!#P&\n";
            bytes.insert(at, signs[random.below(signs.len())]);
        }
        regex(&bytes);
    }
}

#[test]
fn no_prefix_of_a_table_is_a_table() {
    let table = good_table();
    assert!(Automata::open(&table).is_ok());
    for length in 1..table.len() {
        assert!(Automata::open(&table[..length]).is_err(), "{length} of {} bytes", table.len());
    }
    let longer = [&*table, &[0]].concat();
    assert!(Automata::open(&longer).is_err());
}

#[test]
fn equal_automata_are_stored_once() {
    let mut writer = AutomataWriter::default();
    let numbers =
        ["rm", "dd", "(?:rm)", "r[m]", "mkfs"].map(|it| writer.add(&compile(it).unwrap()));
    assert_eq!(numbers, [0, 1, 0, 0, 2]);
    let bytes = writer.record_bytes();
    let table = writer.finish();
    assert!(bytes < table.len());
    let automata = Automata::open(&table).unwrap();
    assert_eq!(automata.count(), 3);
    assert!(automata.automaton(1).unwrap().matches(b"add"));
    assert!(matches!(automata.automaton(3).map(|_| ()), Err(Corrupt::Record { .. })));
    assert_eq!(automata.matching(b"shell_exec mkfs; rm"), [0, 2]);
}

#[test]
fn an_empty_table_matches_nothing() {
    for table in [Vec::new(), AutomataWriter::default().finish()] {
        let automata = Automata::open(&table).unwrap();
        assert_eq!((automata.count(), automata.matching(b"rm")), (0, Vec::new()));
    }
}

#[test]
fn only_automata_run_whose_literals_are_in_the_text() {
    let mut writer = AutomataWriter::default();
    for number in 0..500 {
        writer.add(&compile(&format!(r"(?i)tool{number}\s+(delete|destroy)\b")).unwrap());
    }
    writer.add(&compile(r"\d\d\d").unwrap());
    let table = writer.finish();
    let automata = Automata::open(&table).unwrap();
    assert_eq!(automata.matching(b"shell_exec TOOL77 Delete x"), [77]);
    // `tool7` and `tool77`, and the one without a literal.
    assert!(automata.candidate_count(b"shell_exec TOOL77 Delete x") <= 3);
    assert_eq!(automata.candidate_count(b"shell_exec git status"), 1);
    assert_eq!(automata.candidate_count(b""), 1);
}
