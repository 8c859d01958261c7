//! The automata of the regexes in shipped policies, made before: three of them took a fifth of a check.
//!
//! The table has a row a pattern: the bytes of the pattern and of its record, the pattern, the record.

use relay_bundle::{Automaton, AutomatonParts};

/// Written by `relay policy-automata`; a test makes it again.
static TABLE: &[u8] = include_bytes!("../../policies/automata.bin");

/// A pattern and the record of its automaton.
struct Row<'t> {
    pattern: &'t [u8],
    record: &'t [u8],
}

/// Returns the automaton of a pattern, if a shipped policy has it. Its literals are empty.
pub(super) fn find(pattern: &str) -> Option<AutomatonParts> {
    let mut rest = TABLE;
    while let Some((row, next)) = first_row(rest) {
        if row.pattern == pattern.as_bytes() {
            return Automaton::open(row.record).ok().map(|automaton| automaton.parts());
        }
        rest = next;
    }
    None
}

/// Returns the first row, and the other rows.
fn first_row(table: &[u8]) -> Option<(Row<'_>, &[u8])> {
    let (pattern_bytes, rest) = table.split_first_chunk()?;
    let (record_bytes, rest) = rest.split_first_chunk()?;
    let (pattern, rest) = rest.split_at_checked(u32::from_le_bytes(*pattern_bytes) as usize)?;
    let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*record_bytes) as usize)?;
    Some((Row { pattern, record }, rest))
}

/// Writes the row of a pattern.
pub(super) fn put_row(out: &mut Vec<u8>, pattern: &str, automaton: &AutomatonParts) {
    let record = automaton.to_bytes();
    // INVARIANT: a pattern is a line of a policy, and a record has at most 2 MB.
    let size = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    out.extend(size(pattern.len()));
    out.extend(size(record.len()));
    out.extend(pattern.as_bytes());
    out.extend(record);
}
