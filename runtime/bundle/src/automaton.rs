//! Automata: the form of regexes that a server runs, used in place.
//!
//! An automaton reads a text byte by byte and then says whether the regex matches anywhere in it.
//! Its record is a head, the class of each byte, and a table with a row a state and a column a
//! class. State 0 never matches and state 1 always does; neither is left, so reading ends there.
//!
//! A newline that ends the text has a class of its own, since the `$` of Python also matches before
//! it.

use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::Corrupt;

/// The most states of an automaton.
pub const AUTOMATON_STATES_MAX: usize = 4_096;

/// The state of texts that cannot match, however they go on.
pub const DEAD: u16 = 0;
/// The state of texts that match, however they go on.
pub const MATCHED: u16 = 1;

const SECTION: &str = "automata";

/// A minimal automaton as the compiler makes it.
///
/// Equal languages have equal automata: states are numbered in the order of a breadth-first walk,
/// classes in the order of their first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomatonParts {
    /// The class of each byte.
    pub byte_classes: [u8; 256],
    /// The class of a newline at the end of the text.
    pub final_newline: u8,
    /// The number of classes.
    pub classes: u16,
    /// The state before the first byte.
    pub start: u16,
    /// The first of the states in which a text that ends there matches, beside [`MATCHED`].
    pub accepting: u16,
    /// The next state, a row a state and a column a class.
    pub transitions: Vec<u16>,
    /// Sets of literals; each matching text has a literal of each set, with ASCII letters in
    /// either case. They are in lower case. The index of a table uses one of the sets.
    pub literals: Vec<Vec<Vec<u8>>>,
}

/// The beginning of a record; its rows of states follow.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    states: U16,
    classes: U16,
    start: U16,
    accepting: U16,
    final_newline: u8,
    zero: u8,
    byte_classes: [u8; 256],
}

impl AutomatonParts {
    /// Returns the number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.transitions.len() / usize::from(self.classes).max(1)
    }

    /// Returns the record, without the literals.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { byte_classes, final_newline, classes, start, accepting, transitions, .. } = self;
        let head = Head {
            states: u16::try_from(self.states()).unwrap_or(u16::MAX).into(),
            classes: (*classes).into(),
            start: (*start).into(),
            accepting: (*accepting).into(),
            final_newline: *final_newline,
            zero: 0,
            byte_classes: *byte_classes,
        };
        let mut bytes = head.as_bytes().to_vec();
        bytes.extend(transitions.iter().flat_map(|state| state.to_le_bytes()));
        bytes
    }
}

/// An automaton, in place.
#[derive(Clone, Copy)]
pub struct Automaton<'b> {
    head: &'b Head,
    transitions: &'b [U16],
}

impl<'b> Automaton<'b> {
    /// Reads a record and checks all of it, in time linear in its length.
    ///
    /// # Errors
    ///
    /// The record is invalid.
    pub fn open(record: &'b [u8]) -> Result<Self, Corrupt> {
        let automaton = Self::split(record)?;
        automaton.check()?;
        Ok(automaton)
    }

    /// Reads the head of a record alone. An invalid state never matches.
    pub(crate) fn split(record: &'b [u8]) -> Result<Self, Corrupt> {
        let (head, rest) = Head::ref_from_prefix(record).map_err(|_| wrong("length"))?;
        let transitions = <[U16]>::ref_from_bytes(rest).map_err(|_| wrong("length"))?;
        if usize::from(head.states.get()) * usize::from(head.classes.get()) != transitions.len() {
            return Err(wrong("length"));
        }
        Ok(Self { head, transitions })
    }

    /// Checks that every byte leads from every state to a state.
    pub(crate) fn check(&self) -> Result<(), Corrupt> {
        let Head { states, classes, start, accepting, final_newline, zero, byte_classes } =
            self.head;
        let (states, classes) = (states.get(), classes.get());
        if !(2..=AUTOMATON_STATES_MAX).contains(&usize::from(states)) {
            return Err(wrong("number of states"));
        }
        let class_max = byte_classes.iter().fold(*final_newline, |max, class| max.max(*class));
        if classes == 0 || u16::from(class_max) >= classes {
            return Err(wrong("class"));
        }
        if start.get() >= states || !(2..=states).contains(&accepting.get()) || *zero != 0 {
            return Err(wrong("start"));
        }
        if self.transitions.iter().fold(0, |max, state| max.max(state.get())) >= states {
            return Err(wrong("state"));
        }
        for state in [DEAD, MATCHED] {
            let row = usize::from(state) * usize::from(classes);
            let row = self.transitions.get(row..row + usize::from(classes)).unwrap_or_default();
            if !row.iter().all(|next| next.get() == state) {
                return Err(wrong("last state"));
            }
        }
        Ok(())
    }

    /// Returns whether the regex matches anywhere in `text`, which may hold any bytes.
    #[must_use]
    pub fn matches(&self, text: &[u8]) -> bool {
        let (text, has_final_newline) = match text.split_last() {
            Some((b'\n', before)) => (before, true),
            _ => (text, false),
        };
        let classes = usize::from(self.head.classes.get());
        let next = |state: u16, class: u8| {
            let at = usize::from(state) * classes + usize::from(class);
            self.transitions.get(at).map_or(DEAD, |next| next.get())
        };
        let mut state = self.head.start.get();
        for byte in text {
            if state <= MATCHED {
                break;
            }
            let class = self.head.byte_classes.get(usize::from(*byte));
            state = next(state, class.copied().unwrap_or_default());
        }
        if has_final_newline {
            state = next(state, self.head.final_newline);
        }
        state == MATCHED || state >= self.head.accepting.get()
    }

    /// Returns whether no text matches.
    #[must_use]
    pub fn matches_nothing(&self) -> bool {
        self.head.start.get() == DEAD
    }

    /// Returns whether every text matches.
    #[must_use]
    pub fn matches_everything(&self) -> bool {
        self.head.start.get() == MATCHED
    }

    /// Returns the number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        usize::from(self.head.states.get())
    }

    /// Returns the parts again, without the literals.
    #[must_use]
    pub fn parts(&self) -> AutomatonParts {
        AutomatonParts {
            byte_classes: self.head.byte_classes,
            final_newline: self.head.final_newline,
            classes: self.head.classes.get(),
            start: self.head.start.get(),
            accepting: self.head.accepting.get(),
            transitions: self.transitions.iter().map(|state| state.get()).collect(),
            literals: Vec::new(),
        }
    }
}

fn wrong(what: &'static str) -> Corrupt {
    Corrupt::Record { section: SECTION, what }
}
