//! The bytes of an event -> a JSON object, read strictly.
//!
//! Clients and hooks that read the same bytes differently are a way around a hook: of two members of
//! one name, one program takes the first and another the last. So such an event is refused, as is one
//! with anything before or after its object.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use thiserror::Error;

/// The most bytes of an event.
pub(crate) const EVENT_BYTES_MAX: usize = 4 << 20;
/// The deepest nesting of an event.
const DEPTH_MAX: usize = 64;

/// The reason for refusing the bytes of an event.
#[derive(Debug, Error)]
pub(crate) enum JsonError {
    #[error("the event has more than {EVENT_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the event is empty")]
    Empty,
    #[error("the event is not one JSON object: {0}")]
    Invalid(serde_json::Error),
    #[error("the event is not one JSON object")]
    NoObject,
}

/// Reads an event.
///
/// # Errors
///
/// The bytes are not exactly one JSON object, two members of an object have one name, or it is too
/// large or too deep.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Value>, JsonError> {
    if bytes.len() > EVENT_BYTES_MAX {
        return Err(JsonError::TooLarge);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(JsonError::Empty);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict(DEPTH_MAX)
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(JsonError::Invalid)?;
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(JsonError::NoObject),
    }
}

/// Reads a value of this depth at most.
#[derive(Clone, Copy)]
struct Strict(usize);

impl Strict {
    fn below<E: de::Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("it is nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(de::Error::custom("two members of an object have the same name"));
            }
            let value = members.next_value_seed(below)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_plain_object_is_an_event() {
        assert!(object(b" {\"a\": [1, -2, 0.5, true, null, {\"b\": \"c\"}]}\n").is_ok());
        let deep = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        assert!(object(deep(DEPTH_MAX).as_bytes()).is_ok());
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(EVENT_BYTES_MAX));
        for bad in [
            "",
            " ",
            "[]",
            "1",
            "{",
            "{\"a\":1",
            "{} {}",
            "{}x",
            "x{}",
            "\u{feff}{}",
            "{\"a\":1,\"a\":2}",
            "{\"a\":{\"b\":1,\"\\u0062\":2}}",
            "{\"a\":[{\"b\":1,\"b\":1}]}",
            &deep(DEPTH_MAX + 1),
            &deep(10_000),
            &large,
        ] {
            assert!(object(bad.as_bytes()).is_err(), "{}", bad.get(..40).unwrap_or(bad));
        }
        assert!(object(b"{\"a\":\"\xff\"}").is_err());
    }
}
