//! Regexes of rules: a pattern to the automaton that a server runs.
//!
//! A pattern has the meaning of `re.search(PATTERN, TEXT, re.ASCII)` in Python, where `.`, negated
//! classes, `\D`, `\S` and `\W` take one byte instead of one character. Parsing follows Python
//! (`parse.rs`); states, memory and work are bounded (`determinize.rs`); equal languages have equal
//! automata (`minimize.rs`).
//!
//! A parser of Rust's syntax would give some patterns another meaning without a word, and no
//! library for automata has a `$` that matches before a last newline, ends at the first match, or
//! bounds its work.

mod determinize;
mod escape;
mod fault;
mod literals;
mod minimize;
mod nfa;
mod parse;
mod shipped;
mod syntax;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use hashbrown::HashMap;
use relay_bundle::AutomatonParts;

use determinize::Budget;
use nfa::Nfa;
use syntax::{Form, Node};

pub use fault::{RegexError, RegexFault};

/// The most work for the automaton of a pattern, in steps of some nanoseconds.
const WORK_MAX: u64 = 1 << 24;
/// The most work for the search of the part that makes a pattern too large.
const SEARCH_WORK_MAX: u64 = 1 << 23;
/// The most parts that are tried in that search.
const SEARCH_PARTS_MAX: usize = 12;

/// The automata of the patterns of a project, each made once for all stages and environments.
#[derive(Default)]
pub(crate) struct Automata(RefCell<HashMap<String, Rc<Result<AutomatonParts, RegexError>>>>);

impl Automata {
    /// Returns the result of [`compile()`].
    pub(crate) fn of(&self, pattern: &str) -> Rc<Result<AutomatonParts, RegexError>> {
        let Self(made) = self;
        let known = made.borrow().get(pattern).cloned();
        known.unwrap_or_else(|| {
            let new = Rc::new(compile(pattern));
            made.borrow_mut().insert(pattern.to_owned(), Rc::clone(&new));
            new
        })
    }
}

/// Compiles a pattern to its minimal automaton.
///
/// # Errors
///
/// The pattern is invalid in Python, asks for more than an automaton can do, has a doubtful
/// meaning, or needs more than [`relay_bundle::AUTOMATON_STATES_MAX`] states.
pub fn compile(pattern: &str) -> Result<AutomatonParts, RegexError> {
    let node = parse::parse(pattern)?;
    let automaton = match shipped::find(pattern) {
        Some(automaton) => automaton,
        None => made(&node, pattern)?,
    };
    Ok(AutomatonParts { literals: literals::literals(&node), ..automaton })
}

/// Makes the automata of these patterns, for the table of the shipped ones.
///
/// # Errors
///
/// As for [`compile()`].
pub(crate) fn table<'p>(
    patterns: impl IntoIterator<Item = &'p String>,
) -> Result<Vec<u8>, RegexError> {
    let mut out = Vec::new();
    for pattern in patterns {
        shipped::put_row(&mut out, pattern, &made(&parse::parse(pattern)?, pattern)?);
    }
    Ok(out)
}

fn made(node: &Node, pattern: &str) -> Result<AutomatonParts, RegexError> {
    automaton(node, &mut Budget(WORK_MAX)).ok_or_else(|| too_large(node, pattern))
}

fn automaton(node: &Node, budget: &mut Budget) -> Option<AutomatonParts> {
    let mut dfa = determinize::determinize(&Nfa::of(node)?, budget)?;
    minimize::minimize(&mut dfa)
}

/// Returns the error at the part that makes the pattern too large.
///
/// The part is a repetition without which the pattern is small enough. Counts are tried before
/// others, the largest first.
fn too_large(node: &Node, pattern: &str) -> RegexError {
    let mut parts = Vec::new();
    repetitions(node, &mut parts);
    parts.sort_by_key(|(copies, at)| (std::cmp::Reverse(*copies), at.start, at.end));
    let largest = parts.first().filter(|(copies, _)| *copies > 1).map(|(_, at)| at.clone());
    let mut budget = Budget(SEARCH_WORK_MAX);
    for (copies, at) in parts.into_iter().take(SEARCH_PARTS_MAX) {
        let mut smaller = node.clone();
        simplify(&mut smaller, &at);
        let mut part = Budget(budget.0 / 2);
        let before = part.0;
        let fits = automaton(&smaller, &mut part).is_some();
        budget.take(usize::try_from(before - part.0).unwrap_or(usize::MAX));
        if fits {
            let fault = match copies {
                0 | 1 => RegexFault::LargeRepetition,
                _ => RegexFault::LargeCount,
            };
            return RegexError { at, fault };
        }
    }
    match largest {
        Some(at) => RegexError { at, fault: RegexFault::LargeCount },
        None => RegexError { at: 0..pattern.len(), fault: RegexFault::LargePattern },
    }
}

/// Adds the repetitions of a part, each with the copies of a byte that it counts.
fn repetitions(node: &Node, out: &mut Vec<(usize, Range<usize>)>) {
    if let Form::Repeat { node: repeated, min, max } = &node.form {
        let count = max.unwrap_or(*min) as usize;
        let size = if count > 1 { count * size(repeated) } else { 0 };
        out.push((size, node.at.clone()));
    }
    for part in node.parts() {
        repetitions(part, out);
    }
}

/// Returns the number of bytes that a part asks for, with each count written out.
fn size(node: &Node) -> usize {
    let parts = node.parts().iter().map(size).fold(0, usize::saturating_add);
    match &node.form {
        Form::Set(_) => 1,
        Form::Repeat { min, max, .. } => parts.saturating_mul(max.unwrap_or(*min).max(1) as usize),
        _ => parts,
    }
}

/// Makes the repetition at a place a small one: `*` or `+` for a count, nothing for those.
fn simplify(node: &mut Node, place: &Range<usize>) {
    if node.at == *place
        && let Form::Repeat { min, max, .. } = &mut node.form
    {
        if max.unwrap_or(*min) > 1 {
            (*min, *max) = ((*min).min(1), None);
        } else {
            node.form = Form::Concat(Vec::new());
        }
        return;
    }
    node.parts_mut().iter_mut().for_each(|part| simplify(part, place));
}
