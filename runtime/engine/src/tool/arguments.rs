//! The arguments of a call, as sent by a client -> the declared arguments.

use std::borrow::Cow;

use serde_json::{Map, Value};
use thiserror::Error;

use super::limits::Limits;
use super::spec::{Bound, Kind, Limit, Parameter, ToolSpec};
use super::table::BRIEFING;

/// The most characters of the name of an unknown argument in messages.
const NAME_CHARS_MAX: usize = 64;

/// The arguments of one call: each has its parameter's type, range and default.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments<'a>(Vec<(&'static str, Cow<'a, Value>)>);

/// The reason why the arguments of a call are rejected. The messages are for the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// The argument is undeclared.
    #[error("unknown argument `{name}`; it takes: {}", known.join(", "))]
    Unknown {
        /// The name from the caller, truncated.
        name: String,
        /// The declared arguments.
        known: Vec<&'static str>,
    },
    /// An argument is missing.
    #[error("`{name}` is required: {expected}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// The accepted values, in words.
        expected: &'static str,
    },
    /// An argument has another type.
    #[error("`{name}` must be {expected}")]
    WrongType {
        /// Its name.
        name: &'static str,
        /// The accepted values, in words.
        expected: &'static str,
    },
}

impl ArgumentError {
    /// Returns the reason for a record, without texts from the caller.
    #[must_use]
    pub fn rule(&self) -> String {
        match self {
            Self::Unknown { name: _, known } => {
                format!("unknown argument; it takes: {}", known.join(", "))
            }
            Self::Missing { .. } | Self::WrongType { .. } => self.to_string(),
        }
    }
}

/// Decodes the arguments of a call of `spec`.
///
/// A null counts as absent, a number out of range as the nearest one in range, which `limits` may set. The handle of a
/// briefing is accepted by every tool that can take one, even on an ungated server.
///
/// # Errors
///
/// An argument is unknown, missing, or of another type.
pub fn decode<'a>(
    spec: &ToolSpec,
    given: &'a Map<String, Value>,
    limits: &Limits,
) -> Result<Arguments<'a>, ArgumentError> {
    let briefing = spec.takes_briefing().then_some(&BRIEFING);
    let parameters = || spec.parameters.iter().chain(briefing);
    let is_known = |name: &str| parameters().any(|parameter| parameter.name == name);
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        let name = name.chars().take(NAME_CHARS_MAX).collect();
        let known = parameters().map(|parameter| parameter.name).collect();
        return Err(ArgumentError::Unknown { name, known });
    }
    let mut arguments = Vec::new();
    for &Parameter { name, kind, required, meaning: _ } in parameters() {
        let expected = kind.expected();
        match given.get(name).filter(|value| !value.is_null()) {
            Some(value) => {
                let value = check(kind, value, limits);
                arguments.push((name, value.ok_or(ArgumentError::WrongType { name, expected })?));
            }
            None if required => return Err(ArgumentError::Missing { name, expected }),
            None => arguments.extend(default(kind, limits).map(|value| (name, Cow::Owned(value)))),
        }
    }
    Ok(Arguments(arguments))
}

/// Returns a value in its range; `None` if it has another type.
fn check<'v>(kind: Kind, value: &'v Value, limits: &Limits) -> Option<Cow<'v, Value>> {
    let is_right = match kind {
        Kind::Integer { min, max, .. } => {
            let max = limits.number(max).max(min);
            return integer(value).map(|number| Cow::Owned(number.clamp(min, max).into()));
        }
        Kind::Timeout { default } => {
            let max = limits.number(Bound::Limit(Limit::MaxTimeout)).max(1);
            let named = |number: i64| if number == 0 { limits.number(default) } else { number };
            return integer(value).map(|number| Cow::Owned(named(number).clamp(1, max).into()));
        }
        Kind::Decimal { max_ms, .. } => {
            return value.as_f64().map(|seconds| Cow::Owned(milliseconds(seconds, max_ms).into()));
        }
        Kind::Text { .. } => value.is_string(),
        Kind::Boolean { .. } => value.is_boolean(),
        Kind::Tags => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
    };
    is_right.then_some(Cow::Borrowed(value))
}

fn default(kind: Kind, limits: &Limits) -> Option<Value> {
    match kind {
        Kind::Text { default } => default.map(Value::from),
        Kind::Integer { default, max, .. } => {
            Some(limits.number(default).min(limits.number(max)).into())
        }
        Kind::Timeout { default } => {
            let max = limits.number(Bound::Limit(Limit::MaxTimeout)).max(1);
            Some(limits.number(default).clamp(1, max).into())
        }
        Kind::Decimal { default_ms, .. } => Some(default_ms.into()),
        Kind::Boolean { default } => default.map(Value::from),
        Kind::Tags => None,
    }
}

/// Returns seconds in milliseconds, at most `max_ms`.
fn milliseconds(seconds: f64, max_ms: u32) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    let milliseconds = (seconds * 1000.0) as u32;
    milliseconds.min(max_ms)
}

/// Returns a whole number. In JSON, 50.0 and 50 are one number, and some clients send the former.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
        Some(number as i64)
    })
}

impl Arguments<'_> {
    /// Returns a text; `None` if the argument is absent.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Returns a whole number, of a decimal one its milliseconds; `None` if the argument is absent.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    /// Returns a truth value; `None` if the argument is absent.
    #[must_use]
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// Returns a list of keywords; empty if the argument is absent.
    #[must_use]
    pub fn tags(&self, name: &str) -> Vec<&str> {
        let items = self.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_ref())
    }
}
