//! The arguments of a call, taken out one by one; whatever nobody took is the caller's mistake.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::caller::shown;

/// Names of arguments are shown up to this many characters.
const NAME_CHARS_MAX: usize = 64;

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

/// What is wrong with an argument, for the caller.
pub(super) type Fault = String;

impl Arguments {
    pub(super) fn new(given: Map<String, Value>) -> Self {
        Self { left: given, known: Vec::new() }
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string")),
        }
    }

    /// Takes a list of texts, which must be there.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Fault> {
        let wrong = || format!("`{name}` must be an array of strings");
        let Some(value) = self.take(name) else {
            return Err(format!("`{name}` is required: an array of strings"));
        };
        let Value::Array(items) = value else { return Err(wrong()) };
        let text = |item| match item {
            Value::String(text) => Ok(text),
            _ => Err(wrong()),
        };
        items.into_iter().map(text).collect()
    }

    /// Takes a whole number; one out of range counts as the nearest that is in range.
    pub(super) fn integer(
        &mut self,
        name: &'static str,
        (low, high): (i64, i64),
    ) -> Result<Option<i64>, Fault> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let clamped = |number: i64| number.clamp(low, high);
        // JSON does not tell 50.0 from 50, and some clients send the former.
        let number = value.as_i64().map(clamped).or_else(|| {
            let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
            #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
            Some(clamped(number as i64))
        });
        number.map(Some).ok_or_else(|| format!("`{name}` must be a whole number"))
    }

    /// Takes a truth value.
    pub(super) fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(format!("`{name}` must be true or false")),
        }
    }

    /// Refuses what was not taken.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(NAME_CHARS_MAX).collect();
                let known = match self.known.as_slice() {
                    [] => "it takes none".to_owned(),
                    known => format!("it takes: {}", known.join(", ")),
                };
                Err(format!("unknown argument `{name}`; {known}"))
            }
        }
    }

    /// Takes a value; null counts as not given.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name).filter(|value| !value.is_null())
    }
}

/// Returns the arguments as a record shows them: numbers and truth values as they are, of texts
/// only how long they are, of lists and objects only how many entries they have.
pub(super) fn recorded(given: &Map<String, Value>) -> BTreeMap<String, String> {
    const ARGUMENTS_MAX: usize = 64;
    let named = given.iter().filter(|(name, _)| name.chars().count() <= NAME_CHARS_MAX);
    let shown = named.take(ARGUMENTS_MAX).map(|(name, value)| {
        let value = match value {
            Value::String(text) => format!("[{} characters]", text.chars().count()),
            Value::Array(items) => format!("[{} entries]", items.len()),
            Value::Object(object) => format!("[{} entries]", object.len()),
            Value::Null | Value::Bool(_) | Value::Number(_) => shown(&value.to_string()),
        };
        (name.clone(), value)
    });
    shown.collect()
}
