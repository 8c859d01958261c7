//! The rewritten templates of a prompt -> its texts in every combination, cut at their slots.
//!
//! A failure of rendering is explained in the words and places of its author, with the combination
//! in which it failed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::ops::Range;

use minijinja::{Error, ErrorKind, Value};
use relay_bundle::Segment;

use super::engine::{Engine, Failure, Stop};
use super::error::{Line, TemplateError};
use super::input::{TemplateArgument, TemplateArgumentKind};
use super::limit;
use super::names::template_name;
use super::read::Template;
use super::rewrite::{self, How, Mention, Rewritten};
use super::slot::segments;
use super::source::Source;
use super::states::States;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// The inputs of rendering.
pub(super) struct Renderer<'a> {
    templates: &'a [Template],
    engine: &'a Engine,
    arguments: &'a [TemplateArgument<'a>],
    pub(super) states: States,
    text_count: usize,
    /// The arguments in the texts of slots that an operation read.
    pub(super) looked_at: RefCell<BTreeSet<usize>>,
}

/// Hands the rewritten templates to the engine.
pub(super) fn engine(templates: &[Template], out: &mut Diagnostics) -> Option<Engine> {
    let mut engine = Engine::new();
    for (number, Template { source, rewritten }) in templates.iter().enumerate() {
        // A rewritten template nests a little deeper than the original, and that is the only
        // possible fault.
        if engine.add(rewrite::template_name(number), rewritten.made.clone()).is_err() {
            let (what, limit) = ("blocks and expressions nest too deep", limit::LEVELS_MAX);
            let error = |at, line| TemplateError::TooDeep { what, limit, line, at };
            source.report(&(0..0), out, error);
            return None;
        }
    }
    Some(engine)
}

impl<'a> Renderer<'a> {
    pub(super) fn new(
        templates: &'a [Template],
        engine: &'a Engine,
        arguments: &'a [TemplateArgument<'a>],
        states: States,
        text_count: usize,
    ) -> Self {
        let looked_at = RefCell::default();
        Self { templates, engine, arguments, states, text_count, looked_at }
    }

    /// Renders all texts for all combinations; `None` if one fails, which is reported.
    pub(super) fn variants(
        &self,
        prompt_at: Span,
        project_cost: &Cell<u64>,
        out: &mut Diagnostics,
    ) -> Option<Vec<Vec<Vec<Segment>>>> {
        let mut free = limit::PROMPT_COST;
        let mut variants = Vec::new();
        let mut bytes = 0;
        let mut failed = false;
        // Texts that passed a limit: the other combinations would pass it too, slowly.
        let mut given_up: BTreeSet<usize> = BTreeSet::new();
        for variant in 0..self.states.combinations {
            let states = self.states.of_variant(variant);
            let values = self.values(&states);
            let mut rendered = Vec::new();
            for number in 0..self.text_count {
                if given_up.contains(&number) {
                    continue;
                }
                let result = self.engine.render(&rewrite::template_name(number), &values);
                let text = result.as_ref().map_or(0, |text| text.len() as u64 * limit::TEXT_COST);
                let cost = self.engine.cost() + text;
                let (spent, beyond) = (project_cost.get(), cost.saturating_sub(free));
                free = free.saturating_sub(cost);
                project_cost.set(spent + beyond);
                if beyond > 0 && spent + beyond > limit::PROJECT_COST_MAX {
                    if spent <= limit::PROJECT_COST_MAX {
                        // Only the first prompt over the limit is reported.
                        out.report(prompt_at, TemplateError::ProjectTooCostly { at: prompt_at });
                    }
                    return None;
                }
                match result {
                    Ok(text) => {
                        bytes += text.len();
                        rendered.push(segments(&text));
                    }
                    Err(failure) => {
                        failed = true;
                        if self.explain(number, &failure, &states, out) == Concerns::AllCombinations
                        {
                            given_up.insert(number);
                        }
                    }
                }
            }
            if bytes > limit::TOTAL_BYTES_MAX {
                out.report(prompt_at, TemplateError::TotalTooLarge { at: prompt_at });
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

    /// Reports the error of rendering a text in some combination.
    fn explain(
        &self,
        number: usize,
        failure: &Failure,
        states: &[usize],
        out: &mut Diagnostics,
    ) -> Concerns {
        let with = self.with(states);
        let error = match failure {
            Failure::Stopped(error) => innermost(error),
            Failure::TooLarge => {
                if let Some(Template { source, .. }) = self.templates.get(number) {
                    source.report(&(0..0), out, |at, _| TemplateError::TextTooLarge { with, at });
                }
                return Concerns::AllCombinations;
            }
        };
        let Some((source, rewritten)) = self.template_of(error, number) else {
            return Concerns::AllCombinations;
        };
        let place = place_of(rewritten, error.range());
        let written = place.map_or(0..0, |place| place.written.clone());
        let too_deep = |what, limit, at, line| TemplateError::TooDeep { what, limit, line, at };
        let report = |out: &mut _, error: &dyn Fn(Span, Line) -> TemplateError| {
            source.report(&written, out, error);
            Concerns::AllCombinations
        };
        match (stop(error), error.kind()) {
            (Some(Stop::FreeText(index)), _) => {
                self.looked_at.borrow_mut().insert(index);
                let excerpt = source.excerpt(&written);
                let error = |at, line| TemplateError::FreeTextInside { excerpt, line, at };
                source.report(&written, out, error);
                Concerns::ThisCombination
            }
            (Some(Stop::Work), _) => {
                report(out, &|at, line| TemplateError::TooMuchWork { with: with.clone(), line, at })
            }
            (Some(Stop::Value), _) => report(out, &|at, line| TemplateError::ValueTooLarge {
                with: with.clone(),
                line,
                at,
            }),
            (Some(Stop::Depth), _) => report(out, &|at, line| {
                too_deep("a value nests too deep", limit::VALUE_DEPTH_MAX, at, line)
            }),
            (None, ErrorKind::OutOfFuel) => report(out, &|at, line| TemplateError::TooManySteps {
                with: with.clone(),
                line,
                at,
            }),
            (None, _) if is_recursion(error) => report(out, &|at, line| {
                too_deep("calls and includes nest too deep", limit::CALLS_MAX, at, line)
            }),
            (None | Some(Stop::Undefined), _) => {
                let extent = place.map_or(0..0, |place| place.extent.clone());
                if let Some((argument, mention)) = self.absent_in(rewritten, &extent, states) {
                    let (name, argument_at) = (mention.name.clone(), argument.at);
                    let error =
                        |at, line| TemplateError::MaybeAbsent { name, line, argument_at, at };
                    source.report(&mention.at, out, error);
                } else {
                    let detail = detail(error, &source.excerpt(&written));
                    let error = |at, line| TemplateError::Render { detail, with, line, at };
                    source.report(&written, out, error);
                }
                Concerns::ThisCombination
            }
        }
    }

    /// Returns a combination in words: with environment=production, `debug` absent.
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

    /// Returns the template of an error.
    fn template_of(&self, error: &Error, number: usize) -> Option<(&Source, &Rewritten)> {
        let named = |name: &str| name.strip_prefix('t')?.parse::<usize>().ok();
        let template = self.templates.get(error.name().and_then(named).unwrap_or(number))?;
        Some((&template.source, &template.rewritten))
    }

    /// Returns the absent argument that an expression mentions.
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

/// The combinations of arguments that an error concerns.
#[derive(PartialEq, Eq)]
enum Concerns {
    /// Others may pass, or fail elsewhere.
    ThisCombination,
    /// Others would be as slow.
    AllCombinations,
}

/// Returns the error that an include, a block or a recursive loop passed on.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) = innermost.source().and_then(|inner| inner.downcast_ref::<Error>()) {
        innermost = inner;
    }
    innermost
}

fn stop(innermost: &Error) -> Option<Stop> {
    innermost.source()?.downcast_ref::<Stop>().copied()
}

/// Returns minijinja's detail of an error, in terms of the author's text.
fn detail(error: &Error, excerpt: &str) -> String {
    match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, _) if excerpt.is_empty() => {
            "something that is tested here is undefined".to_owned()
        }
        (ErrorKind::UndefinedError, _) => format!("something in `{excerpt}` is undefined"),
        (kind, None) => format!("{kind} in `{excerpt}`"),
        (_, Some(detail)) => detail.trim_end_matches('.').to_owned(),
    }
}

fn is_recursion(error: &Error) -> bool {
    error.detail().is_some_and(|detail| detail.contains("recursion limit"))
}

/// Returns the smallest expression around a range of a rewritten template.
fn place_of(rewritten: &Rewritten, made: Option<Range<usize>>) -> Option<&rewrite::Place> {
    let made = made?;
    let around =
        |place: &&rewrite::Place| place.made.start <= made.start && made.end <= place.made.end;
    rewritten.places.iter().filter(around).min_by_key(|place| place.made.len())
}
