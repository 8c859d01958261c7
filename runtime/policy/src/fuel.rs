//! The work that one text may cause: steps of the interpreter, and bytes to parse.
//!
//! Every command, word and further reading costs steps, in all rounds together. A text that needs
//! more steps than its length pays for counts as not understood, so every text is fast.

use crate::parse::Budget;

/// The steps of the shortest text. A dense script of 64 KiB takes three quarters of its steps;
/// deliberately slow texts take more.
const STEPS_MIN: usize = 3072;
/// The bytes of a text that pay for one more step.
const BYTES_PER_STEP: usize = 6;
/// The bytes of a value copied per step. Otherwise `b=$a$a;c=$b$b;…` doubles its memory with every
/// assignment.
const VALUE_BYTES_PER_STEP: usize = 64;

/// The cost of reading a word or a command once more, with other values.
pub(crate) const READING_STEPS: usize = 2;
/// The cost of finding the options that a shortened option may mean, among all options of a
/// program.
pub(crate) const SHORTENED_STEPS: usize = 16;

/// The doubt about a text that has used up its steps.
pub(crate) const SPENT: &str = "the text runs too much";

/// The remaining steps and bytes.
#[derive(Debug)]
pub(crate) struct Fuel {
    steps: usize,
    bytes: usize,
    /// The bytes that nested texts may still spend on parsing, in this round.
    pub(crate) budget: Budget,
}

impl Fuel {
    /// Returns the fuel of a text of this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { steps: STEPS_MIN + bytes / BYTES_PER_STEP, bytes, budget: Budget::new(bytes) }
    }

    /// Begins a round: nested texts are parsed once more.
    pub(crate) fn begin_round(&mut self) {
        self.budget = Budget::new(self.bytes);
    }

    /// Spends steps; returns whether they were available. The last step is kept: a text that asks
    /// for it counts as not understood.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        if steps < self.steps {
            self.steps -= steps;
            return true;
        }
        self.steps = 0;
        false
    }

    /// Returns whether this many steps are available, without spending them.
    pub(crate) fn has(&self, steps: usize) -> bool {
        steps < self.steps
    }

    /// Returns whether the steps are spent; callers then stop.
    pub(crate) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    /// Returns the cost of copying the value of a variable or parameter, in steps. Values of the
    /// length of a word are free.
    pub(crate) fn of_value(value: &[u8]) -> usize {
        value.len() / VALUE_BYTES_PER_STEP
    }
}
