//! A prompt and its arguments -> messages: choose the variant, fill the slots.
//!
//! Texts from a caller are only copied into slots, as literal text.

use std::collections::BTreeMap;
use std::mem;

use relay_bundle::{
    ArgumentKind, ArgumentView, Corrupt, MessageView, PartContent, RenderingView, Role, Segment,
};
use thiserror::Error;

use crate::equal_text;

/// The most bytes of a filled prompt: slots multiply the texts of a caller.
pub const FILLED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A prompt filled for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled<'b> {
    /// The number of the variant selected by the arguments.
    pub variant: usize,
    /// The value in force of every argument: given, default, or absent.
    pub values: Vec<Value<'b>>,
    /// The messages.
    pub messages: Vec<Message<'b>>,
}

/// An argument with the value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<'b> {
    /// The argument's name.
    pub name: &'b str,
    /// Its value, given or by default.
    pub text: Option<String>,
    /// The origin of the value.
    pub origin: Origin,
    /// Whether the project lists its possible values.
    pub finite: bool,
    /// The truncation of a text over its limit.
    pub truncation: Option<Truncation>,
}

/// The origin of an argument's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The caller gave it.
    Given,
    /// The project's default.
    Default,
    /// Absent, and has no default.
    Absent,
}

/// The truncation of an argument's text over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// The number of characters sent.
    pub chars: usize,
    /// The number of characters kept.
    pub kept: usize,
}

/// A message with its slots filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'b> {
    /// Its role.
    pub role: Role,
    /// Its parts, in order.
    pub parts: Vec<Part<'b>>,
}

/// A part of a message with its slots filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'b> {
    /// Text.
    Text(String),
    /// A picture: media type and bytes.
    Image(&'b str, &'b [u8]),
    /// A sound: media type and bytes.
    Audio(&'b str, &'b [u8]),
    /// An embedded resource of text: URI, media type and text.
    ResourceText(String, Option<&'b str>, String),
    /// An embedded resource of bytes: URI, media type and bytes.
    ResourceBlob(String, Option<&'b str>, &'b [u8]),
}

/// The reason for rejecting the arguments of a prompt. The messages are for the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FillError {
    /// The argument is undeclared.
    #[error("unknown argument `{name}`; {}", known_arguments(known))]
    UnknownArgument {
        /// The name from the caller, at most 64 characters of it.
        name: String,
        /// The declared arguments.
        known: Vec<String>,
    },
    /// A required argument is missing.
    #[error("argument `{name}` is required")]
    MissingArgument {
        /// Its name.
        name: String,
    },
    /// The value is outside the choices.
    #[error("argument `{name}` must be one of: {}", choices.join(", "))]
    NotAChoice {
        /// The argument.
        name: String,
        /// Its choices.
        choices: Vec<String>,
    },
    /// The filled prompt would be too large.
    #[error("the arguments are too long: the filled prompt would be over {FILLED_BYTES_MAX} bytes")]
    TooLarge,
    /// The bundle is corrupt.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl FillError {
    /// Returns the reason for a record, without texts from the caller.
    #[must_use]
    pub fn rule(&self) -> String {
        match self {
            Self::UnknownArgument { name: _, known } => {
                format!("unknown argument; {}", known_arguments(known))
            }
            Self::MissingArgument { .. }
            | Self::NotAChoice { .. }
            | Self::TooLarge
            | Self::Corrupt(_) => self.to_string(),
        }
    }
}

/// Fills a prompt or a URI template.
///
/// An empty text for an optional argument counts as absent: clients send one for a field that the
/// user left empty.
///
/// # Errors
///
/// An argument is unknown, missing or outside its choices, or the result would be too large.
pub fn fill<'b>(
    rendering: RenderingView<'b>,
    given: &BTreeMap<String, String>,
) -> Result<Filled<'b>, FillError> {
    let arguments = rendering.arguments()?;
    if let Some(name) = given.keys().find(|name| !arguments.iter().any(|a| a.name == **name)) {
        return Err(FillError::UnknownArgument {
            name: name.chars().take(64).collect(),
            known: arguments.iter().map(|argument| argument.name.into()).collect(),
        });
    }
    let mut variant = 0usize;
    let mut values = Vec::with_capacity(arguments.len());
    for argument in &arguments {
        let value = value(argument, given.get(argument.name))?;
        let state = state(argument, value.text.as_deref())?;
        variant = variant.saturating_add(state.saturating_mul(argument.stride as usize));
        values.push(value);
    }
    let mut room = FILLED_BYTES_MAX;
    let messages = rendering
        .messages(variant)?
        .iter()
        .map(|message| fill_message(message, &values, &mut room))
        .collect::<Result<_, _>>()?;
    Ok(Filled { variant, values, messages })
}

fn value<'b>(argument: &ArgumentView<'b>, given: Option<&String>) -> Result<Value<'b>, FillError> {
    let given = given.filter(|text| argument.required || !text.is_empty());
    let (text, origin) = match (given, argument.default) {
        (Some(text), _) => (Some(text.clone()), Origin::Given),
        (None, Some(default)) => (Some(default.to_owned()), Origin::Default),
        (None, None) if argument.required => {
            return Err(FillError::MissingArgument { name: argument.name.into() });
        }
        (None, None) => (None, Origin::Absent),
    };
    let mut value = Value { name: argument.name, text, origin, finite: true, truncation: None };
    if let (ArgumentKind::Choice(choices), Some(text)) = (&argument.kind, &mut value.text) {
        let is_choice = |text: &String| choices.iter().any(|choice| choice == text);
        if !is_choice(text) {
            let other = equal_text::texts(text).into_iter().find(is_choice);
            *text = other.unwrap_or_else(|| mem::take(text));
        }
    }
    if let ArgumentKind::Text { chars_max } = argument.kind {
        value.finite = false;
        if let (Some(text), true) = (&mut value.text, chars_max > 0) {
            let kept = chars_max as usize;
            if let Some((end, _)) = text.char_indices().nth(kept) {
                value.truncation = Some(Truncation { chars: text.chars().count(), kept });
                text.truncate(end);
            }
        }
    }
    Ok(value)
}

fn state(argument: &ArgumentView<'_>, value: Option<&str>) -> Result<usize, FillError> {
    argument.state(value).ok_or_else(|| FillError::NotAChoice {
        name: argument.name.into(),
        choices: match &argument.kind {
            ArgumentKind::Choice(choices) => {
                choices.iter().map(|choice| (*choice).into()).collect()
            }
            ArgumentKind::Text { .. } => Vec::new(),
        },
    })
}

fn fill_message<'b>(
    message: &MessageView<'b>,
    values: &[Value<'b>],
    room: &mut usize,
) -> Result<Message<'b>, FillError> {
    let parts = message
        .parts
        .iter()
        .map(|part| {
            Ok(match &part.content {
                PartContent::Text(segments) => Part::Text(fill_text(segments, values, room)?),
                PartContent::Image { mime, bytes } => Part::Image(mime, bytes),
                PartContent::Audio { mime, bytes } => Part::Audio(mime, bytes),
                PartContent::ResourceText { uri, mime, text } => Part::ResourceText(
                    fill_text(uri, values, room)?,
                    *mime,
                    fill_text(text, values, room)?,
                ),
                PartContent::ResourceBlob { uri, mime, bytes } => {
                    Part::ResourceBlob(fill_text(uri, values, room)?, *mime, bytes)
                }
            })
        })
        .collect::<Result<_, FillError>>()?;
    Ok(Message { role: message.role, parts })
}

fn fill_text(
    segments: &[Segment<&str>],
    values: &[Value<'_>],
    room: &mut usize,
) -> Result<String, FillError> {
    let texts: Vec<&str> = segments
        .iter()
        .map(|segment| match segment {
            Segment::Literal(text) => text,
            Segment::Slot(index) => values
                .get(*index as usize)
                .and_then(|value| value.text.as_deref())
                .unwrap_or_default(),
        })
        .collect();
    let length = texts.iter().map(|text| text.len()).sum();
    // The limit is checked before the copy.
    *room = room.checked_sub(length).ok_or(FillError::TooLarge)?;
    Ok(texts.concat())
}

fn known_arguments(known: &[String]) -> String {
    if known.is_empty() {
        "it takes none".into()
    } else {
        format!("it takes: {}", known.join(", "))
    }
}
