//! The effects of a program itself, collected while its words are read.

use super::machine::Machine;
use crate::effect::{Act, Argument, ArgumentKind, CallId, Cap, Effect, Hidden, Sent, What};
use crate::facts::{FlagId, NodeId, NodeRow};
use crate::invocation::Invocation;
use crate::span::Span;
use crate::state::{Frame, Parameters};
use crate::tier::Floor;
use crate::value::{Field, Stream};

/// A program that runs: its words and its input.
pub(super) struct Program<'p, 'c> {
    pub(super) id: CallId,
    pub(super) node: NodeRow,
    /// The name of the program in the text.
    pub(super) name: &'p [u8],
    /// The words after it.
    pub(super) words: &'p [Field<'c>],
    pub(super) call: &'p Invocation<'c>,
    pub(super) input: &'p Stream,
}

/// The effects of a program itself, and the facts from its words. A dry run covers all of them.
pub(super) struct Own {
    /// The frame of the code in its words.
    pub(super) frame: Frame,
    pub(super) effects: Vec<Effect>,
    /// The dry runs and checks; the last word of each option counts.
    caps: Vec<(FlagId, Option<Cap>)>,
    /// The current option.
    pub(super) flag: Option<FlagId>,
    /// Configurations and code in options: a program may read them before it sees a dry run or a
    /// help, so hidden code in them is never capped.
    pub(super) loads: Vec<Span>,
    /// Options that load code before a dry run or a check begins: only a help caps them.
    pub(super) runs: Vec<Span>,
    /// Whether code was named, so that standard input is data.
    pub(super) has_code: bool,
    /// The files that it writes.
    pub(super) written: Vec<Vec<u8>>,
    /// Whether a secret was read.
    pub(super) secret: bool,
    /// The word by which it sends data over a network.
    pub(super) sends: Option<Span>,
    /// The positional parameters of code on standard input.
    pub(super) parameters: Option<Parameters>,
    /// Whether its output is made from the text: from a file that the text writes, or by code of a
    /// language.
    pub(super) makes: bool,
}

impl Own {
    pub(super) fn new(frame: Frame) -> Self {
        Self {
            frame,
            effects: Vec::new(),
            caps: Vec::new(),
            flag: None,
            loads: Vec::new(),
            runs: Vec::new(),
            has_code: false,
            written: Vec::new(),
            secret: false,
            sends: None,
            parameters: None,
            makes: false,
        }
    }

    pub(super) fn add(&mut self, what: What, span: Span) {
        self.effects.push(Effect { is_own: true, ..Effect::of_shell(what, span) });
    }

    pub(super) fn doubt(&mut self, floor: Floor, span: Span, reason: &'static str) {
        self.add(What::Doubt(floor, reason), span);
    }

    pub(super) fn runs(&mut self, hidden: Hidden, span: Span, reason: &'static str) {
        self.add(What::Runs(hidden, reason), span);
    }

    pub(super) fn does(&mut self, act: Act, span: Span) {
        self.add(What::Does(act, None), span);
    }

    pub(super) fn sends(&mut self, sent: Sent, span: Span) {
        self.add(What::Sends(sent), span);
    }

    /// Notes the line of a node's facts that declares the effects from index `count` on.
    pub(super) fn says(&mut self, count: usize, node: NodeId, line: u16) {
        for effect in self.effects.iter_mut().skip(count) {
            effect.fact.get_or_insert((node, line));
        }
    }

    /// Notes the dry run that an option begins; `None` cancels an earlier one.
    pub(super) fn cap(&mut self, flag: FlagId, cap: Option<Cap>) {
        match self.caps.iter_mut().find(|(capped, _)| *capped == flag) {
            Some((_, before)) => *before = cap,
            None => self.caps.extend(cap.map(|cap| (flag, Some(cap)))),
        }
    }

    /// Forgets the dry runs.
    pub(super) fn uncap(&mut self) {
        self.caps.clear();
    }

    /// Ends the call.
    pub(super) fn end(self, run: &mut Machine<'_>, program: &Program<'_, '_>, is_undone: bool) {
        let Self { mut effects, caps, runs, loads, .. } = self;
        let is_help = program.call.given.iter().any(|given| given.name.is_none() && given.is_whole);
        for effect in &mut effects {
            effect.by = Some(program.id);
            // A doubt about words is also a doubt about the dry run.
            let is_word = matches!(
                effect.what,
                What::Doubt(..) | What::AnyOption(_) | What::Unlisted { is_literal: true, .. }
            );
            let is_in = |spans: &[Span]| spans.iter().any(|span| span.holds(effect.span));
            let is_loaded = matches!(effect.what, What::Runs(..)) && is_in(&loads);
            effect.is_capped = !is_word && !is_loaded && (is_help || !is_in(&runs));
        }
        let caps = caps.into_iter().filter_map(|(_, cap)| cap).filter(|_| !is_undone);
        run.effects.end(program.id, effects, caps);
    }
}

/// Gives a call its words: sub-commands, options and operands.
pub(super) fn describe(
    run: &mut Machine<'_>,
    id: CallId,
    call: &Invocation<'_>,
    words: &[Field<'_>],
) {
    let Some(row) = call.chain.last() else { return };
    let has_doubt = call.has_unknown || call.is_lost;
    let effects = &mut run.effects;
    effects.describe(id, row.id, call.span, has_doubt);
    for field in call.subs.iter().filter_map(|sub| words.get(*sub)) {
        let value = Some(effects.value(&field.text.bytes));
        let kind = ArgumentKind::Sub;
        effects.argument(id, Argument::word(kind, value, field.text.span));
    }
    for given in &call.given {
        let kind = given.name.map_or(ArgumentKind::Help, ArgumentKind::Option);
        let value = given.value.as_ref().map(|field| effects.value(&field.text.bytes));
        let is_many = given.value.as_ref().is_some_and(|field| field.spread);
        effects.argument(id, Argument { is_many, ..Argument::word(kind, value, given.span) });
    }
    let is_value = |word: &Field<'_>| {
        let mut values = call.given.iter().filter_map(|given| given.value.as_ref());
        values.any(|value| value.text.span == word.text.span)
    };
    let mut dashes = words.iter().filter(|word| *word.text.bytes == *b"--" && !is_value(word));
    operands(run, id, &call.operands, dashes.next().map(|word| word.text.span.end));
}

/// Gives an undescribed call its words.
pub(super) fn leave_undescribed(run: &mut Machine<'_>, id: CallId, words: &[Field<'_>]) {
    run.effects.leave_undescribed(id);
    operands(run, id, words, None);
}

/// Adds operands; those that begin after `dashes` follow a `--`.
fn operands(run: &mut Machine<'_>, id: CallId, words: &[Field<'_>], dashes: Option<u32>) {
    for field in words {
        let kind = ArgumentKind::Operand(None);
        let value = Some(run.effects.value(&field.text.bytes));
        let (span, is_many) = (field.text.span, field.spread);
        let is_after_dashes = dashes.is_some_and(|dashes| dashes <= span.start);
        let word = Argument::word(kind, value, span);
        run.effects.argument(id, Argument { is_many, is_after_dashes, ..word });
    }
}
