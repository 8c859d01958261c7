//! The nondeterministic automaton of a regex.

use std::ops::Range;

use super::syntax::{ByteSet, Form, Look, Node};

/// The most states: a count of a count soon makes millions.
const STATES_MAX: usize = 1 << 16;

/// A state.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// A byte of the set leads to `next`.
    Set {
        set: ByteSet,
        next: u32,
    },
    /// The condition leads to `next` without a byte.
    Look {
        look: Look,
        next: u32,
    },
    /// Leads to each of these without a byte.
    Split(Vec<u32>),
    Match,
}

/// A state among those of the same place in the copies of a repetition.
///
/// Whatever matches from a state of the family also matches from one of a lower rank: more copies
/// may follow there, or fewer must.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relative {
    pub(super) family: u32,
    pub(super) rank: u32,
}

/// A search for a regex, from any place of the text.
pub(super) struct Nfa {
    pub(super) states: Vec<State>,
    pub(super) start: u32,
    /// The families of each state, those of inner repetitions first.
    pub(super) relatives: Vec<Vec<Relative>>,
    pub(super) families: u32,
}

impl Nfa {
    /// Makes the states of a regex; `None` if there are too many.
    pub(super) fn of(node: &Node) -> Option<Self> {
        let mut nfa = Self { states: Vec::new(), start: 0, relatives: Vec::new(), families: 0 };
        let end = nfa.push(State::Match)?;
        let first = nfa.add(node, end)?;
        // Any byte may precede the match.
        nfa.start = nfa.push(State::Split(Vec::new()))?;
        let any = nfa.push(State::Set { set: ByteSet::ALL, next: nfa.start })?;
        nfa.set_split(nfa.start, vec![first, any]);
        Some(nfa)
    }

    fn push(&mut self, state: State) -> Option<u32> {
        if self.states.len() >= STATES_MAX {
            return None;
        }
        let number = u32::try_from(self.states.len()).ok()?;
        self.states.push(state);
        self.relatives.push(Vec::new());
        Some(number)
    }

    fn set_split(&mut self, number: u32, to: Vec<u32>) {
        if let Some(state) = self.states.get_mut(number as usize) {
            *state = State::Split(to);
        }
    }

    /// Adds the states of a part that leads to `next`; returns its first state.
    fn add(&mut self, node: &Node, next: u32) -> Option<u32> {
        match &node.form {
            Form::Set(set) => self.push(State::Set { set: *set, next }),
            Form::Look(look) => self.push(State::Look { look: *look, next }),
            Form::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.add(part, next))
            }
            Form::Alternate(branches) => {
                let firsts: Option<Vec<u32>> =
                    branches.iter().map(|branch| self.add(branch, next)).collect();
                self.push(State::Split(firsts?))
            }
            Form::Repeat { node, min, max } => self.repeat(node, (*min, *max), next),
        }
    }

    fn repeat(&mut self, node: &Node, (min, max): (u32, Option<u32>), next: u32) -> Option<u32> {
        let mut first = next;
        let mut copies = Vec::new();
        match max {
            None => {
                first = self.push(State::Split(Vec::new()))?;
                let again = self.copy(node, first, &mut copies)?;
                self.set_split(first, vec![again, next]);
            }
            Some(max) => {
                for _ in min..max {
                    let again = self.copy(node, first, &mut copies)?;
                    first = self.push(State::Split(vec![again, next]))?;
                }
            }
        }
        let optional = copies.len();
        for _ in 0..min {
            let before = self.copy(node, first, &mut copies)?;
            // A repetition of nothing makes no states, however often.
            if before == first {
                break;
            }
            first = before;
        }
        // The best copy is the loop, or the first one that may be left out.
        if max.is_some() {
            copies.truncate(optional);
            copies.reverse();
        }
        self.relate(&copies);
        Some(first)
    }

    /// Adds a copy of a repeated part, as [`Self::add`], and its states to `copies`.
    fn copy(&mut self, node: &Node, next: u32, copies: &mut Vec<Range<usize>>) -> Option<u32> {
        let begin = self.states.len();
        let first = self.add(node, next)?;
        copies.push(begin..self.states.len());
        Some(first)
    }

    /// Makes families of the states of copies, the best copy first.
    fn relate(&mut self, copies: &[Range<usize>]) {
        let Some(size) = copies.first().filter(|_| copies.len() > 1).map(Range::len) else {
            return;
        };
        for (rank, copy) in (0u32..).zip(copies) {
            // Copies have the same states in the same order.
            for (family, state) in (self.families..).zip(copy.clone()) {
                if let Some(relatives) = self.relatives.get_mut(state) {
                    relatives.push(Relative { family, rank });
                }
            }
        }
        self.families += u32::try_from(size).unwrap_or_default();
    }
}
