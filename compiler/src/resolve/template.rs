//! Templates of prompts and resources, rendered for every combination of finite arguments.
//!
//! An argument is known only when a prompt is asked for, but the server has no template engine.
//! So an argument with listed values is finite, and the texts are rendered for each of them; a
//! free-text argument may only be printed and becomes a slot. The language is Jinja as minijinja
//! reads it. Undefined names are errors; an optional argument that is absent is undefined and may
//! be tested. Files are as written but for tags: see [`engine::written_syntax`].
//!
//! Every template ends in bounded time and memory, see [`limit`]. minijinja is named nowhere else.

mod engine;
mod fault;
mod limit;
mod nesting;
mod rewrite;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use minijinja::{Error, ErrorKind, Value, machinery};
use relay_bundle::Segment;

use self::engine::{Engine, Excess, Failure, SLOT_END, SLOT_START};
use self::rewrite::{How, Mention, Name, Rewritten};
pub(crate) use self::source::TextPlace;
use self::source::{Source, Spot};
use crate::diagnostic::Diagnostics;
use crate::nearest::nearest;
use crate::source::{FileId, Span};

/// A template.
pub(crate) struct TemplateText<'a> {
    /// What its author wrote.
    pub(crate) text: &'a str,
    /// Where it stands.
    pub(crate) at: TextPlace,
}

/// An argument as templates see it: by its name with `_` for `-`.
pub(crate) struct TemplateArgument<'a> {
    /// The name callers use.
    pub(crate) name: &'a str,
    /// Which values it takes.
    pub(crate) kind: TemplateArgumentKind<'a>,
    /// Whether a call without it is refused.
    pub(crate) required: bool,
    /// The value of a call without it.
    pub(crate) default: Option<&'a str>,
    /// Where its name is declared.
    pub(crate) at: Span,
}

/// Which values an argument takes.
pub(crate) enum TemplateArgumentKind<'a> {
    /// One of these.
    Choice(&'a [String]),
    /// A truth value in templates, the choices `true` and `false` for callers.
    Boolean,
    /// Any text.
    Text,
}

/// The texts of one prompt, rendered.
#[derive(Debug)]
pub(crate) struct RenderedTexts {
    /// The stride of each argument; see [`relay_bundle::Rendering`].
    pub(crate) strides: Vec<u32>,
    /// For each variant the segments of each text.
    pub(crate) variants: Vec<Vec<Vec<Segment>>>,
    /// Whether some template mentions the argument.
    pub(crate) used: Vec<bool>,
}

/// Finds a text file by its path from the folder of another file.
pub(crate) type Include<'i> = dyn Fn(FileId, &str) -> Option<(FileId, Arc<str>)> + 'i;

/// Renders the templates of one prompt together; `None` if one has faults, which are reported.
///
/// `prompt_at` is the prompt's name, for faults of the templates as a whole.
pub(crate) fn render(
    texts: &[TemplateText<'_>],
    arguments: &[TemplateArgument<'_>],
    prompt_at: Span,
    include: &Include<'_>,
    out: &mut Diagnostics,
) -> Option<RenderedTexts> {
    let errors_before = out.error_count();
    check_choices(arguments, out);
    let templates = read(texts, include, out);
    let uses = check_names(&templates, arguments, out);
    let states = States::new(arguments, &uses, prompt_at, out)?;
    if out.error_count() > errors_before {
        return None;
    }
    let engine = engine(&templates, out)?;
    let rendered = Renderer { templates, engine, arguments, states, text_count: texts.len() };
    let variants = rendered.variants(prompt_at, out)?;
    let strides = rendered.states.of_arguments.iter().map(|states| states.stride).collect();
    let used = uses.iter().map(|used| used.mentioned).collect();
    Some(RenderedTexts { strides, variants, used })
}

// --- reading ---

/// A template and what was made of it.
struct Template {
    source: Rc<Source>,
    rewritten: Rewritten,
}

/// Reads the texts, and all files they include, once each; the texts come first.
fn read(texts: &[TemplateText<'_>], include: &Include<'_>, out: &mut Diagnostics) -> Vec<Template> {
    let mut sources: Vec<Rc<Source>> = texts
        .iter()
        .map(|text| Rc::new(Source { text: text.text.into(), place: text.at }))
        .collect();
    let mut included: BTreeMap<FileId, usize> = BTreeMap::new();
    let mut templates = Vec::new();
    let mut too_many = false;
    while let Some(source) = sources.get(templates.len()).cloned() {
        let repeated = templates.len() >= texts.len();
        let mut link = |path: &str, at: Range<usize>, may_miss: bool, out: &mut Diagnostics| {
            let Spot { at, line } = source.spot(&at);
            let Some((file, text)) = include(source.file(), path) else {
                if !may_miss {
                    out.report(at, fault::IncludeNotFound { path: path.into(), line, at });
                }
                return None;
            };
            if let Some(known) = included.get(&file) {
                return Some(*known);
            }
            if sources.len() >= limit::SOURCES_MAX.max(texts.len()) {
                if !too_many {
                    out.report(at, fault::TooManyFiles { line, at });
                }
                too_many = true;
                return None;
            }
            included.insert(file, sources.len());
            sources.push(Rc::new(Source { text, place: TextPlace::Verbatim(file) }));
            Some(sources.len() - 1)
        };
        let rewritten = parse(&source, repeated, &mut link, out).unwrap_or_default();
        templates.push(Template { source, rewritten });
    }
    templates
}

/// Parses and rewrites one template; `None` if it is not one.
fn parse(
    source: &Source,
    repeated: bool,
    link: &mut rewrite::Link<'_>,
    out: &mut Diagnostics,
) -> Option<Rewritten> {
    let bytes = source.text.len();
    if bytes > limit::TEMPLATE_BYTES_MAX {
        let Spot { at, .. } = source.spot(&(0..0));
        out.report(at, fault::TooLarge { bytes, at });
        return None;
    }
    if let Some((start, character)) = source.text.char_indices().find(|(_, c)| is_reserved(*c)) {
        let Spot { at, line } = source.spot(&(start..start + character.len_utf8()));
        out.report(at, fault::ReservedCharacter { code: character.into(), line, at });
        return None;
    }
    let syntax = engine::written_syntax()?;
    if let Err(refusal) = nesting::check(&source.text, &syntax) {
        report_refusal(refusal, source, out);
        return None;
    }
    match machinery::parse(&source.text, "", syntax) {
        Ok(parsed) => Some(rewrite::rewrite(source, &parsed, repeated, link, out)),
        Err(error) => {
            let Spot { at, line } = source.spot(&error.range().unwrap_or_default());
            let detail = syntax_detail(&error);
            out.report(at, fault::Syntax { detail, help: None, line, at });
            None
        }
    }
}

fn report_refusal(refusal: nesting::Refusal, source: &Source, out: &mut Diagnostics) {
    match refusal {
        nesting::Refusal::TooDeep { what, limit, at } => {
            let Spot { at, line } = source.spot(&at);
            out.report(at, fault::TooDeep { what, limit, line, at });
        }
        nesting::Refusal::Unclosed { keyword, at } => {
            let Spot { at, line } = source.spot(&at);
            let detail = format!("`{keyword}` is never closed");
            let help = Some("close it with its `end…` tag");
            out.report(at, fault::Syntax { detail, help, line, at });
        }
    }
}

/// Says what minijinja says of a syntax error in the words of templates.
fn syntax_detail(error: &Error) -> String {
    let words = [
        ("start of variable block", "`{{`"),
        ("end of variable block", "`}}`"),
        ("start of block", "`{%`"),
        ("end of block", "`%}`"),
        ("template-data", "text"),
        ("identifier", "a name"),
        ("block keyword", "a tag such as `if`"),
        ("end of input", "end of the template"),
        ("unknown statement", "unknown tag"),
    ];
    let detail = error.detail().unwrap_or("not a template");
    let detail = words.iter().fold(detail.to_owned(), |text, (from, to)| text.replace(from, to));
    let mut letters = detail.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Noncharacters that we build with; no text has them.
fn is_reserved(character: char) -> bool {
    ('\u{FDD0}'..='\u{FDEF}').contains(&character)
}

fn check_choices(arguments: &[TemplateArgument<'_>], out: &mut Diagnostics) {
    for argument in arguments {
        let TemplateArgumentKind::Choice(choices) = argument.kind else { continue };
        let characters = choices.iter().flat_map(|choice| choice.chars());
        if let Some(character) = characters.into_iter().find(|c| is_reserved(*c)) {
            let Spot { at, line } = Spot::exact(argument.at);
            out.report(at, fault::ReservedCharacter { code: character.into(), line, at });
        }
    }
}

// --- names ---

/// What the templates do with an argument.
#[derive(Default, Clone, Copy)]
struct Use {
    mentioned: bool,
    tested: bool,
}

/// Names that have a meaning in some places of a template.
const SPECIAL_NAMES: [&str; 4] = ["caller", "loop", "self", "super"];

/// Checks each name that the templates use, and returns what they do with each argument.
///
/// A template may set what another one reads, as an included file shares the variables around it.
/// What is set too late, or not in all cases, shows when it is rendered.
fn check_names(
    templates: &[Template],
    arguments: &[TemplateArgument<'_>],
    out: &mut Diagnostics,
) -> Vec<Use> {
    let names: BTreeMap<String, usize> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| (template_name(argument), index))
        .collect();
    let mut known: BTreeSet<&str> = names.keys().map(String::as_str).collect();
    for template in templates {
        known.extend(template.rewritten.assigned.iter().map(|name| name.name.as_str()));
    }
    for name in engine::function_names().chain(SPECIAL_NAMES) {
        known.insert(name);
    }

    let mut uses = vec![Use::default(); arguments.len()];
    for Template { source, rewritten } in templates {
        check_assigned(source, rewritten, &names, arguments, out);
        check_known("filter", source, &rewritten.filters, engine::filter_names().collect(), out);
        check_known("test", source, &rewritten.tests, engine::test_names().collect(), out);
        for mention in &rewritten.mentions {
            let Spot { at, line } = source.spot(&mention.at);
            let name = mention.name.clone();
            let Some(index) = names.get(&name) else {
                if !known.contains(&*name) {
                    let help = match nearest(&name, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("declare it in the prompt: `arg {name}`"),
                    };
                    out.report(at, fault::UnknownVariable { name, help, line, at });
                }
                continue;
            };
            if let Some(used) = uses.get_mut(*index) {
                used.mentioned = true;
                used.tested |= matches!(mention.how, How::Tested | How::TestedAndPrinted);
            }
            let is_text = arguments.get(*index).is_some_and(|argument| argument.is_text());
            if is_text && mention.how == How::Read {
                out.report(at, fault::FreeText { name, line, at });
            }
        }
    }
    check_absent(templates, arguments, &names, &uses, out);
    uses
}

fn check_assigned(
    source: &Source,
    rewritten: &Rewritten,
    names: &BTreeMap<String, usize>,
    arguments: &[TemplateArgument<'_>],
    out: &mut Diagnostics,
) {
    for Name { name, at } in &rewritten.assigned {
        if let Some(argument) = names.get(name).and_then(|index| arguments.get(*index)) {
            let Spot { at, line } = source.spot(at);
            let (name, argument_at) = (name.clone(), argument.at);
            out.report(at, fault::ShadowedArgument { name, line, argument_at, at });
        }
    }
}

fn check_known(
    what: &'static str,
    source: &Source,
    named: &[Name],
    known: Vec<&'static str>,
    out: &mut Diagnostics,
) {
    for Name { name, at } in named {
        if !known.contains(&&**name) {
            let Spot { at, line } = source.spot(at);
            let help = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("these are known: {}", known.join(", ")),
            };
            out.report(at, fault::UnknownName { what, name: name.clone(), help, line, at });
        }
    }
}

/// A free text that may be absent and is never tested would fail whenever it is absent. Where it
/// is tested, rendering shows whether each print of it is guarded.
fn check_absent(
    templates: &[Template],
    arguments: &[TemplateArgument<'_>],
    names: &BTreeMap<String, usize>,
    uses: &[Use],
    out: &mut Diagnostics,
) {
    for Template { source, rewritten } in templates {
        for mention in &rewritten.mentions {
            let Some(index) = names.get(&mention.name) else { continue };
            let (Some(argument), Some(used)) = (arguments.get(*index), uses.get(*index)) else {
                continue;
            };
            if argument.is_text() && argument.may_be_absent() && !used.tested {
                let Spot { at, line } = source.spot(&mention.at);
                let (name, argument_at) = (mention.name.clone(), argument.at);
                out.report(at, fault::MaybeAbsent { name, line, argument_at, at });
            }
        }
    }
}

/// Returns the name of an argument in templates.
fn template_name(argument: &TemplateArgument<'_>) -> String {
    argument.name.replace('-', "_")
}

impl TemplateArgument<'_> {
    fn is_text(&self) -> bool {
        matches!(self.kind, TemplateArgumentKind::Text)
    }

    fn may_be_absent(&self) -> bool {
        !self.required && self.default.is_none()
    }

    /// In how many ways the texts can depend on it. The last one is that it is absent.
    fn state_count(&self, used: Use) -> u64 {
        let present = match self.kind {
            _ if !used.mentioned => return 1,
            TemplateArgumentKind::Choice(choices) => choices.len() as u64,
            TemplateArgumentKind::Boolean => 2,
            TemplateArgumentKind::Text => 1,
        };
        (present + u64::from(self.may_be_absent())).max(1)
    }

    /// Its value in a state: `None` if it is absent.
    fn value(&self, index: usize, state: usize) -> Option<Value> {
        match self.kind {
            TemplateArgumentKind::Choice(choices) => choices.get(state).map(Value::from),
            TemplateArgumentKind::Boolean => (state < 2).then(|| Value::from(state == 0)),
            TemplateArgumentKind::Text => {
                (state == 0).then(|| Value::from(format!("{SLOT_START}{index}{SLOT_END}")))
            }
        }
    }
}

// --- combinations ---

/// The states of all arguments: how a variant's number tells them apart.
struct States {
    of_arguments: Vec<ArgumentStates>,
    combinations: u64,
}

struct ArgumentStates {
    count: u64,
    stride: u32,
}

impl States {
    /// Counts the combinations; `None` if there are too many, which is reported.
    fn new(
        arguments: &[TemplateArgument<'_>],
        uses: &[Use],
        prompt_at: Span,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let mut combinations = 1u64;
        let mut of_arguments = Vec::new();
        let mut counts = Vec::new();
        for (argument, used) in arguments.iter().zip(uses) {
            let count = argument.state_count(*used);
            let stride = if count > 1 { u32::try_from(combinations).unwrap_or(0) } else { 0 };
            if count > 1 {
                counts.push(format!("`{}` with {count} states", argument.name));
            }
            combinations = combinations.saturating_mul(count);
            of_arguments.push(ArgumentStates { count, stride });
        }
        if combinations > limit::VARIANTS_MAX {
            let (counts, at) = (counts.join(", "), prompt_at);
            out.report(at, fault::TooManyVariants { combinations, counts, at });
            return None;
        }
        Some(Self { of_arguments, combinations })
    }

    /// The state of each argument in a variant.
    fn of_variant(&self, variant: u64) -> Vec<usize> {
        let state = |states: &ArgumentStates| match u64::from(states.stride) {
            0 => 0,
            stride => usize::try_from(variant / stride % states.count).unwrap_or(0),
        };
        self.of_arguments.iter().map(state).collect()
    }
}

// --- rendering ---

/// Everything that rendering needs.
struct Renderer<'a> {
    templates: Vec<Template>,
    engine: Engine,
    arguments: &'a [TemplateArgument<'a>],
    states: States,
    text_count: usize,
}

/// Hands the rewritten templates to the engine.
fn engine(templates: &[Template], out: &mut Diagnostics) -> Option<Engine> {
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
    fn variants(&self, prompt_at: Span, out: &mut Diagnostics) -> Option<Vec<Vec<Vec<Segment>>>> {
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

    /// Names a combination: ` with environment=production, debug absent`.
    fn with(&self, states: &[usize]) -> String {
        let varied = self.states.of_arguments.iter().map(|states| states.stride > 0);
        let parts: Vec<_> = self
            .arguments
            .iter()
            .zip(states)
            .zip(varied)
            .filter(|(_, varied)| *varied)
            .map(|((argument, state), _)| match (&argument.kind, argument.value(0, *state)) {
                (_, None) => format!("{} absent", argument.name),
                (TemplateArgumentKind::Text, Some(_)) => format!("{} present", argument.name),
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

#[cfg(test)]
mod tests;
