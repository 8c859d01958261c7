//! The text of a prompt for programs that know one text and the words that people type after a name.

use relay_bundle::{PartContent, Prompt, Role, Segment, Setting};

/// The one argument of such a text, and its mark.
const ARGUMENT: &str = "arguments";
const MARK: &str = "$ARGUMENTS";

/// The default priority of a prompt.
const PRIORITY: u8 = 5;

/// Returns the text of a prompt.
///
/// # Errors
///
/// The reason why it has no such text.
pub(super) fn of(prompt: &Prompt) -> Result<String, String> {
    let rendering = &prompt.rendering;
    if let Some(argument) = rendering.arguments.iter().find(|argument| argument.name != ARGUMENT) {
        return Err(format!("its text depends on the argument `{}`", argument.name));
    }
    let [messages] = rendering.variants.as_slice() else {
        return Err("its text depends on arguments".to_owned());
    };
    let [message] = messages.as_slice() else {
        return Err(format!("it has {} messages", messages.len()));
    };
    if message.role != Role::User {
        return Err("its message is not the user's".to_owned());
    }
    let [part] = message.parts.as_slice() else {
        return Err(format!("its message has {} parts", message.parts.len()));
    };
    let PartContent::Text(segments) = &part.content else {
        return Err("its message is not a text".to_owned());
    };
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        // The argument is the only one.
        Segment::Slot(_) => MARK.to_owned(),
    };
    Ok(segments.iter().map(piece).collect())
}

/// Returns the differences that every form of prompts has.
pub(super) fn changes(prompt: &Prompt, keeps_always: bool) -> Vec<String> {
    let mut changes = Vec::new();
    let priority = prompt.priority.value;
    if priority != PRIORITY && !(keeps_always && priority == 10) {
        changes.push(format!("priority {priority} is dropped"));
    }
    if prompt.chapters.iter().any(is_written) {
        changes.push("its chapters are dropped".to_owned());
    }
    changes
}

/// Returns the summary, if its author wrote one.
pub(super) fn summary(prompt: &Prompt) -> Option<&str> {
    prompt.summary.as_ref().filter(|summary| is_written(summary)).map(|text| text.value.as_str())
}

/// Returns the description.
pub(super) fn description(prompt: &Prompt) -> Option<&str> {
    prompt.description.as_ref().map(|text| text.value.as_str())
}

/// Returns whether a text was written; a generated one has no place.
fn is_written(text: &Setting<String>) -> bool {
    text.at.is_some()
}
