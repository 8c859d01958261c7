//! Instructions that cannot be composed or that lose entries, and messages over their limit.
//!
//! Clients silently truncate text over their limit. The compiler shortens the index by rule
//! instead, and warns; a text that is too long by itself is an error.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::instructions::{self, Instructions};
use crate::model::audience::Audience;
use crate::model::{Model, SystemText};
use crate::source::Span;

/// The most bytes of a message that is sent at run time; the selected texts are extra.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// Clients silently truncate text over their limit, so agents would miss the end.
#[derive(Debug, Error, Diagnostic)]
#[error("the instructions{whose} have {chars} characters, over the limit of {chars_max}")]
#[diagnostic(code(message::too_long))]
struct TooLong {
    /// The audience in words, if there are several.
    whose: String,
    chars: usize,
    chars_max: usize,
    #[help]
    help: &'static str,
    #[label(primary, "{label}")]
    at: Span,
    label: &'static str,
}

/// Agents pay for each byte of a message with each answer that carries it.
#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` has {bytes} bytes, over the limit of {MESSAGE_BYTES_MAX}")]
#[diagnostic(
    code(message::too_large),
    help("shorten the text: it is sent with each answer of its kind")
)]
struct TooLarge {
    name: &'static str,
    bytes: usize,
    #[label(primary, "this text, with its variables filled")]
    at: Span,
}

/// The instructions have a limit, and the compiler shortens the index by rule until they fit.
/// Agents rarely ask for prompts whose names they have to guess.
#[derive(Debug, Error, Diagnostic)]
#[error("{omitted} of {count} prompts are not in the index of the instructions{whose}: {rule}")]
#[diagnostic(code(message::shortened), severity(Warning))]
struct Shortened {
    /// The audience in words, if there are several.
    whose: String,
    omitted: usize,
    count: usize,
    rule: String,
    #[help]
    help: String,
    #[label(primary, "the lowest priorities were left out")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let chars_max = model.gate.instructions_chars.value as usize;
    // The worst audience of each kind is reported: a shorter text for it helps the others too.
    let mut longest: Option<(usize, &Audience)> = None;
    let mut shortest: Option<(usize, Instructions, &Audience)> = None;
    let mut largest_index = String::new();
    for audience in model.audiences.with_callers() {
        let composed = instructions::compose(model, audience);
        let chars = composed.text.chars().count();
        let omitted = composed.over_cap + composed.over_chars;
        if composed.index.len() > largest_index.len() {
            largest_index.clone_from(&composed.index);
        }
        if longest.as_ref().is_none_or(|(most, _)| *most < chars) {
            longest = Some((chars, audience));
        }
        if composed.wants_index && shortest.as_ref().is_none_or(|(most, ..)| *most < omitted) {
            shortest = Some((omitted, composed, audience));
        }
    }
    if let Some((chars, audience)) = longest.filter(|(chars, _)| *chars > chars_max) {
        let too_long = too_long(chars, chars_max, model, audience);
        out.report(too_long.at, too_long);
    } else if let Some((1.., composed, audience)) = shortest {
        let at = asks_for_index(model);
        out.report(at, shortened(&composed, model, audience, at));
    }
    for message in model.messages.all() {
        let project = &model.project.name.value;
        let bytes = instructions::bytes(message, project, &largest_index);
        if let (Some(at), true) = (message.at, instructions::is_sent_later(message.name))
            && bytes > MESSAGE_BYTES_MAX
        {
            out.report(at, TooLarge { name: message.name.word(), bytes, at });
        }
    }
}

fn shortened(composed: &Instructions, model: &Model, audience: &Audience, at: Span) -> Shortened {
    let gate = &model.gate;
    let (cap, priority) = (gate.index_cap.value, gate.over_cap_priority.value);
    let chars = gate.instructions_chars.value;
    let by_cap =
        format!("above {cap} prompts only those of priority {priority} or more are listed");
    let by_chars = format!("all have at most {chars} characters");
    let rule = match (composed.over_cap, composed.over_chars) {
        (_, 0) => by_cap,
        (0, _) => by_chars,
        (over_cap, over_chars) => {
            format!("{over_cap} since {by_cap}, {over_chars} since {by_chars}")
        }
    };
    let by_rule = match (composed.over_chars, gate.on.value) {
        (0, true) => "raise the priority of what must be listed, or `cap` of the gate's `index`",
        (0, false) => "raise the priority of what must be listed",
        _ => "shorten the text or the summaries, or raise the priority of what must be listed",
    };
    Shortened {
        whose: whose(model, audience),
        omitted: composed.over_cap + composed.over_chars,
        count: composed.count,
        rule,
        help: by_rule.into(),
        at,
    }
}

/// Returns the audience of the instructions in words, if it is a part of the callers.
fn whose(model: &Model, audience: &Audience) -> String {
    if model.is_one_audience() {
        return String::new();
    }
    format!(" for {}", audience.example.describe(&model.access))
}

fn too_long(chars: usize, chars_max: usize, model: &Model, audience: &Audience) -> TooLong {
    let written = instructions::said_at_once(model).filter(|message| message.at.is_some());
    let longest = written.max_by_key(|message| message.text.len()).and_then(|message| message.at);
    let (at, label, help) = match (longest, model.gate.instructions_chars.at) {
        (None, Some(at)) => (
            at,
            "the built-in texts are longer, even without an index",
            "raise it, or write shorter messages of your own",
        ),
        (at, _) => (
            at.or(model.gate.at).unwrap_or(model.project.name.at),
            "this text, without any index",
            "shorten the text: clients silently truncate longer instructions",
        ),
    };
    TooLong { whose: whose(model, audience), chars, chars_max, help, at, label }
}

/// Returns the place of the text with the index, or else of the setting that requires one.
fn asks_for_index(model: &Model) -> Span {
    let asks = |message: &&SystemText| {
        instructions::variables(&message.text).any(|variable| variable.name == "prompt_index")
    };
    let written = instructions::said_at_once(model).find(asks).and_then(|message| message.at);
    written.or(model.gate.at.filter(|_| model.gate.on.value)).unwrap_or(model.project.name.at)
}
