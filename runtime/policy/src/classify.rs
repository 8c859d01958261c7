//! Text -> tier, with the words that raised it.
//!
//! The classifier goes through everything that the text may run, in the order in which a shell would,
//! and joins what it finds. It never guesses downwards: what is not known has a floor, and a text that is
//! read again because a variable got a value later is read until nothing changes.

mod arguments;
mod call;
mod command;
mod expand;
mod hit;
mod nested;
mod redirect;
mod role;
mod special;
mod stream;

pub use hit::{Cause, Hit, Verdict};

use crate::facts::Facts;
use crate::parse::{self, Budget};
use crate::shell::{Frame, Shell};
use crate::span::Span;
use crate::text::Text;
use crate::tier::{Floor, Floors, Tier};
use hit::Axes;
use stream::Stream;

/// How deep texts of code may be in each other.
const NESTING_MAX: u8 = 8;
/// How many programs may run each other.
const WRAPPERS_MAX: u8 = 24;
/// How many readings of one command are compared.
const READINGS_MAX: usize = 8;
/// How many hits of one text are kept; the others are counted.
const HITS_MAX: usize = 64;
/// How often a text is read until its variables do not change any more.
const ROUNDS_MAX: usize = 3;
/// The commands and words that may be looked at, for each byte of the text and in any case.
const STEPS_PER_BYTE: usize = 2;
const STEPS_MIN: usize = 4096;

/// What decides how a text is judged, beside the facts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// The tiers of doubts.
    pub floors: Floors,
}

/// Classifies a text.
#[must_use]
pub fn classify(text: &str, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    let mut classifier = Classifier::new(facts, rules, text.len());
    let script = match parse::parse(text) {
        Ok(script) => script,
        Err(error) => {
            let at = Span { start: error.at, end: error.at.saturating_add(1) };
            classifier.unparsed(at, error.reason);
            return classifier.finish(text);
        }
    };
    let place = Text::exact(text.as_bytes(), Span::new(0, text.len()));
    for round in 1.. {
        classifier.shell.begin();
        classifier.forget();
        let code = Code { text, place: &place, script: &script };
        let mut frame = Frame::default();
        classifier.list(&code, &script.body, &mut frame, &Stream::default());
        if !classifier.shell.is_stale || round > ROUNDS_MAX {
            break;
        }
        if round == ROUNDS_MAX {
            classifier.shell.lose();
        }
    }
    classifier.finish(text)
}

/// Returns the verdict on bytes that are no text, such as broken UTF-8.
#[must_use]
pub fn classify_bytes(bytes: &[u8], facts: &Facts<'_>, rules: &Rules) -> Verdict {
    match str::from_utf8(bytes) {
        Ok(text) => classify(text, facts, rules),
        Err(error) => {
            let mut classifier = Classifier::new(facts, rules, 0);
            let at = error.valid_up_to();
            classifier.unparsed(Span::new(at, at + 1), "broken UTF-8");
            classifier.finish("")
        }
    }
}

/// A parsed text, with the place of each byte in the text that is classified.
#[derive(Clone, Copy)]
struct Code<'c> {
    text: &'c str,
    place: &'c Text<'c>,
    script: &'c crate::syntax::Script,
}

impl<'c> Code<'c> {
    /// Returns where a span of this text is in the text that is classified.
    fn place(&self, span: Span) -> Span {
        self.place.place_of(span)
    }

    fn slice(&self, span: Span) -> &'c str {
        span.of(self.text)
    }
}

/// The state of one classification.
struct Classifier<'f> {
    facts: &'f Facts<'f>,
    rules: &'f Rules,
    shell: Shell,
    hits: Vec<Hit>,
    omitted: usize,
    axes: Axes,
    /// What nested texts may still spend on parsing.
    budget: Budget,
    steps: usize,
    bytes: usize,
}

impl<'f> Classifier<'f> {
    fn new(facts: &'f Facts<'f>, rules: &'f Rules, bytes: usize) -> Self {
        Self {
            facts,
            rules,
            shell: Shell::default(),
            hits: Vec::new(),
            omitted: 0,
            axes: Axes::default(),
            budget: Budget::new(bytes),
            steps: 0,
            bytes,
        }
    }

    /// Begins a round.
    fn forget(&mut self) {
        self.hits.clear();
        self.omitted = 0;
        self.axes = Axes::default();
        self.budget = Budget::new(self.bytes);
        self.steps = STEPS_MIN + self.bytes * STEPS_PER_BYTE;
    }

    /// Spends steps; without any left the text counts as not understood.
    fn step(&mut self, count: usize, at: Span) -> bool {
        if let Some(left) = self.steps.checked_sub(count) {
            self.steps = left;
            return true;
        }
        self.unparsed(at, "the text runs too much");
        false
    }

    fn hit(&mut self, tier: Tier, span: Span, cause: Cause) {
        if tier == Tier::ReadOnly {
            return;
        }
        self.keep(Hit { tier, span, cause, place: None });
    }

    /// Keeps a hit, unless there is an equal one or there are too many.
    fn keep(&mut self, hit: Hit) {
        if self.hits.contains(&hit) {
            return;
        }
        if self.hits.len() < HITS_MAX {
            self.hits.push(hit);
            return;
        }
        self.omitted += 1;
        // The highest tier is always among those that are kept.
        if let Some(lowest) = self.hits.iter_mut().min_by_key(|kept| kept.tier)
            && lowest.tier < hit.tier
        {
            *lowest = hit;
        }
    }

    fn floor(&mut self, floor: Floor, span: Span, reason: &'static str) {
        self.hit(self.rules.floors.tier(floor), span, Cause::Floor { floor, reason });
    }

    fn unparsed(&mut self, span: Span, reason: &'static str) {
        self.floor(Floor::Unparsed, span, reason);
    }

    fn finish(mut self, text: &str) -> Verdict {
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
