//! The text of a prompt in a briefing, for which no one gives arguments.
//!
//! It equals the result of a call without arguments. Where such a call would be rejected, a choice
//! takes its first value, and a text is its name in braces.

use relay_bundle::{
    Argument, ArgumentKind, Message, Part, PartContent, Rendering, Role, Segment, SharedText,
};

use super::one_line::line;

/// The most characters of the line about the values in use.
const CHOICES_CHARS_MAX: usize = 300;

/// The most characters of an agent skill's description in a briefing: as many as its specification
/// admits.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// The most bytes of slots that a text in a briefing lacks: line feeds at the ends of its parts.
const TRIMMED_BYTES_MAX: usize = 64 << 20;

/// Returns whether the text in a briefing is `text`.
///
/// A slot repeats a text that is stored once, so the text of a small bundle could be made without end. Slots are
/// in it whole, so where they have far more bytes than `text`, it is refused before it is made.
pub(super) fn is(rendering: &Rendering, text: &str) -> bool {
    let slots_bytes_max = text.len().saturating_add(TRIMMED_BYTES_MAX);
    BriefingVariant::of(rendering).slots_bytes() <= slots_bytes_max && *of(rendering) == *text
}

/// Returns the text in a briefing.
#[must_use]
pub fn of(rendering: &Rendering) -> SharedText {
    let variant = BriefingVariant::of(rendering);
    let said = variant.said();
    match variant.choices() {
        Some(line) => format!("{line}\n{said}").into(),
        None => said,
    }
}

/// Returns the text in a briefing for the prompt of an agent skill: its description, and the URI of its
/// text, which an agent reads when a task needs it.
#[must_use]
pub fn of_agent_skill(name: &str, description: &str, uri: &str) -> String {
    format!(
        "Agent skill `{name}`: {}\nBefore you do this, read the resource {uri}.",
        line(description, DESCRIPTION_CHARS_MAX)
    )
}

/// Returns the texts that the author of a prompt wrote in it, without the frame around embedded
/// ones.
#[must_use]
pub fn without_frame(rendering: &Rendering) -> SharedText {
    let variant = BriefingVariant::of(rendering);
    let parts = variant.messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match &part.content {
        PartContent::Text(segments) => Some(variant.filled(segments)),
        PartContent::Image { .. }
        | PartContent::Audio { .. }
        | PartContent::ResourceText { .. }
        | PartContent::ResourceBlob { .. } => None,
    });
    joined(texts)
}

/// The variant for a call that gives no arguments.
struct BriefingVariant<'r> {
    arguments: &'r [Argument],
    messages: &'r [Message],
}

impl<'r> BriefingVariant<'r> {
    fn of(rendering: &'r Rendering) -> Self {
        let Rendering { arguments, variants } = rendering;
        let number: usize =
            arguments.iter().map(|argument| state(argument) * argument.stride as usize).sum();
        let messages = variants.get(number).map(Vec::as_slice).unwrap_or_default();
        Self { arguments, messages }
    }

    fn said(&self) -> SharedText {
        // A single voice needs no name.
        let named = self.messages.iter().any(|message| message.role == Role::Assistant);
        joined(self.messages.iter().map(|message| {
            let said = joined(message.parts.iter().map(|part| self.part(part)));
            match message.role {
                _ if !named => said,
                Role::User => format!("[user]\n{said}").into(),
                Role::Assistant => format!("[assistant]\n{said}").into(),
            }
        }))
    }

    fn part(&self, part: &Part) -> SharedText {
        let named = match &part.content {
            PartContent::Text(segments) => return self.filled(segments),
            PartContent::Image { mime, bytes } => format!("[image: {mime}, {} bytes]", bytes.len()),
            PartContent::Audio { mime, bytes } => format!("[audio: {mime}, {} bytes]", bytes.len()),
            PartContent::ResourceText { uri, mime: _, text } => {
                format!("[resource: {}]\n{}", self.filled(uri), self.filled(text))
            }
            PartContent::ResourceBlob { uri, mime, bytes } => {
                let mime = mime.as_ref().map(|mime| format!("{mime}, ")).unwrap_or_default();
                format!("[resource: {}, {mime}{} bytes]", self.filled(uri), bytes.len())
            }
        };
        named.into()
    }

    /// Returns the bytes of all slots.
    fn slots_bytes(&self) -> usize {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let texts = parts.flat_map(|part| match &part.content {
            PartContent::Text(text) => [text.as_slice(), &[]],
            PartContent::ResourceText { uri, mime: _, text } => [uri.as_slice(), text],
            PartContent::ResourceBlob { uri, .. } => [uri.as_slice(), &[]],
            PartContent::Image { .. } | PartContent::Audio { .. } => [&[][..], &[]],
        });
        let bytes = texts.flatten().map(|segment| match segment {
            Segment::Literal(_) => 0,
            Segment::Slot(index) => self.slot(*index).iter().map(|text| text.len()).sum(),
        });
        bytes.fold(0, usize::saturating_add)
    }

    /// Returns what fills a slot: the default of its argument, or its name in braces.
    fn slot(&self, index: u32) -> [&str; 3] {
        match self.arguments.get(index as usize) {
            Some(Argument { default: Some(default), .. }) => [default, "", ""],
            Some(Argument { name, .. }) => ["{", name, "}"],
            None => [""; 3],
        }
    }

    fn filled(&self, segments: &[Segment]) -> SharedText {
        if let [Segment::Literal(literal)] = segments {
            return literal.clone();
        }
        let mut text = String::new();
        for segment in segments {
            match segment {
                Segment::Literal(literal) => text.push_str(literal),
                Segment::Slot(index) => text.extend(self.slot(*index)),
            }
        }
        text.into()
    }

    /// Returns the line with the values in use and the other values: `[shown for
    /// environment=staging; also: production]`, if a choice changes the text.
    fn choices(&self) -> Option<String> {
        let steering: Vec<_> = self
            .arguments
            .iter()
            .filter_map(|argument| match &argument.kind {
                ArgumentKind::Choice(choices) if argument.stride > 0 => Some((argument, choices)),
                _ => None,
            })
            .collect();
        let alone = steering.len() == 1;
        let (mut shown, mut others) = (Vec::new(), Vec::new());
        for (argument, choices) in steering {
            let Argument { name, .. } = argument;
            let value = value(argument, choices);
            shown.push(match value {
                Some(value) => format!("{name}={value}"),
                None => format!("no {name}"),
            });
            let rest = choices.iter().filter(|choice| Some(*choice) != value);
            others.extend(rest.map(|value| match alone {
                true => value.clone(),
                false => format!("{name}={value}"),
            }));
        }
        if others.is_empty() {
            return None;
        }
        let choices = format!("shown for {}; also: {}", shown.join(", "), others.join(", "));
        Some(format!("[{}]", line(&choices, CHOICES_CHARS_MAX)))
    }
}

/// Returns the state of an absent argument; see [`Rendering`].
fn state(argument: &Argument) -> usize {
    match argument.default.as_deref() {
        None if argument.required => 0,
        default => argument.state(default).unwrap_or(0),
    }
}

/// Returns the value of an absent choice.
fn value<'a>(argument: &'a Argument, choices: &'a [String]) -> Option<&'a String> {
    argument.default.as_ref().or_else(|| choices.first().filter(|_| argument.required))
}

/// Joins the non-empty texts with blank lines.
fn joined(texts: impl Iterator<Item = SharedText>) -> SharedText {
    let mut texts = texts.filter(|text| !text.is_empty());
    let first = texts.next().unwrap_or_default();
    let Some(second) = texts.next() else { return first };
    let mut joined = first.to_string();
    for text in [second].into_iter().chain(texts) {
        joined.truncate(joined.trim_end_matches('\n').len());
        joined.push_str("\n\n");
        joined.push_str(&text);
    }
    joined.into()
}

#[cfg(test)]
mod tests;
