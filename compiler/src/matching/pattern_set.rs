//! Comparisons of patterns: every set of them that one name can match, a name that one list of
//! patterns matches and another misses, and a name that both lists match.
//!
//! The patterns are made deterministic together, over the classes of characters that they
//! distinguish, breadth first, so that each set comes with a shortest name that proves it. Names
//! are any non-empty texts. The number of sets may grow exponentially with the number of patterns,
//! so the work has a limit. [`TooMany`] means that the answer is unknown.

mod alphabet;
mod automaton;
mod limit;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use hashbrown::{HashMap, HashSet};
use relay_engine::glob::{self, is_name};

use automaton::Automaton;
use limit::TRIED_STEPS_MAX;
pub(crate) use limit::TooMany;

/// The exact set of patterns that a name matches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NameSet {
    /// The patterns, by their indexes, rising; empty for a name that misses all.
    pub(crate) patterns: Vec<usize>,
    /// A shortest name that matches them.
    pub(crate) witness: String,
}

/// Returns every set of `patterns` that one name can match, sorted. The patterns are distinct, and
/// [`glob::check`] accepts each.
///
/// # Errors
///
/// There are too many combinations.
pub(crate) fn sets(patterns: &[&str]) -> Result<Vec<NameSet>, TooMany> {
    // A literal pattern is one name: its set is found by comparing it with the others. As states of
    // an automaton, thousands of them would exceed the limit.
    let (names, globs): (Vec<usize>, Vec<usize>) =
        (0..patterns.len()).partition(|index| patterns.get(*index).is_some_and(|p| is_name(p)));
    if names.len().saturating_mul(globs.len()) > TRIED_STEPS_MAX {
        return Err(TooMany);
    }
    let text = |index: &usize| patterns.get(*index).copied().unwrap_or_default();
    let matched = |name: &str| -> Vec<usize> {
        globs.iter().copied().filter(|glob| glob::matches(text(glob), name)).collect()
    };
    let named: Vec<(usize, Vec<usize>)> =
        names.iter().map(|index| (*index, matched(text(index)))).collect();
    let mut found = automaton_sets(&globs, text)?;
    // A witness that is one of the names belongs to a larger set. The automaton with all names of
    // the set finds whether another name has it.
    let texts: BTreeSet<&str> = names.iter().map(text).collect();
    let taken: HashSet<Vec<usize>> = found
        .iter()
        .filter(|(_, witness)| texts.contains(witness.as_str()))
        .map(|(set, _)| set.clone())
        .collect();
    if !taken.is_empty() {
        let of_taken = named.iter().filter(|(_, set)| taken.contains(set)).map(|(index, _)| *index);
        let together: Vec<usize> = globs.iter().copied().chain(of_taken).collect();
        let mut again = automaton_sets(&together, text)?;
        found.retain(|set, _| !taken.contains(set));
        found.extend(taken.iter().filter_map(|set| again.remove_entry(set)));
    }
    for (index, mut set) in named {
        set.push(index);
        set.sort_unstable();
        found.insert(set, text(&index).to_owned());
    }
    let mut sets: Vec<NameSet> =
        found.into_iter().map(|(patterns, witness)| NameSet { patterns, witness }).collect();
    sets.sort_unstable_by(|a, b| a.patterns.cmp(&b.patterns));
    Ok(sets)
}

/// Returns each set of these patterns that a name matches, with a shortest name.
fn automaton_sets<'p>(
    indexes: &[usize],
    text: impl Fn(&usize) -> &'p str,
) -> Result<HashMap<Vec<usize>, String>, TooMany> {
    let patterns: Vec<&str> = indexes.iter().map(text).collect();
    let mut found = HashMap::new();
    Automaton::new(&patterns)?.explore(
        |_, _| true,
        |accepted, witness| {
            let set: Vec<usize> =
                accepted.iter().filter_map(|place| indexes.get(*place).copied()).collect();
            found.entry(set).or_insert_with(witness);
            ControlFlow::Continue(())
        },
    )?;
    let sorted = |(mut set, witness): (Vec<usize>, String)| {
        set.sort_unstable();
        (set, witness)
    };
    Ok(found.into_iter().map(sorted).collect())
}

/// Returns a name that matches a pattern of `child` but none of `parent`, if there is one: a
/// shortest one if it comes from a pattern with wildcards.
///
/// # Errors
///
/// There are too many combinations: whether `parent` matches all is unknown.
pub(crate) fn outside(child: &[&str], parent: &[&str]) -> Result<Option<String>, TooMany> {
    let (names, globs): (Vec<&str>, Vec<&str>) =
        child.iter().copied().partition(|pattern| is_name(pattern));
    if names.len().saturating_mul(parent.len()) > TRIED_STEPS_MAX {
        return Err(TooMany);
    }
    let covered = |name: &&str| parent.iter().any(|pattern| glob::matches(pattern, name));
    if let Some(name) = names.iter().copied().find(|name| !covered(name)) {
        return Ok(Some(name.to_owned()));
    }
    let globs: Vec<&str> = globs.into_iter().filter(|glob| !parent.contains(glob)).collect();
    let together: Vec<&str> = globs.iter().chain(parent).copied().collect();
    let mut found = None;
    let is_child = |place: &usize| *place < globs.len();
    Automaton::new(&together)?.explore(
        // A state is settled if no child can match there any more, or if a parent matches every
        // continuation.
        |alive, forever| alive.iter().any(is_child) && forever.iter().all(is_child),
        |accepted, witness| {
            if accepted.is_empty() || !accepted.iter().all(is_child) {
                return ControlFlow::Continue(());
            }
            found = Some(witness());
            ControlFlow::Break(())
        },
    )?;
    Ok(found)
}

/// Returns a shortest name that a pattern of both lists matches, if there is one.
///
/// # Errors
///
/// There are too many combinations: whether there is one is unknown.
pub(crate) fn meet<'p>(one: &[&'p str], other: &[&'p str]) -> Result<Option<String>, TooMany> {
    let matches_one =
        |patterns: &[&str], name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name));
    for (names, patterns) in [(one, other), (other, one)] {
        let mut names = names.iter().filter(|pattern| is_name(pattern));
        if let Some(name) = names.find(|name| matches_one(patterns, name)) {
            return Ok(Some((*name).to_owned()));
        }
    }
    // Names were compared above. Of the other patterns, the automaton needs only those that can
    // begin and end like one of the other list.
    let meeting = |patterns: &[&'p str], others: &[&str]| -> Vec<&'p str> {
        let may_meet = |pattern: &&str| {
            !is_name(pattern) && others.iter().any(|other| ends_agree(pattern, other))
        };
        patterns.iter().copied().filter(may_meet).collect()
    };
    let (first, second) = (meeting(one, other), meeting(other, one));
    if first.is_empty() || second.is_empty() {
        return Ok(None);
    }
    let together: Vec<&str> = first.iter().chain(&second).copied().collect();
    let is_both = |places: &[usize]| {
        let is_first = |place: &usize| *place < first.len();
        places.iter().any(is_first) && !places.iter().all(is_first)
    };
    let mut found = None;
    Automaton::new(&together)?.explore(
        |alive, _| is_both(alive),
        |accepted, witness| {
            if !is_both(accepted) {
                return ControlFlow::Continue(());
            }
            found = Some(witness());
            ControlFlow::Break(())
        },
    )?;
    Ok(found)
}

/// Returns the letters with which every match of a pattern begins.
pub(crate) fn literal_start(pattern: &str) -> &str {
    pattern.split(['*', '?', '[']).next().unwrap_or_default()
}

/// Returns letters with which every match of a pattern ends.
fn literal_end(pattern: &str) -> &str {
    // Letters after a `]` are literal, whether it ends a set or is a character.
    pattern.rsplit(['*', '?', '[', ']']).next().unwrap_or_default()
}

/// Returns whether a name can begin, and a name can end, as both patterns ask.
pub(crate) fn ends_agree(one: &str, other: &str) -> bool {
    let (start, other_start) = (literal_start(one), literal_start(other));
    let (end, other_end) = (literal_end(one), literal_end(other));
    (start.starts_with(other_start) || other_start.starts_with(start))
        && (end.ends_with(other_end) || other_end.ends_with(end))
}
