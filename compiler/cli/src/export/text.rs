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
        Segment::Literal(text) => text.to_string(),
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

/// Returns a note on each mark in a prompt's own text that a program would expand.
pub(super) fn expanded(prompt: &Prompt, marks: &[Mark]) -> Vec<String> {
    let messages = prompt.rendering.variants.iter().flatten();
    let parts = messages.flat_map(|message| message.parts.iter());
    let texts: Vec<&str> = parts
        .filter_map(|part| match &part.content {
            PartContent::Text(segments) => Some(segments),
            _ => None,
        })
        .flatten()
        .filter_map(|segment| match segment {
            Segment::Literal(text) => Some(&**text),
            Segment::Slot(_) => None,
        })
        .collect();
    let found = marks.iter().filter_map(|mark| {
        let (example, effect) = mark.words();
        let is_in = texts.iter().any(|text| mark.is_in(text));
        is_in.then(|| format!("{example} in its text is a mark there: {effect}"))
    });
    found.collect()
}

/// A mark that other programs expand, and relay does not.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    /// A command, whose output is put in.
    Command,
    /// A file, whose text is put in.
    File,
    /// One of the typed words, or all of them.
    Argument,
}

impl Mark {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Command => ("`` !`command` ``", "the command is run, and its output put in"),
            Self::File => ("`@file`", "the file is put in"),
            Self::Argument => ("`$1` or `$ARGUMENTS`", "the words that people type are put in"),
        }
    }

    fn is_in(self, text: &str) -> bool {
        let after = |mark: &str, is_next: fn(char) -> bool| {
            text.match_indices(mark).any(|(at, _)| {
                text.get(at + mark.len()..).is_some_and(|rest| rest.starts_with(is_next))
            })
        };
        match self {
            Self::Command => text.contains("!`"),
            Self::Argument => text.contains(MARK) || after("$", |next| next.is_ascii_digit()),
            Self::File => text.split_whitespace().any(|word| {
                let path = word.strip_prefix('@').unwrap_or_default();
                path.trim_end_matches(['.', ',', ':', ';']).contains(['/', '.'])
            }),
        }
    }
}

/// Returns a note if a form that has no place for `meta` drops it.
pub(super) fn dropped_meta(prompt: &Prompt) -> Option<String> {
    prompt.meta.is_some().then(|| "its `meta` is dropped".to_owned())
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
