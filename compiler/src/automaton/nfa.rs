//! The nondeterministic automaton of a regex.

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

/// A search for a regex, from any place of the text.
pub(super) struct Nfa {
    pub(super) states: Vec<State>,
    pub(super) start: u32,
}

impl Nfa {
    /// Makes the states of a regex; `None` if there are too many.
    pub(super) fn of(node: &Node) -> Option<Self> {
        let mut nfa = Self { states: Vec::new(), start: 0 };
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
            Form::Repeat { node, min, max } => {
                let mut first = next;
                match max {
                    None => {
                        first = self.push(State::Split(Vec::new()))?;
                        let again = self.add(node, first)?;
                        self.set_split(first, vec![again, next]);
                    }
                    Some(max) => {
                        for _ in *min..*max {
                            let again = self.add(node, first)?;
                            first = self.push(State::Split(vec![again, next]))?;
                        }
                    }
                }
                // A repetition of nothing makes no states, however often.
                for _ in 0..*min {
                    let before = self.add(node, first)?;
                    if before == first {
                        break;
                    }
                    first = before;
                }
                Some(first)
            }
        }
    }
}
