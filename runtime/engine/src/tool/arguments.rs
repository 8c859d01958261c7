//! The arguments of a call, as a client sent them -> what the table says of them.

use serde_json::{Map, Value};
use thiserror::Error;

use super::spec::{Kind, Parameter, ToolSpec};
use super::table::BRIEFING;

/// Names of unknown arguments are printed up to this many characters.
const NAME_CHARS_MAX: usize = 64;

/// The arguments of one call: each is of its parameter's kind, in its range, with its default.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments<'a>(Vec<(&'static str, Argument<'a>)>);

#[derive(Debug, Clone, PartialEq)]
enum Argument<'a> {
    Text(&'a str),
    Integer(i64),
    Boolean(bool),
    Tags(Vec<&'a str>),
}

/// What is wrong with the arguments of a call. The messages are for the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// The tool has no such argument.
    #[error("unknown argument `{name}`; it takes: {}", known.join(", "))]
    Unknown {
        /// What was given, truncated.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The tool has no arguments.
    #[error("unknown argument `{name}`; it takes none")]
    None {
        /// What was given, truncated.
        name: String,
    },
    /// An argument is missing.
    #[error("`{name}` is required: {expected}")]
    Missing {
        /// Which one.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// An argument is of another type.
    #[error("`{name}` must be {expected}")]
    WrongType {
        /// Which one.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
}

/// Decodes the arguments of a call of `spec`.
///
/// A null counts as not given, a number out of range as the nearest that is in range. The handle
/// of a briefing is taken wherever the tool knows one, also by a server without a gate.
///
/// # Errors
///
/// An argument is unknown, missing, or of another type.
pub fn decode<'a>(
    spec: &ToolSpec,
    given: &'a Map<String, Value>,
) -> Result<Arguments<'a>, ArgumentError> {
    let briefing = spec.takes_briefing().then_some(&BRIEFING);
    let parameters = || spec.parameters.iter().chain(briefing);
    let is_known = |name: &str| parameters().any(|parameter| parameter.name == name);
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        let name = name.chars().take(NAME_CHARS_MAX).collect();
        let known: Vec<_> = parameters().map(|parameter| parameter.name).collect();
        return Err(if known.is_empty() {
            ArgumentError::None { name }
        } else {
            ArgumentError::Unknown { name, known }
        });
    }
    let mut arguments = Vec::new();
    for parameter in parameters() {
        let value = given.get(parameter.name).filter(|value| !value.is_null());
        if let Some(argument) = decode_one(parameter, value)? {
            arguments.push((parameter.name, argument));
        }
    }
    Ok(Arguments(arguments))
}

fn decode_one<'a>(
    parameter: &Parameter,
    value: Option<&'a Value>,
) -> Result<Option<Argument<'a>>, ArgumentError> {
    let &Parameter { name, kind, required, meaning: _ } = parameter;
    let expected = kind.expected();
    let Some(value) = value else {
        return if required {
            Err(ArgumentError::Missing { name, expected })
        } else {
            Ok(default(kind))
        };
    };
    let argument = match kind {
        Kind::Text { .. } => value.as_str().map(Argument::Text),
        Kind::Integer { min, max, .. } => {
            integer(value).map(|number| Argument::Integer(number.clamp(min, max)))
        }
        Kind::Boolean => value.as_bool().map(Argument::Boolean),
        Kind::Tags => {
            let texts = |items: &'a Vec<Value>| items.iter().map(Value::as_str).collect();
            value.as_array().and_then(texts).map(Argument::Tags)
        }
    };
    argument.map(Some).ok_or(ArgumentError::WrongType { name, expected })
}

fn default(kind: Kind) -> Option<Argument<'static>> {
    match kind {
        Kind::Text { default } => default.map(Argument::Text),
        Kind::Integer { default, .. } => Some(Argument::Integer(default)),
        Kind::Boolean | Kind::Tags => None,
    }
}

/// JSON does not tell 50.0 from 50, and some clients send the former.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
        Some(number as i64)
    })
}

impl<'a> Arguments<'a> {
    /// Returns a text; `None` if there is none of that name.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            Argument::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a whole number; `None` if there is none of that name.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Argument::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a truth value; `None` if there is none of that name.
    #[must_use]
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Argument::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a list of keywords; an empty one if there is none of that name.
    #[must_use]
    pub fn tags(&self, name: &str) -> &[&'a str] {
        match self.get(name) {
            Some(Argument::Tags(tags)) => tags,
            _ => &[],
        }
    }

    fn get(&self, name: &str) -> Option<&Argument<'a>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, argument)| argument)
    }
}
