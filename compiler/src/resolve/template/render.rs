//! The rewritten templates of a prompt -> its texts in every combination, cut at their slots.
//!
//! A text that cannot be rendered is explained in the words and places of its author, with the
//! combination in which it failed.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::ops::Range;

use minijinja::{Error, ErrorKind, Value};
use relay_bundle::Segment;

use super::engine::{Engine, Excess, Failure, SLOT_END, SLOT_START};
use super::names::template_name;
use super::read::Template;
use super::rewrite::{self, How, Mention, Rewritten};
use super::source::{Source, Spot};
use super::states::States;
use super::{TemplateArgument, TemplateArgumentKind, fault, limit};
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Everything that rendering needs.
pub(super) struct Renderer<'a> {
    pub(super) templates: Vec<Template>,
    pub(super) engine: Engine,
    pub(super) arguments: &'a [TemplateArgument<'a>],
    pub(super) states: States,
    pub(super) text_count: usize,
}

/// Hands the rewritten templates to the engine.
pub(super) fn engine(templates: &[Template], out: &mut Diagnostics) -> Option<Engine> {
    let mut engine = Engine::new();
    for (number, Template { source, rewritten }) in templates.iter().enumerate() {
        // What is rewritten nests a little deeper than what was written; nothing else can fail.
        if engine.add(rewrite::template_name(number), rewritten.made.clone()).is_err() {
            let Spot { at, line } = source.spot(&(0..0));
            let (what, limit) = ("blocks and expressions nest too deep", limit::LEVELS_MAX);
            out.report(at, fault::TooDeep { what, limit, line, at });
            return None;
        }
    }
    Some(engine)
}

impl Renderer<'_> {
    /// Renders all texts for all combinations; `None` if one fails, which is reported.
    pub(super) fn variants(
        &self,
        prompt_at: Span,
        out: &mut Diagnostics,
    ) -> Option<Vec<Vec<Vec<Segment>>>> {
        let mut variants = Vec::new();
        let mut bytes = 0;
        let mut failed = false;
        // Texts that passed a limit: they would in the other combinations too, and that is slow.
        let mut given_up: BTreeSet<usize> = BTreeSet::new();
        for variant in 0..self.states.combinations {
            let states = self.states.of_variant(variant);
            let values = self.values(&states);
            let mut rendered = Vec::new();
            for number in 0..self.text_count {
                if given_up.contains(&number) {
                    continue;
                }
                match self.engine.render(&rewrite::template_name(number), &values) {
                    Ok(text) => {
                        bytes += text.len();
                        rendered.push(cut(&text));
                    }
                    Err(failure) => {
                        failed = true;
                        if self.explain(number, &failure, &states, out) == Fault::OfLimit {
                            given_up.insert(number);
                        }
                    }
                }
            }
            if bytes > limit::TOTAL_BYTES_MAX {
                out.report(prompt_at, fault::TotalTooLarge { at: prompt_at });
                return None;
            }
            variants.push(rendered);
        }
        (!failed).then_some(variants)
    }

    /// The values of the arguments that are present.
    fn values(&self, states: &[usize]) -> BTreeMap<String, Value> {
        let arguments = self.arguments.iter().zip(states).enumerate();
        arguments
            .filter_map(|(index, (argument, state))| {
                Some((template_name(argument), argument.value(index, *state)?))
            })
            .collect()
    }

    /// Reports why a text could not be rendered in some combination.
    fn explain(
        &self,
        number: usize,
        failure: &Failure,
        states: &[usize],
        out: &mut Diagnostics,
    ) -> Fault {
        let with = self.with(states);
        let error = match failure {
            Failure::Stopped(error) => error,
            Failure::TooLarge => {
                let Some(Template { source, .. }) = self.templates.get(number) else {
                    return Fault::OfLimit;
                };
                let Spot { at, .. } = source.spot(&(0..0));
                out.report(at, fault::TextTooLarge { with, at });
                return Fault::OfLimit;
            }
        };
        let innermost = innermost(error);
        let Some((source, rewritten)) = self.template_of(innermost, number) else {
            return Fault::OfLimit;
        };
        let place = place_of(rewritten, innermost.range());
        let written = place.map_or(0..0, |place| place.written.clone());
        let Spot { at, line } = source.spot(&written);
        match (excess(error), innermost.kind()) {
            (Some(Excess::Slot), _) => {
                let excerpt = source.excerpt(&written);
                out.report(at, fault::FreeTextInside { excerpt, line, at });
                Fault::OfCombination
            }
            (Some(Excess::Work), _) => {
                out.report(at, fault::TooMuchWork { with, line, at });
                Fault::OfLimit
            }
            (Some(Excess::Value), _) => {
                out.report(at, fault::ValueTooLarge { with, line, at });
                Fault::OfLimit
            }
            (Some(Excess::Depth), _) => {
                let (what, limit) = ("a value nests too deep", limit::VALUE_DEPTH_MAX);
                out.report(at, fault::TooDeep { what, limit, line, at });
                Fault::OfLimit
            }
            (None, ErrorKind::OutOfFuel) => {
                out.report(at, fault::TooManySteps { with, line, at });
                Fault::OfLimit
            }
            (None, _) if is_recursion(innermost) => {
                let (what, limit) = ("calls and includes nest too deep", limit::CALLS_MAX);
                out.report(at, fault::TooDeep { what, limit, line, at });
                Fault::OfLimit
            }
            (None, kind) => {
                let extent = place.map_or(0..0, |place| place.extent.clone());
                match self.absent_in(rewritten, &extent, states) {
                    Some((argument, mention)) => {
                        let Spot { at, line } = source.spot(&mention.at);
                        let (name, argument_at) = (mention.name.clone(), argument.at);
                        out.report(at, fault::MaybeAbsent { name, line, argument_at, at });
                    }
                    None => {
                        let excerpt = source.excerpt(&written);
                        let detail = match (kind, innermost.detail()) {
                            (ErrorKind::UndefinedError, _) if excerpt.is_empty() => {
                                "something that is tested here is undefined".to_owned()
                            }
                            (ErrorKind::UndefinedError, _) => {
                                format!("something in `{excerpt}` is undefined")
                            }
                            (kind, None) => format!("{kind} in `{excerpt}`"),
                            (_, Some(detail)) => detail.trim_end_matches('.').to_owned(),
                        };
                        out.report(at, fault::Render { detail, with, line, at });
                    }
                }
                Fault::OfCombination
            }
        }
    }

    /// Names a combination: with environment=production, `debug` absent.
    fn with(&self, states: &[usize]) -> String {
        let varied = self.states.of_arguments.iter().map(|states| states.stride > 0);
        let parts: Vec<_> = self
            .arguments
            .iter()
            .zip(states)
            .zip(varied)
            .filter(|(_, varied)| *varied)
            .map(|((argument, state), _)| match (&argument.kind, argument.value(0, *state)) {
                (_, None) => format!("`{}` absent", argument.name),
                (TemplateArgumentKind::Text, Some(_)) => format!("`{}` present", argument.name),
                (TemplateArgumentKind::Boolean, Some(_)) => {
                    format!("{}={}", argument.name, *state == 0)
                }
                (_, Some(value)) => format!("{}={value}", argument.name),
            })
            .collect();
        if parts.is_empty() { String::new() } else { format!(" with {}", parts.join(", ")) }
    }

    /// The template in which an error arose.
    fn template_of(&self, error: &Error, number: usize) -> Option<(&Source, &Rewritten)> {
        let named = |name: &str| name.strip_prefix('t')?.parse::<usize>().ok();
        let template = self.templates.get(error.name().and_then(named).unwrap_or(number))?;
        Some((&template.source, &template.rewritten))
    }

    /// The absent argument that an expression mentions.
    fn absent_in<'t>(
        &self,
        rewritten: &'t Rewritten,
        extent: &Range<usize>,
        states: &[usize],
    ) -> Option<(&TemplateArgument<'_>, &'t Mention)> {
        let inside = rewritten
            .mentions
            .iter()
            .filter(|mention| extent.start <= mention.at.start && mention.at.end <= extent.end);
        inside.filter(|mention| mention.how != How::Tested).find_map(|mention| {
            let mut arguments = self.arguments.iter().zip(states).enumerate();
            let (_, (argument, _)) = arguments.find(|(index, (argument, state))| {
                template_name(argument) == mention.name && argument.value(*index, **state).is_none()
            })?;
            Some((argument, mention))
        })
    }
}

/// What a fault tells about the other combinations.
#[derive(PartialEq, Eq)]
enum Fault {
    /// Others may pass, or fail elsewhere.
    OfCombination,
    /// Others would be as slow.
    OfLimit,
}

/// The error that an include, a block or a recursive loop passed on.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) = innermost.source().and_then(|inner| inner.downcast_ref::<Error>()) {
        innermost = inner;
    }
    innermost
}

fn excess(error: &Error) -> Option<Excess> {
    let inner = innermost(error).source()?;
    inner.downcast_ref::<Excess>().copied()
}

fn is_recursion(error: &Error) -> bool {
    error.detail().is_some_and(|detail| detail.contains("recursion limit"))
}

/// The smallest expression around a range of a rewritten template.
fn place_of(rewritten: &Rewritten, made: Option<Range<usize>>) -> Option<&rewrite::Place> {
    let made = made?;
    let around =
        |place: &&rewrite::Place| place.made.start <= made.start && made.end <= place.made.end;
    rewritten.places.iter().filter(around).min_by_key(|place| place.made.len())
}

/// Cuts a rendered text at its slots.
fn cut(text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some((literal, index, after)) = next_slot(rest) {
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal.to_owned()));
        }
        segments.push(Segment::Slot(index));
        rest = after;
    }
    if !rest.is_empty() {
        segments.push(Segment::Literal(rest.to_owned()));
    }
    segments
}

/// The text before the first slot, the slot's argument, and the text behind it.
fn next_slot(text: &str) -> Option<(&str, u32, &str)> {
    let (before, slot) = text.split_once(SLOT_START)?;
    let (index, after) = slot.split_once(SLOT_END)?;
    Some((before, index.parse().ok()?, after))
}
