//! The tools that both bundles are asked for: one for each class that the patterns of changed
//! skills distinguish.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt};
use relay_engine::glob::{self, Part};

/// Names of tools times the patterns that each is matched with, at most.
const STEPS_MAX: usize = 2_000_000;

/// Tools that all changed skills treat alike.
pub(super) struct Tools {
    /// One of them.
    pub(super) example: String,
    /// Their names in reports.
    pub(super) names: Vec<String>,
}

/// The tools that patterns distinguish.
pub(super) struct Classes {
    pub(super) list: Vec<Tools>,
    /// Whether these are all classes.
    pub(super) are_all: bool,
    /// The numbers of names: those matched, and all.
    pub(super) names: [usize; 2],
}

/// Patterns, by the way to match a name with them.
struct Patterns<'p> {
    /// Patterns for one name, with their numbers.
    names: BTreeMap<&'p str, usize>,
    wide: Vec<(usize, &'p str)>,
}

/// A name to match with the patterns.
struct Candidate<'n> {
    is_known: bool,
    name: String,
    /// The name of the tools of its class in reports.
    called: &'n str,
}

/// Returns the known tools of both sides by the patterns that match them; `all` are those that a
/// change can reach. Unknown tools are added: one for each pattern, and some that match wide
/// patterns only, or miss all. Of too many names, those of changed skills come first, then a sample
/// of the others.
pub(super) fn tools(
    [a, b]: [&Bundle; 2],
    all: &BTreeSet<String>,
    changed: &BTreeSet<String>,
) -> Result<Classes, Corrupt> {
    let mut known = BTreeSet::new();
    for tool in a.known_tools().iter().chain(b.known_tools().iter()) {
        known.insert(tool?.name()?);
    }
    let patterns = Patterns::of(all);
    let unknown: Vec<String> = ('a'..='z').map(|letter| format!("{letter}-unknown")).collect();
    let first: Vec<_> = changed.iter().map(|pattern| Candidate::of_pattern(pattern)).collect();
    let others = all.difference(changed).map(|pattern| Candidate::of_pattern(pattern));
    let others: Vec<_> = known.iter().map(|name| Candidate::of_tool(name)).chain(others).collect();
    let count = first.len() + others.len();
    let most = (STEPS_MAX / patterns.wide.len().max(1)).saturating_sub(unknown.len());
    let mut candidates = evenly(first, most);
    candidates.extend(evenly(others, most - candidates.len()));
    // A class has the names of its known tools, if any.
    candidates.sort_by_key(|candidate| !candidate.is_known);

    let names = [candidates.len(), count];
    let mut classes: BTreeMap<Vec<usize>, Tools> = BTreeMap::new();
    for Candidate { is_known, name, called } in candidates {
        let class = classes.entry(patterns.matching(&name));
        let is_new = matches!(class, Entry::Vacant(_));
        let class = class.or_insert_with(|| Tools { example: name, names: Vec::new() });
        if is_known || is_new {
            class.names.push(called.to_owned());
        }
    }
    for example in unknown {
        let matched = patterns.matching(&example);
        let name = match matched.is_empty() {
            true => "other tools".to_owned(),
            false => format!("tools like {example}"),
        };
        classes.entry(matched).or_insert_with(|| Tools { example, names: vec![name] });
    }
    let are_all = names[0] == names[1] && patterns.are_all_in(&classes);
    Ok(Classes { list: classes.into_values().collect(), are_all, names })
}

/// Returns at most `most` items of a list, spread over all of it.
fn evenly<T>(list: Vec<T>, most: usize) -> Vec<T> {
    if most == 0 {
        return Vec::new();
    }
    let step = list.len().div_ceil(most).max(1);
    list.into_iter().step_by(step).collect()
}

impl<'n> Candidate<'n> {
    fn of_tool(name: &'n str) -> Self {
        Self { is_known: true, name: name.to_owned(), called: name }
    }

    fn of_pattern(pattern: &'n str) -> Self {
        Self { is_known: false, name: example(pattern), called: pattern }
    }
}

impl<'p> Patterns<'p> {
    fn of(patterns: &'p BTreeSet<String>) -> Self {
        let mut all = Self { names: BTreeMap::new(), wide: Vec::new() };
        for (number, pattern) in patterns.iter().enumerate() {
            match glob::is_name(pattern) {
                true => _ = all.names.insert(pattern, number),
                false => all.wide.push((number, pattern)),
            }
        }
        all
    }

    /// Returns the patterns that match a name, by their numbers.
    fn matching(&self, name: &str) -> Vec<usize> {
        let wide = self.wide.iter().filter(|(_, pattern)| glob::matches(pattern, name));
        let mut numbers: Vec<usize> = wide.map(|(number, _)| *number).collect();
        numbers.extend(self.names.get(name));
        numbers.sort_unstable();
        numbers
    }

    /// Returns whether every name is proved to be of one of these classes: wide patterns with other
    /// beginnings or ends never match together, and each has its class, as has a name without a
    /// match.
    fn are_all_in(&self, classes: &BTreeMap<Vec<usize>, Tools>) -> bool {
        let is_any = |pattern: &str| glob::parts(pattern).all(|part| part == Part::Run);
        let (any, others): (Vec<_>, Vec<_>) =
            self.wide.iter().copied().partition(|(_, pattern)| is_any(pattern));
        let any: Vec<usize> = any.into_iter().map(|(number, _)| number).collect();
        let begin = others.iter().map(|(_, pattern)| literal(glob::parts(pattern))).collect();
        let end = others.iter().map(|(_, pattern)| {
            let parts: Vec<Part<'_>> = glob::parts(pattern).collect();
            literal(parts.into_iter().rev())
        });
        let with = |number: &usize| {
            let mut class = any.clone();
            class.push(*number);
            class.sort_unstable();
            class
        };
        (are_apart(begin) || are_apart(end.collect()))
            && others.iter().all(|(number, _)| classes.contains_key(&with(number)))
            && classes.contains_key(&any)
    }
}

/// Returns the characters before the first wildcard.
fn literal<'p>(parts: impl Iterator<Item = Part<'p>>) -> String {
    let letter = |part| match part {
        Part::Literal(letter) => Some(letter),
        Part::Run | Part::Any | Part::Set(_) => None,
    };
    parts.map_while(letter).collect()
}

/// Returns whether no text begins with another one.
fn are_apart(mut texts: Vec<String>) -> bool {
    // After sorting, a text that begins another one begins the next one.
    texts.sort_unstable();
    texts.iter().zip(texts.iter().skip(1)).all(|(text, next)| !next.starts_with(text.as_str()))
}

/// Returns a name that a pattern matches: with a character for each of its parts.
fn example(pattern: &str) -> String {
    let letter = |part: Part<'_>| match part {
        Part::Literal(letter) => Some(letter),
        Part::Run | Part::Any => Some('x'),
        Part::Set(set) => {
            let listed = set.ranges().map(|range| *range.start());
            listed.chain(['x', '0', '-', '_']).find(|letter| part.has(*letter))
        }
    };
    glob::parts(pattern).filter_map(letter).collect()
}
