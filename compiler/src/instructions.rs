//! The instructions that a client gets when it connects, and the index of prompts in them.
//!
//! A client reads the greeting, how to use the tools and, if there is a gate, the way to pass it.
//! Clients silently truncate long instructions, so they are shortened here, by rule: entries of the
//! lowest priority go first, and the text counts them. Only the texts of messages are searched for
//! variables; the values that replace them stay literal.

use relay_bundle::MessagePiece;
use relay_engine::{briefing, prompt_index};

use crate::ast::MessageName;
use crate::model::audience::Audience;
use crate::model::{Gate, Model, Prompt, SystemText};

/// The build-time variables of every message, with their meanings.
pub(crate) const BUILD_VARIABLES: [(&str, &str); 2] = [
    ("project_name", "The project's name."),
    (
        "prompt_index",
        "The list of prompts, the most important first, as the gate's `index` shapes it.",
    ),
];
/// The run-time variables of the messages that are sent at run time, with their meanings.
pub(crate) const RUN_VARIABLES: [(&str, &str); 2] = [
    ("matched_prompts", "The texts of the prompts that were selected."),
    (
        "remaining_prompts",
        "The list of the prompts that were not sent: what matches with a line about it, then names.",
    ),
];

/// Instructions, and the prompts that they list.
pub(crate) struct Instructions {
    pub(crate) text: String,
    /// The rows of the prompts that the index lists, in its order; empty if the text leaves the
    /// index out.
    pub(crate) listed: Vec<usize>,
    /// The index, the same in every message.
    pub(crate) index: String,
    /// Whether the text asks for the index at all.
    pub(crate) wants_index: bool,
    /// The number of prompts to list.
    pub(crate) count: usize,
    /// The number of prompts that the cap left out.
    pub(crate) over_cap: usize,
    /// The number of prompts that were left out for want of characters.
    pub(crate) over_chars: usize,
}

/// Fills the variables for an audience, and shortens the index until the whole fits.
pub(crate) fn compose(model: &Model, audience: &Audience) -> Instructions {
    let text = joined(model, audience);
    let project = &model.project.name.value;
    let times = variables(&text).filter(|variable| variable.name == "prompt_index").count();
    let frame = if times == 0 { 0 } else { fill(&text, project, "").chars().count() };
    let mut listed: Vec<(usize, &Prompt)> = model.indexed(audience).collect();
    let count = listed.len();
    by_priority(&mut listed, &model.gate);
    let over_cap = count - listed.len();
    let mut entries: Vec<String> = listed.iter().map(|(_, prompt)| entry(prompt, model)).collect();
    // The index goes into other messages too, so it is bounded even if these texts leave it out.
    let room = (model.gate.instructions_chars.value as usize).saturating_sub(frame) / times.max(1);
    let fitting = fitting(&entries, count, model, room);
    let over_chars = entries.len() - fitting;
    entries.truncate(fitting);
    listed.truncate(if times == 0 { 0 } else { fitting });
    let index = prompt_index::text(&entries, over_cap + over_chars, model.gate.on.value);
    Instructions {
        text: fill(&text, project, &index),
        listed: listed.into_iter().map(|(row, _)| row).collect(),
        index,
        wants_index: times > 0,
        count,
        over_cap,
        over_chars,
    }
}

/// Returns the texts for an audience, with blank lines between them.
fn joined(model: &Model, audience: &Audience) -> String {
    let is_guided = model.guides(audience);
    let said = said_at_once(model)
        .filter(|message| is_guided || message.name != MessageName::ToolGuidance)
        .map(|message| message.text.as_str());
    said.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns the messages that make the instructions.
pub(crate) fn said_at_once(model: &Model) -> impl Iterator<Item = &SystemText> {
    let texts = &model.messages;
    let messages = [&texts.session_greeting, &texts.tool_guidance, &texts.gate_instructions];
    messages.into_iter().filter(|message| model.says(message))
}

/// Keeps the prompts within the cap, the most important first.
fn by_priority(listed: &mut Vec<(usize, &Prompt)>, gate: &Gate) {
    if listed.len() > gate.index_cap.value as usize {
        listed.retain(|(_, prompt)| prompt.settings.priority.value >= gate.over_cap_priority.value);
    }
    // Names are sorted already, so equal priorities stay in their order.
    listed.sort_by_key(|(_, prompt)| std::cmp::Reverse(prompt.settings.priority.value));
}

/// Returns the number of entries in an index of at most `room` characters, of a project with
/// `count` prompts.
fn fitting(entries: &[String], count: usize, model: &Model, room: usize) -> usize {
    let mut chars: usize = entries.iter().map(|entry| entry.chars().count() + 1).sum();
    for listed in (1..=entries.len()).rev() {
        let rest = prompt_index::rest(listed, count - listed, model.gate.on.value);
        // Every line but the last one has a line end.
        let last = rest.map_or(0, |rest| rest.chars().count() + 1);
        if chars + last <= room + 1 {
            return listed;
        }
        chars -= entries.get(listed - 1).map_or(0, |entry| entry.chars().count() + 1);
    }
    0
}

fn entry(prompt: &Prompt, model: &Model) -> String {
    let written = prompt.summary.as_ref().filter(|summary| summary.at.is_some());
    let written = written.map(|summary| &summary.value);
    let description = prompt.settings.description.as_ref().map(|description| &description.value);
    let made = prompt.summary.as_ref().map(|summary| &summary.value);
    let about = written.or(description).or(made).map(String::as_str);
    briefing::entry(&prompt.name.value, about, model.gate.entry_chars.value as usize)
}

/// Returns a message that is completed when it is sent, with its build-time variables filled. An
/// absent `index` means that each audience has its own.
pub(crate) fn pieces(
    message: &SystemText,
    project: &str,
    index: Option<&str>,
) -> Vec<MessagePiece> {
    let text = &message.text;
    let mut pieces = Vec::new();
    let mut at = 0;
    for variable in variables(text) {
        let piece = match variable.name {
            "matched_prompts" => MessagePiece::Matched,
            "remaining_prompts" => MessagePiece::Remaining,
            "prompt_index" if index.is_none() => MessagePiece::Index,
            _ => continue,
        };
        literal(text.get(at..variable.start), project, index.unwrap_or_default(), &mut pieces);
        pieces.push(piece);
        at = variable.end;
    }
    literal(text.get(at..), project, index.unwrap_or_default(), &mut pieces);
    pieces
}

fn literal(text: Option<&str>, project: &str, index: &str, pieces: &mut Vec<MessagePiece>) {
    let filled = fill(text.unwrap_or_default(), project, index);
    if !filled.is_empty() {
        pieces.push(MessagePiece::Literal(filled));
    }
}

/// Returns the bytes of a message with its build-time variables filled.
pub(crate) fn bytes(message: &SystemText, project: &str, index: &str) -> usize {
    let filled = |variable: Variable<'_>| {
        let written = variable.end - variable.start;
        match variable.name {
            "project_name" => (written, project.len()),
            "prompt_index" => (written, index.len()),
            _ => (written, 0),
        }
    };
    variables(&message.text).map(filled).fold(message.text.len(), |bytes, (written, filled)| {
        bytes.saturating_sub(written).saturating_add(filled)
    })
}

/// Returns whether a message that is sent at run time can name the selection.
pub(crate) fn is_sent_later(name: MessageName) -> bool {
    match name {
        MessageName::SessionGreeting
        | MessageName::ToolGuidance
        | MessageName::GateInstructions => false,
        MessageName::GateEncouragement
        | MessageName::ReadPromptsReminder
        | MessageName::GateInterceptPreamble => true,
    }
}

/// Returns whether the name is one of these variables.
pub(crate) fn has(variables: &[(&str, &str)], name: &str) -> bool {
    variables.iter().any(|(known, _)| *known == name)
}

/// A variable in a text: `{{name}}`.
pub(crate) struct Variable<'t> {
    pub(crate) name: &'t str,
    /// Its first byte and the byte after its last, braces included.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Returns the variables of a text in their order. An unclosed `{{` is text.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = Variable<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let open = rest.find("{{")?;
        let inner = rest.get(open + 2..)?;
        let close = inner.find("}}")?;
        let (start, end) = (at + open, at + open + 2 + close + 2);
        at = end;
        Some(Variable { name: inner.get(..close)?.trim(), start, end })
    })
}

fn fill(text: &str, project: &str, index: &str) -> String {
    let mut filled = String::new();
    let mut at = 0;
    for variable in variables(text) {
        filled.push_str(text.get(at..variable.start).unwrap_or_default());
        match variable.name {
            "project_name" => filled.push_str(project),
            "prompt_index" => filled.push_str(index),
            _ => filled.push_str(text.get(variable.start..variable.end).unwrap_or_default()),
        }
        at = variable.end;
    }
    filled.push_str(text.get(at..).unwrap_or_default());
    filled
}
