//! The deterministic automaton of a search, by the construction of subsets.
//!
//! A state is a set of states of the NFA, with the kind of the byte before it if a condition asks
//! for it. A set with the match is one state, [`MATCHED`]: texts match however they go on. A member
//! is left out if another one, of its family, matches every text that it does: without that, each
//! gap of `{0,16}` words would double the states sixteen times. States, memory and work are bounded.

use std::borrow::Cow;
use std::collections::HashMap;

use relay_bundle::{DEAD, MATCHED};

use super::nfa::{Nfa, State};
use super::syntax::{ByteSet, Look};

/// The most states before minimisation.
const STATES_MAX: usize = 1 << 14;
/// The most members of all sets.
const MEMBERS_MAX: usize = 1 << 22;
/// The most transitions.
const TRANSITIONS_MAX: usize = 1 << 21;

/// An automaton before minimisation. Its states [`DEAD`] and [`MATCHED`] are those of the record.
pub(super) struct Dfa {
    /// The class of each byte.
    pub(super) byte_classes: [u8; 256],
    /// The number of classes; the last one is the newline that ends the text.
    pub(super) classes: usize,
    pub(super) start: u32,
    /// Whether a text that ends in a state matches.
    pub(super) accepting: Vec<bool>,
    /// Whether no text ends in a state.
    pub(super) cannot_end: Vec<bool>,
    /// The next state, a row a state.
    pub(super) transitions: Vec<u32>,
}

/// The work that may still be done; it falls to 0 and stays there.
pub(super) struct Budget(pub(super) u64);

/// The beginning of the text, or a byte before a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Before {
    Start,
    Newline,
    Word,
    Other,
}

/// The end of the text, or a byte after a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum After {
    End,
    /// A newline that ends the text.
    FinalNewline,
    Newline,
    Word,
    Other,
}

/// A state: members that take a byte or ask for a condition, rising.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Subset {
    before: Before,
    members: Box<[u32]>,
    /// Whether a newline is before, so that the text cannot end here: one that ends the text takes
    /// another way.
    cannot_end: bool,
}

/// Bytes that no set of the regex tells apart.
#[derive(Clone, Copy)]
struct Class {
    byte: u8,
    after: After,
}

impl Budget {
    /// Takes some work; returns whether it may be done.
    pub(super) fn take(&mut self, work: usize) -> bool {
        self.0 = self.0.saturating_sub(work as u64);
        self.0 > 0
    }
}

impl Look {
    fn holds(self, before: Before, after: After) -> bool {
        let (word_before, word_after) = (before == Before::Word, after == After::Word);
        match self {
            Self::Start => before == Before::Start,
            Self::StartLine => matches!(before, Before::Start | Before::Newline),
            Self::End => after == After::End,
            Self::FinalEnd => matches!(after, After::End | After::FinalNewline),
            Self::EndLine => matches!(after, After::End | After::FinalNewline | After::Newline),
            Self::Word => word_before != word_after,
            Self::NotWord => word_before == word_after,
            Self::WordStart => !word_before && word_after,
            Self::WordEnd => word_before && !word_after,
            Self::WordStartHalf => !word_before,
            Self::WordEndHalf => !word_after,
        }
    }
}

/// Makes the automaton; `None` if it is too large or takes too much work.
pub(super) fn determinize(nfa: &Nfa, budget: &mut Budget) -> Option<Dfa> {
    let (byte_classes, classes) = classes(nfa);
    if classes.len() > 256 {
        return None;
    }
    let mut work = Work {
        nfa,
        numbers: HashMap::new(),
        subsets: Vec::new(),
        members: 0,
        closure: Closure { seen: vec![0; nfa.states.len()], round: 0, open: Vec::new() },
        best: vec![(0, 0); nfa.families as usize],
        rounds: 0,
        reached: Vec::new(),
        known: HashMap::new(),
        known_members: 0,
    };
    let start = work.number(Before::Start, &[nfa.start], After::Other, budget)?;
    let mut transitions: Vec<u32> = [DEAD, MATCHED]
        .into_iter()
        .flat_map(|state| std::iter::repeat_n(u32::from(state), classes.len()))
        .collect();
    let (mut accepting, mut cannot_end) = (vec![false, true], vec![false, false]);
    while let Some(subset) = work.subsets.get(accepting.len() - 2).cloned() {
        accepting.push(!subset.cannot_end && work.ends(&subset, budget)?);
        cannot_end.push(subset.cannot_end);
        work.reached.clear();
        for class in &classes {
            transitions.push(work.next(&subset, *class, budget)?);
        }
        if transitions.len() > TRANSITIONS_MAX {
            return None;
        }
    }
    Some(Dfa { byte_classes, classes: classes.len(), start, accepting, cannot_end, transitions })
}

struct Work<'n> {
    nfa: &'n Nfa,
    numbers: HashMap<Subset, u32>,
    /// The states from number 2 on.
    subsets: Vec<Subset>,
    members: usize,
    closure: Closure,
    /// The lowest rank of each family, with the round that it was met in.
    best: Vec<(u32, u32)>,
    rounds: u32,
    /// The states that follow the current one. Most classes lead to one of few.
    reached: Vec<Reached>,
    /// The states that followed any one, by the byte before them and their members before the closure. Many
    /// states lead to the same.
    known: HashMap<(After, Box<[u32]>), u32>,
    /// The members of all of these.
    known_members: usize,
}

/// A state that follows another one, and its members before the closure.
struct Reached {
    members: Box<[u32]>,
    last: After,
    state: u32,
}

/// The states of the NFA that were met in the current round.
struct Closure {
    seen: Vec<u32>,
    round: u32,
    open: Vec<u32>,
}

impl Work<'_> {
    /// Returns whether a text that ends in a state matches.
    fn ends(&mut self, subset: &Subset, budget: &mut Budget) -> Option<bool> {
        let looks = |look: Look| look.holds(subset.before, After::End);
        Some(self.closure.of(self.nfa, &subset.members, Some(&looks), budget)?.is_none())
    }

    /// Returns whether a member asks for a condition.
    fn asks(&self, members: &[u32]) -> bool {
        let asks = |member: &u32| {
            matches!(self.nfa.states.get(*member as usize), Some(State::Look { .. }))
        };
        members.iter().any(asks)
    }

    /// Returns the state after a byte of the class.
    fn next(&mut self, subset: &Subset, class: Class, budget: &mut Budget) -> Option<u32> {
        let Class { byte, after } = class;
        let members = if self.asks(&subset.members) {
            // Conditions that hold here lead further.
            let looks = |look: Look| look.holds(subset.before, after);
            let members = self.closure.of(self.nfa, &subset.members, Some(&looks), budget)?;
            let Some(members) = members else { return Some(MATCHED.into()) };
            Cow::Owned(members)
        } else if budget.take(subset.members.len() + 1) {
            Cow::Borrowed(&*subset.members)
        } else {
            return None;
        };
        let next: Box<[u32]> = members
            .iter()
            .filter_map(|member| match self.nfa.states.get(*member as usize) {
                Some(State::Set { set, next }) if set.has(byte) => Some(*next),
                _ => None,
            })
            .collect();
        let mut reached = self.reached.iter();
        if let Some(known) = reached.find(|known| known.last == after && known.members == next) {
            return budget.take(next.len() + 1).then_some(known.state);
        }
        let key = (after, next);
        let state = match self.known.get(&key) {
            Some(known) => budget.take(key.1.len() + 1).then_some(*known)?,
            None => self.following(&key, budget)?,
        };
        self.reached.push(Reached { members: key.1, last: after, state });
        Some(state)
    }

    /// Returns the number of the state after a byte, given its members before the closure, and notes it.
    fn following(&mut self, key: &(After, Box<[u32]>), budget: &mut Budget) -> Option<u32> {
        let (after, members) = key;
        let before = match after {
            After::Word => Before::Word,
            After::Newline | After::FinalNewline => Before::Newline,
            After::Other | After::End => Before::Other,
        };
        let state = self.number(before, members, *after, budget)?;
        self.known_members += members.len();
        if self.known_members <= MEMBERS_MAX {
            self.known.insert(key.clone(), state);
        }
        Some(state)
    }

    /// Returns the number of the state with these members and all that they lead to, after the
    /// byte `last`.
    fn number(
        &mut self,
        before: Before,
        members: &[u32],
        last: After,
        budget: &mut Budget,
    ) -> Option<u32> {
        let members = self.closure.of(self.nfa, members, None, budget)?;
        let Some(mut members) = members else { return Some(MATCHED.into()) };
        self.leave_out(&mut members, budget)?;
        if members.is_empty() {
            return Some(DEAD.into());
        }
        let before = if self.asks(&members) { before } else { Before::Other };
        let cannot_end = last == After::Newline;
        let subset = Subset { before, members: members.into(), cannot_end };
        if last == After::FinalNewline {
            // Nothing follows.
            let state = if self.ends(&subset, budget)? { MATCHED } else { DEAD };
            return Some(state.into());
        }
        if let Some(number) = self.numbers.get(&subset) {
            return Some(*number);
        }
        let number = u32::try_from(self.subsets.len() + 2).ok()?;
        self.members += subset.members.len();
        if self.subsets.len() >= STATES_MAX || self.members > MEMBERS_MAX {
            return None;
        }
        self.subsets.push(subset.clone());
        self.numbers.insert(subset, number);
        Some(number)
    }
}

impl Work<'_> {
    /// Leaves out each member of whose family a better one is there.
    ///
    /// A member has a family for each repetition around it. They are compared one after the other,
    /// so the better member is always one that is still there.
    fn leave_out(&mut self, members: &mut Vec<u32>, budget: &mut Budget) -> Option<()> {
        let Self { nfa, best, rounds, .. } = self;
        let relatives = |member: &u32| nfa.relatives.get(*member as usize);
        let depth = members.iter().filter_map(relatives).map(Vec::len).max().unwrap_or_default();
        for level in 0..depth {
            *rounds += 1;
            let relative = |member: &u32| relatives(member)?.get(level);
            for relative in members.iter().filter_map(relative) {
                if let Some((round, rank)) = best.get_mut(relative.family as usize) {
                    *rank =
                        if *round == *rounds { relative.rank.min(*rank) } else { relative.rank };
                    *round = *rounds;
                }
            }
            members.retain(|member| {
                relative(member).is_none_or(|relative| {
                    best.get(relative.family as usize)
                        .is_none_or(|(_, rank)| *rank == relative.rank)
                })
            });
        }
        budget.take(depth * members.len() + 1).then_some(())
    }
}

impl Closure {
    /// Returns the members that take a byte or ask for a condition, rising, of `members` and all
    /// that they lead to; `Some(None)` if that is the match, and `None` if the work is too much.
    ///
    /// Without `looks` a condition stays; with it, a condition that holds leads further.
    fn of(
        &mut self,
        nfa: &Nfa,
        members: &[u32],
        looks: Option<&dyn Fn(Look) -> bool>,
        budget: &mut Budget,
    ) -> Option<Option<Vec<u32>>> {
        self.round += 1;
        self.open.clear();
        self.open.extend(members);
        let mut met = Vec::new();
        let mut work = 1;
        while let Some(member) = self.open.pop() {
            work += 1;
            let Some(seen) = self.seen.get_mut(member as usize) else { continue };
            if std::mem::replace(seen, self.round) == self.round {
                continue;
            }
            match nfa.states.get(member as usize) {
                Some(State::Match) => return budget.take(work).then_some(None),
                Some(State::Split(to)) => self.open.extend(to),
                Some(State::Look { look, next }) => match looks {
                    None => met.push(member),
                    Some(looks) if looks(*look) => self.open.push(*next),
                    Some(_) => {}
                },
                Some(State::Set { .. }) => met.push(member),
                None => {}
            }
        }
        met.sort_unstable();
        budget.take(work).then_some(Some(met))
    }
}

/// Returns the class of each byte, and a byte of each; the last class is the final newline.
fn classes(nfa: &Nfa) -> ([u8; 256], Vec<Class>) {
    let mut sets = vec![ByteSet::NEWLINE];
    for state in &nfa.states {
        match state {
            State::Set { set, .. } => sets.push(*set),
            State::Look { look, .. } => sets.push(match look {
                // Newlines have a class of their own anyway.
                Look::Start | Look::End | Look::StartLine | Look::EndLine | Look::FinalEnd => {
                    continue;
                }
                _ => ByteSet::WORD,
            }),
            State::Split(_) | State::Match => {}
        }
    }
    sets.sort_unstable();
    sets.dedup();
    let mut numbers = HashMap::new();
    let mut byte_classes = [0; 256];
    let mut classes = Vec::new();
    for (byte, class) in (0..=u8::MAX).zip(&mut byte_classes) {
        let signature: Vec<bool> = sets.iter().map(|set| set.has(byte)).collect();
        let next = classes.len();
        let number = *numbers.entry(signature).or_insert(next);
        if number == next {
            let after = match byte {
                b'\n' => After::Newline,
                _ if ByteSet::WORD.has(byte) => After::Word,
                _ => After::Other,
            };
            classes.push(Class { byte, after });
        }
        // There are at most 256 numbers.
        *class = u8::try_from(number).unwrap_or(u8::MAX);
    }
    classes.push(Class { byte: b'\n', after: After::FinalNewline });
    (byte_classes, classes)
}
