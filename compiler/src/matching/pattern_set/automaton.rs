//! Patterns as one automaton, whose states are found as they are needed.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use relay_engine::glob::{self, Part};

use super::alphabet::Alphabet;
use super::limit::{TRIED_STATES_MAX, TRIED_STEPS_MAX, TooMany};

/// Patterns as one automaton. A *place* is before a part of a pattern or at the end of one; the
/// places of a pattern follow each other, and those of all patterns are numbered together.
#[derive(Debug)]
pub(super) struct Automaton {
    /// For each place, its pattern and the part that follows.
    places: Vec<Place>,
    /// The place where each pattern begins.
    starts: Vec<u32>,
    alphabet: Alphabet,
    /// For each kind of part: the classes of the alphabet that it matches.
    kinds: Vec<Vec<bool>>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    pattern: usize,
    next: Next,
}

#[derive(Debug, Clone, Copy)]
enum Next {
    Run,
    /// One character, of this kind of part.
    One(usize),
    End,
}

/// The places that a name may have reached, rising; each once.
type State = Rc<[u32]>;

impl Automaton {
    /// Joins patterns.
    pub(super) fn new(patterns: &[&str]) -> Result<Self, TooMany> {
        let mut known: HashMap<Part<'_>, usize> = HashMap::new();
        let mut parts = Vec::new();
        let (mut places, mut starts) = (Vec::new(), Vec::new());
        for (pattern, text) in patterns.iter().enumerate() {
            starts.push(u32::try_from(places.len()).map_err(|_| TooMany)?);
            let mut after_run = false;
            for part in glob::parts(text) {
                // Two adjacent runs are one.
                let is_run = part == Part::Run;
                if is_run && after_run {
                    continue;
                }
                after_run = is_run;
                let next = if is_run {
                    Next::Run
                } else {
                    Next::One(*known.entry(part).or_insert_with(|| {
                        parts.push(part);
                        parts.len() - 1
                    }))
                };
                places.push(Place { pattern, next });
            }
            places.push(Place { pattern, next: Next::End });
        }
        let alphabet = Alphabet::of(&parts)?;
        let kinds = parts
            .iter()
            .map(|part| alphabet.letters.iter().map(|letter| part.has(*letter)).collect())
            .collect();
        Ok(Self { places, starts, alphabet, kinds })
    }

    /// Calls `visit` for each state that a name leads to, shortest names first, with the patterns
    /// that match such a name and the name.
    ///
    /// The states after a state are explored only if `is_open` returns true. It gets the patterns
    /// that may still match there, and those that match every continuation.
    ///
    /// # Errors
    ///
    /// There are over [`TRIED_STATES_MAX`] states, or they take over [`TRIED_STEPS_MAX`] steps.
    pub(super) fn explore(
        &self,
        is_open: impl Fn(&[usize], &[usize]) -> bool,
        mut visit: impl FnMut(&[usize], &dyn Fn() -> String) -> ControlFlow<()>,
    ) -> Result<(), TooMany> {
        let start = self.state(self.starts.clone());
        let mut numbers: HashMap<State, usize> = HashMap::from([(start.clone(), 0)]);
        let mut states = vec![start];
        // For each state the state before it, and the class that led from there, except for the
        // first.
        let mut origins: Vec<(usize, char)> = vec![(0, '\0')];
        let (mut current, mut steps) = (0, 0);
        let mut start_is_visited = false;
        while let Some(state) = states.get(current).cloned() {
            let [alive, forever] = self.patterns_of(&state);
            if is_open(&alive, &forever) {
                for (class, letter) in self.alphabet.letters.iter().enumerate() {
                    steps += state.len() + 1;
                    if steps > TRIED_STEPS_MAX {
                        return Err(TooMany);
                    }
                    let next = self.after(&state, class);
                    let is_new = match numbers.get(&next) {
                        None => {
                            if states.len() == TRIED_STATES_MAX {
                                return Err(TooMany);
                            }
                            numbers.insert(next.clone(), states.len());
                            states.push(next.clone());
                            origins.push((current, *letter));
                            true
                        }
                        // The empty text is excluded from names, but a name may lead to the same
                        // state.
                        Some(0) => !std::mem::replace(&mut start_is_visited, true),
                        Some(_) => false,
                    };
                    let witness = || name_of(&origins, current) + &letter.to_string();
                    if is_new && visit(&self.accepted(&next), &witness).is_break() {
                        return Ok(());
                    }
                }
            }
            current += 1;
        }
        Ok(())
    }

    /// Returns the state after a character of a class.
    fn after(&self, state: &[u32], class: usize) -> State {
        let mut places = Vec::new();
        for number in state {
            match self.place(*number).map(|place| place.next) {
                Some(Next::Run) => places.push(*number),
                Some(Next::One(kind)) if self.has(kind, class) => places.push(*number + 1),
                Some(Next::One(_) | Next::End) | None => {}
            }
        }
        self.state(places)
    }

    /// Returns the state of places: a run may be empty, so the place after it belongs to the state
    /// too. Places before a run are left out: a match from there is also a match from the run.
    fn state(&self, mut places: Vec<u32>) -> State {
        let is_run =
            |number: u32| self.place(number).is_some_and(|place| matches!(place.next, Next::Run));
        let after_runs: Vec<u32> = places
            .iter()
            .copied()
            .filter(|number| is_run(*number))
            .map(|number| number + 1)
            .collect();
        places.extend(after_runs);
        places.sort_unstable();
        places.dedup();
        let mut with_run = None;
        let mut kept: Vec<u32> = Vec::with_capacity(places.len());
        for number in places.into_iter().rev() {
            let pattern = self.place(number).map(|place| place.pattern);
            if with_run.is_some() && with_run == pattern {
                continue;
            }
            if is_run(number) {
                with_run = pattern;
            }
            kept.push(number);
        }
        kept.reverse();
        kept.into()
    }

    /// Returns the patterns that match a name which led to a state.
    fn accepted(&self, state: &[u32]) -> Vec<usize> {
        let places = state.iter().filter_map(|number| self.place(*number));
        places.filter(|place| matches!(place.next, Next::End)).map(|place| place.pattern).collect()
    }

    /// Returns the patterns that may still match a longer name, and those that match all of them.
    fn patterns_of(&self, state: &[u32]) -> [Vec<usize>; 2] {
        let (mut alive, mut forever) = (Vec::new(), Vec::new());
        for number in state {
            let Some(place) = self.place(*number) else { continue };
            match place.next {
                Next::End => {}
                Next::One(_) => alive.push(place.pattern),
                Next::Run => {
                    alive.push(place.pattern);
                    let after = self.place(*number + 1);
                    if after.is_some_and(|after| matches!(after.next, Next::End)) {
                        forever.push(place.pattern);
                    }
                }
            }
        }
        [alive, forever]
    }

    fn place(&self, number: u32) -> Option<Place> {
        self.places.get(number as usize).copied()
    }

    fn has(&self, kind: usize, class: usize) -> bool {
        self.kinds.get(kind).and_then(|classes| classes.get(class)).copied().unwrap_or(false)
    }
}

/// Returns the name that led to a state.
fn name_of(origins: &[(usize, char)], mut state: usize) -> String {
    let mut letters = Vec::new();
    while state != 0
        && let Some((before, letter)) = origins.get(state)
    {
        letters.push(*letter);
        state = *before;
    }
    letters.into_iter().rev().collect()
}
