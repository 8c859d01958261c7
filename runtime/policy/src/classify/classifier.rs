//! The state of a classification.

use std::rc::Rc;

use super::hit::{Axes, Cause, Hit, Verdict};
use super::rules::Rules;
use super::stream::{Content, Stream};
use crate::facts::Facts;
use crate::parse::Budget;
use crate::shell::Shell;
use crate::span::Span;
use crate::syntax::Script;
use crate::text::{Text, TextBuilder};
use crate::tier::{Floor, Tier};

/// How deep texts of code may be in each other.
pub(super) const NESTING_MAX: u8 = 8;
/// How many programs may run each other.
pub(super) const WRAPPERS_MAX: u8 = 24;
/// How many readings of one command are compared.
pub(super) const READINGS_MAX: usize = 8;
/// How many files are remembered that came over a network, or that the text makes.
const FILES_MAX: usize = 64;
/// What it costs to read a word or a command once more, with other values.
pub(super) const READING_STEPS: usize = 2;
/// How many hits of one text are kept; the others are counted.
const HITS_MAX: usize = 64;
/// How often a text is read until its variables do not change any more.
pub(super) const ROUNDS_MAX: usize = 3;
/// The commands and words that may be looked at, in all rounds together: so many in any case, and one more for
/// so many bytes of the text. A dense script of 64 KiB takes three quarters of them; texts made to be slow take more.
const STEPS_MIN: usize = 3072;
const BYTES_PER_STEP: usize = 6;
/// What it costs to find the options that a shortened one may mean, among all of a program.
pub(super) const SHORTENED_STEPS: usize = 16;
/// How many bytes of values may be copied for one step. Without a limit, `b=$a$a;c=$b$b;…` doubles its
/// memory with every assignment.
const VALUE_BYTES_PER_STEP: usize = 64;

/// A parsed text, with the place of each byte in the text that is classified.
#[derive(Clone, Copy)]
pub(super) struct Code<'c> {
    pub(super) text: &'c str,
    pub(super) place: &'c Text<'c>,
    pub(super) script: &'c Script,
}

impl<'c> Code<'c> {
    /// Returns where a span of this text is in the text that is classified.
    pub(super) fn place(&self, span: Span) -> Span {
        self.place.place_of(span)
    }

    pub(super) fn slice(&self, span: Span) -> &'c str {
        span.of(self.text)
    }
}

/// A file that the text writes.
struct Made {
    path: Vec<u8>,
    /// What it holds, if that is known.
    text: Option<Rc<Text<'static>>>,
    /// Whether words of it may be options.
    makes_options: bool,
}

/// The state of one classification.
pub(super) struct Classifier<'f> {
    pub(super) facts: &'f Facts<'f>,
    pub(super) rules: &'f Rules,
    pub(super) shell: Shell,
    hits: Vec<Hit>,
    /// The hits of the round before this one.
    before: Vec<Hit>,
    /// The last byte that any of the hits begins with: one that begins after it is new.
    furthest: u32,
    /// The lowest tier of the hits once there are too many: one that is no higher takes no place.
    lowest: Tier,
    omitted: usize,
    pub(super) axes: Axes,
    /// Whether a program may have read some of standard input.
    pub(super) takes_input: bool,
    /// The files that came over a network.
    fetched: Vec<Vec<u8>>,
    /// The files that the text writes.
    made: Vec<Made>,
    /// What nested texts may still spend on parsing.
    pub(super) budget: Budget,
    steps: usize,
    bytes: usize,
}

impl<'f> Classifier<'f> {
    pub(super) fn new(facts: &'f Facts<'f>, rules: &'f Rules, bytes: usize) -> Self {
        Self {
            facts,
            rules,
            shell: Shell::default(),
            hits: Vec::new(),
            before: Vec::new(),
            furthest: 0,
            lowest: Tier::ReadOnly,
            omitted: 0,
            axes: Axes::default(),
            takes_input: false,
            fetched: Vec::new(),
            made: Vec::new(),
            budget: Budget::new(bytes),
            steps: STEPS_MIN + bytes / BYTES_PER_STEP,
            bytes,
        }
    }

    /// Begins a round.
    pub(super) fn forget(&mut self) {
        self.before = std::mem::take(&mut self.hits);
        self.furthest = 0;
        self.lowest = Tier::ReadOnly;
        self.omitted = 0;
        self.axes = Axes::default();
        self.fetched.clear();
        self.made.clear();
        self.budget = Budget::new(self.bytes);
    }

    /// Notes a file that came over a network.
    pub(super) fn fetch(&mut self, path: Vec<u8>) {
        if self.fetched.len() < FILES_MAX {
            self.fetched.push(path);
        }
    }

    /// Returns whether a file may have come over a network.
    pub(super) fn is_fetched(&self, path: &[u8]) -> bool {
        self.fetched.len() >= FILES_MAX || self.fetched.iter().any(|fetched| fetched == path)
    }

    /// Notes a file that the text writes.
    pub(super) fn make(&mut self, path: Vec<u8>, written: &Stream, is_added: bool) {
        let makes_options = written.makes_options();
        let mut text = match &written.content {
            Content::Literal(text) => Some(Rc::clone(text)),
            _ => None,
        };
        if text.is_none() && !makes_options {
            return;
        }
        let before = self.made.iter().rev().find(|made| is_added && made.path == path);
        if let Some(before) = before {
            text = match (&before.text, text) {
                (Some(before), Some(added)) => {
                    let mut whole = TextBuilder::new(before.span);
                    whole.push_text(before);
                    whole.push_text(&added);
                    Some(Rc::new(whole.finish()))
                }
                _ => None,
            };
        }
        if self.made.len() < FILES_MAX {
            self.made.push(Made { path, text, makes_options });
        }
    }

    /// Returns whether a file may hold words that the text makes and that may be options.
    pub(super) fn is_made(&self, path: &[u8]) -> bool {
        self.made.len() >= FILES_MAX
            || self.made.iter().any(|made| made.makes_options && made.path == path)
    }

    /// Returns what the text writes to a file.
    pub(super) fn made_texts(&self, path: &[u8]) -> Vec<Rc<Text<'static>>> {
        let texts = self.made.iter().filter(|made| made.path == path);
        texts.filter_map(|made| made.text.clone()).collect()
    }

    /// Spends steps. The last one is never spent: without it the text counts as not understood.
    pub(super) fn step(&mut self, count: usize, at: Span) -> bool {
        if count < self.steps {
            self.steps -= count;
            return true;
        }
        self.steps = 0;
        self.unparsed(at, "the text runs too much");
        false
    }

    /// Returns whether there are that many steps, without spending them; if not, as `step`.
    pub(super) fn affords(&mut self, count: usize, at: Span) -> bool {
        count < self.steps || self.step(count, at)
    }

    /// Returns whether the text was given up: then nothing more needs a look.
    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    /// Spends the steps that the value of a variable or parameter costs: a short one, of the length of a
    /// word, costs none.
    pub(super) fn expands(&mut self, value: &[u8], at: Span) -> bool {
        self.step(value.len() / VALUE_BYTES_PER_STEP, at)
    }

    pub(super) fn hit(&mut self, tier: Tier, span: Span, cause: Cause) {
        if tier == Tier::ReadOnly {
            return;
        }
        self.keep(Hit { tier, span, cause, place: None, called: None });
    }

    /// Keeps a hit, unless there is an equal one or there are too many.
    pub(super) fn keep(&mut self, hit: Hit) {
        if hit.span.start <= self.furthest && self.hits.contains(&hit) {
            return;
        }
        if self.hits.len() < HITS_MAX {
            self.furthest = self.furthest.max(hit.span.start);
            self.hits.push(hit);
            return;
        }
        self.omitted += 1;
        if hit.tier <= self.lowest {
            return;
        }
        // The highest tier is always among those that are kept.
        if let Some(lowest) = self.hits.iter_mut().min_by_key(|kept| kept.tier) {
            self.lowest = lowest.tier;
            if lowest.tier < hit.tier {
                self.furthest = self.furthest.max(hit.span.start);
                *lowest = hit;
            }
        }
    }

    pub(super) fn floor(&mut self, floor: Floor, span: Span, reason: &'static str) {
        self.hit(self.rules.floors.tier(floor), span, Cause::Floor { floor, reason });
    }

    pub(super) fn unparsed(&mut self, span: Span, reason: &'static str) {
        self.floor(Floor::Unparsed, span, reason);
    }

    pub(super) fn finish(mut self, text: &str) -> Verdict {
        // A round that was given up did not reach all that the one before it found.
        if self.is_spent() {
            for hit in std::mem::take(&mut self.before) {
                self.keep(hit);
            }
        }
        self.hits.sort_by_key(|hit| (std::cmp::Reverse(hit.tier), hit.span));
        let tier = self.hits.first().map_or(Tier::ReadOnly, |hit| hit.tier);
        for hit in &mut self.hits {
            hit.span = within(hit.span, text);
        }
        let Axes { programs, reads, writes, hosts, privilege } = self.axes;
        let (hits, omitted) = (self.hits, self.omitted);
        Verdict { tier, hits, omitted, programs, reads, writes, hosts, privilege }
    }
}

/// Returns a span that lies in the text, at characters.
fn within(span: Span, text: &str) -> Span {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary((span.end as usize).min(text.len())).max(start);
    Span::new(start, end)
}
