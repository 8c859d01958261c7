//! The deterministic automaton of a search, by the construction of subsets.
//!
//! A state is a set of states of the NFA, with the kind of the byte before it if a condition asks
//! for it. A set with the match is one state, [`MATCHED`]: texts match however they go on. A member
//! is left out if another one, of its family, matches every text that it does: without that, each
//! gap of `{0,16}` words would double the states sixteen times. States, memory and work are bounded.

use std::borrow::Cow;

use hashbrown::HashMap;
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

/// The classes of bytes: those that each set of the regex holds together.
struct Classes {
    /// The class of each byte.
    of_byte: [u8; 256],
    /// The number of classes; the last one is the newline that ends the text.
    count: usize,
    kinds: Vec<Kind>,
}

/// Bytes that are the same to each condition before them: the first byte of each of their classes.
struct Kind {
    after: After,
    bytes: ByteSet,
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
    let classes = Classes::of(nfa)?;
    let mut work = Work {
        nfa,
        classes: &classes,
        budget,
        numbers: HashMap::new(),
        subsets: Vec::new(),
        members: 0,
        closure: Closure { seen: vec![0; nfa.states.len()], round: 0, open: Vec::new() },
        best: vec![(0, 0); nfa.families as usize],
        rounds: 0,
        sets: Vec::new(),
        groups: Vec::new(),
        next: Vec::new(),
        known: HashMap::new(),
        known_members: 0,
    };
    let start = work.number(Before::Start, &[nfa.start], After::Other)?;
    let mut transitions: Vec<u32> = [DEAD, MATCHED]
        .into_iter()
        .flat_map(|state| std::iter::repeat_n(u32::from(state), classes.count))
        .collect();
    let (mut accepting, mut cannot_end) = (vec![false, true], vec![false, false]);
    while let Some(subset) = work.subsets.get(accepting.len() - 2).cloned() {
        accepting.push(!subset.cannot_end && work.ends(&subset)?);
        cannot_end.push(subset.cannot_end);
        let row = transitions.len();
        transitions.resize(row + classes.count, DEAD.into());
        let row = transitions.get_mut(row..).unwrap_or_default();
        classes.kinds.iter().try_for_each(|kind| work.follow(&subset, kind, row))?;
        if transitions.len() > TRANSITIONS_MAX {
            return None;
        }
    }
    let Classes { of_byte, count, kinds: _ } = classes;
    Some(Dfa { byte_classes: of_byte, classes: count, start, accepting, cannot_end, transitions })
}

struct Work<'n> {
    nfa: &'n Nfa,
    classes: &'n Classes,
    budget: &'n mut Budget,
    numbers: HashMap<Subset, u32>,
    /// The states from number 2 on.
    subsets: Vec<Subset>,
    members: usize,
    closure: Closure,
    /// The lowest rank of each family, with the round that it was met in.
    best: Vec<(u32, u32)>,
    rounds: u32,
    /// The sets of the members of the current state, and where each leads.
    sets: Vec<(ByteSet, u32)>,
    /// The bytes that lead to the same state from the current one. Most classes are in one of few.
    groups: Vec<ByteSet>,
    /// The members after one of these groups, before the closure, and the kind of the byte before them.
    next: Vec<u32>,
    /// The states that followed any one, by such lists. Many states lead to the same.
    known: HashMap<Box<[u32]>, u32>,
    /// The members of all of these.
    known_members: usize,
}

/// The states of the NFA that were met in the current round.
struct Closure {
    seen: Vec<u32>,
    round: u32,
    open: Vec<u32>,
}

impl Work<'_> {
    /// Returns whether a text that ends in a state matches.
    fn ends(&mut self, subset: &Subset) -> Option<bool> {
        let looks = |look: Look| look.holds(subset.before, After::End);
        let members = self.closure.of(self.nfa, &subset.members, Some(&looks), self.budget)?;
        Some(members.is_none())
    }

    /// Returns whether a member asks for a condition.
    fn asks(&self, members: &[u32]) -> bool {
        let asks = |member: &u32| {
            matches!(self.nfa.states.get(*member as usize), Some(State::Look { .. }))
        };
        members.iter().any(asks)
    }

    /// Writes the states after the bytes of a kind to a row.
    fn follow(&mut self, subset: &Subset, kind: &Kind, row: &mut [u32]) -> Option<()> {
        let Kind { after, bytes } = *kind;
        let members = if self.asks(&subset.members) {
            // Conditions that hold here lead further.
            let looks = |look: Look| look.holds(subset.before, after);
            let members = self.closure.of(self.nfa, &subset.members, Some(&looks), self.budget)?;
            let Some(members) = members else {
                self.classes.write(row, after, bytes, MATCHED.into());
                return Some(());
            };
            Cow::Owned(members)
        } else {
            Cow::Borrowed(&*subset.members)
        };
        self.part(&members, bytes);
        for at in 0..self.groups.len() {
            let group = self.groups.get(at).copied().unwrap_or_default();
            // To part one byte from the others takes about as much as to follow them.
            if !self.budget.take(2 * members.len() + 1) {
                return None;
            }
            let byte = group.first().unwrap_or_default();
            let mut next = std::mem::take(&mut self.next);
            next.clear();
            next.extend(self.sets.iter().filter(|(set, _)| set.has(byte)).map(|(_, to)| *to));
            let state = self.after(after, &mut next);
            self.next = next;
            self.classes.write(row, after, group, state?);
        }
        Some(())
    }

    /// Notes the sets of the members, and makes the groups of these bytes, which each set holds together.
    fn part(&mut self, members: &[u32], bytes: ByteSet) {
        let Self { nfa, sets, groups, .. } = self;
        sets.clear();
        sets.extend(members.iter().filter_map(|member| match nfa.states.get(*member as usize) {
            Some(State::Set { set, next }) => Some((*set, *next)),
            _ => None,
        }));
        groups.clear();
        groups.push(bytes);
        for (set, _) in sets {
            for at in 0..groups.len() {
                let Some(group) = groups.get_mut(at) else { break };
                let (within, without) = (group.and(*set), group.and(set.not()));
                if within != ByteSet::default() && without != ByteSet::default() {
                    *group = within;
                    groups.push(without);
                }
            }
        }
    }

    /// Returns the state after a byte, given its members before the closure.
    fn after(&mut self, after: After, members: &mut Vec<u32>) -> Option<u32> {
        let count = members.len();
        members.push(after as u32);
        if let Some(known) = self.known.get(&**members) {
            return self.budget.take(count + 1).then_some(*known);
        }
        let before = match after {
            After::Word => Before::Word,
            After::Newline | After::FinalNewline => Before::Newline,
            After::Other | After::End => Before::Other,
        };
        let state = self.number(before, members.get(..count).unwrap_or_default(), after)?;
        self.known_members += count;
        if self.known_members <= MEMBERS_MAX {
            self.known.insert(members.as_slice().into(), state);
        }
        Some(state)
    }

    /// Returns the number of the state with these members and all that they lead to, after the
    /// byte `last`.
    fn number(&mut self, before: Before, members: &[u32], last: After) -> Option<u32> {
        let members = self.closure.of(self.nfa, members, None, self.budget)?;
        let Some(mut members) = members else { return Some(MATCHED.into()) };
        self.leave_out(&mut members)?;
        if members.is_empty() {
            return Some(DEAD.into());
        }
        let before = if self.asks(&members) { before } else { Before::Other };
        let cannot_end = last == After::Newline;
        let subset = Subset { before, members: members.into(), cannot_end };
        if last == After::FinalNewline {
            // Nothing follows.
            let state = if self.ends(&subset)? { MATCHED } else { DEAD };
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
    fn leave_out(&mut self, members: &mut Vec<u32>) -> Option<()> {
        let Self { nfa, budget, best, rounds, .. } = self;
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

impl Classes {
    /// Returns the classes of the bytes; `None` if there are too many.
    fn of(nfa: &Nfa) -> Option<Self> {
        let mut sets = vec![ByteSet::NEWLINE];
        // The bytes that a condition takes for those of a word.
        let mut words = ByteSet::default();
        for state in &nfa.states {
            match state {
                State::Set { set, .. } => sets.push(*set),
                State::Look { look, .. } => match look {
                    // Newlines have a class of their own anyway.
                    Look::Start | Look::End | Look::StartLine | Look::EndLine | Look::FinalEnd => {}
                    Look::Word
                    | Look::NotWord
                    | Look::WordStart
                    | Look::WordEnd
                    | Look::WordStartHalf
                    | Look::WordEndHalf => words = ByteSet::WORD,
                },
                State::Split(_) | State::Match => {}
            }
        }
        sets.push(words);
        sets.sort_unstable();
        sets.dedup();
        let mut numbers = HashMap::new();
        let mut of_byte = [0; 256];
        let mut firsts = ByteSet::default();
        for (byte, class) in (0..=u8::MAX).zip(&mut of_byte) {
            let signature: Vec<bool> = sets.iter().map(|set| set.has(byte)).collect();
            let next = numbers.len();
            let number = *numbers.entry(signature).or_insert(next);
            if number == next {
                firsts = firsts.or(ByteSet::of_range(byte, byte));
            }
            *class = u8::try_from(number).ok()?;
        }
        let count = numbers.len() + 1;
        let kinds = [
            (After::Newline, ByteSet::NEWLINE),
            (After::Word, firsts.and(words)),
            (After::Other, firsts.and(words.or(ByteSet::NEWLINE).not())),
            (After::FinalNewline, ByteSet::NEWLINE),
        ];
        let kinds = kinds.map(|(after, bytes)| Kind { after, bytes }).into_iter();
        let kinds = kinds.filter(|kind| kind.bytes != ByteSet::default()).collect();
        (count <= 256).then_some(Self { of_byte, count, kinds })
    }

    /// Writes a state to a row, at the classes of these bytes.
    fn write(&self, row: &mut [u32], after: After, bytes: ByteSet, state: u32) {
        for byte in bytes.iter() {
            let class = match after {
                After::FinalNewline => self.count - 1,
                _ => usize::from(self.of_byte.get(usize::from(byte)).copied().unwrap_or_default()),
            };
            if let Some(slot) = row.get_mut(class) {
                *slot = state;
            }
        }
    }
}
