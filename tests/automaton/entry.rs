//! Properties of every table of automata and of every pattern; the fuzz targets call the same functions.

use std::sync::LazyLock;

use relay_bundle::{AUTOMATON_STATES_MAX, Automata, AutomataWriter, Automaton};
use relay_compiler::automaton::compile;

/// Patterns with every part of the syntax.
const PATTERNS: [&str; 10] = [
    r"\brm\s+(-\w+\s+)*-\w*r",
    r"(?i)drop\s+(table|database)$",
    r":\(\)\s*\{",
    r"^shell_exec (?P<t>ls|cat)(?# x)\Z",
    r"(?x) a b | c # d",
    "[а-я]é|[^\\x00-\\x7f]{2,5}?",
    r"(?m)^x[]a-f\d-]+?$",
    r"\d-\d",
    r"(?-i:a){,3}|\u00e9\012\B(?s:.)",
    r"(a|b)*a(a|b){9}",
];
const TEXTS: [&[u8]; 6] =
    [b"shell_exec rm -rf /", b"", b"\n", b"DROP  TABLE\n", "é\u{436}é 1-2".as_bytes(), b"\xff\xc3"];

/// A table of all patterns.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut writer = AutomataWriter::default();
    for pattern in PATTERNS {
        writer.add(&compile(pattern).expect(pattern));
    }
    writer.finish()
});

/// Returns a good table.
pub(crate) fn good_table() -> Vec<u8> {
    TABLE.clone()
}

/// Returns patterns, each with a text after a NUL byte.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let seed = |(pattern, text): (&&str, &&[u8])| [pattern.as_bytes(), b"\0", text].concat();
    PATTERNS.iter().zip(TEXTS.iter().cycle()).map(seed).collect()
}

/// Opens an altered table: it is refused, or each of its automata answers.
pub(crate) fn table(bytes: &[u8]) {
    let mut table = good_table();
    for edit in bytes.chunks_exact(5) {
        let at = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize % table.len();
        match edit[3] % 4 {
            0 => table[at] = edit[4],
            1 => table[at] ^= 1 << (edit[4] % 8),
            // Lengths and ends are first.
            2 => table[at % 64] = edit[4],
            _ => table.truncate(table.len().saturating_sub(usize::from(edit[4]))),
        }
        if table.is_empty() {
            break;
        }
    }
    // Even an unchecked table answers something.
    for automata in [Automata::split(&table), Automata::open(&table)].into_iter().flatten() {
        for text in TEXTS {
            let found = automata.matching(text);
            assert!(found.iter().all(|number| *number < automata.count()));
        }
    }
    if let Ok(automata) = Automata::open(&table) {
        for number in 0..automata.count() {
            let automaton = automata.automaton(number).expect("a checked record");
            assert!(automaton.states() <= AUTOMATON_STATES_MAX);
        }
    }
}

/// Compiles a pattern, up to the first NUL byte, and searches the rest.
pub(crate) fn regex(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, text) = text.split_once('\0').unwrap_or((&text, ""));
    match compile(pattern) {
        Err(error) => {
            assert!(pattern.get(error.at.clone()).is_some(), "{pattern:?}: {error:?}");
        }
        Ok(parts) => {
            let record = parts.to_bytes();
            let alone = Automaton::open(&record).expect("a valid record").matches(text.as_bytes());
            let mut writer = AutomataWriter::default();
            writer.add(&parts);
            let table = writer.finish();
            let found = Automata::open(&table).expect("a valid table").matching(text.as_bytes());
            assert_eq!(found.len() == 1, alone, "{pattern:?} in {text:?}");
        }
    }
}
