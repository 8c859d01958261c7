//! JSON in which no object has a member twice.
//!
//! Parsers differ in the one of two that counts, so a decision on one could be followed by a call
//! with the other. Some also take names that differ only in their case for one.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The objects in which names that differ only in case count as one: a message, its parameters, and
/// the arguments of its call.
const FOLDED_DEPTH: usize = 3;

/// Reads an object; `None` for other texts, and for an object with a member twice at any depth.
pub(super) fn object(text: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice::<Unique>(text).ok()?;
    let Value::Object(object) = serde_json::from_slice(text).ok()? else { return None };
    is_unambiguous(&object, FOLDED_DEPTH).then_some(object)
}

fn is_unambiguous(object: &Map<String, Value>, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return true };
    let mut names = BTreeSet::new();
    object.iter().all(|(name, value)| {
        let is_new = names.insert(folded(name));
        is_new && value.as_object().is_none_or(|object| is_unambiguous(object, below))
    })
}

/// Folds the case of a name, so that letters with a common upper or lower case are equal.
fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Any value without doubled members.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without doubled members")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                // Read to the end all the same: the caller needs only the fact.
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Err(serde::de::Error::custom("a member is doubled"));
            }
            members.next_value::<Unique>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_members_are_found_at_every_depth() {
        let is_object = |text: &str| object(text.as_bytes()).is_some();
        for good in [
            r#"{}"#,
            r#"{"a":1,"b":{"a":1.5e3,"c":[{"a":null},{"a":true}]}}"#,
            r#"{"a":{"b":{"c":{"path":1,"PATH":2}}}}"#,
            r#"{"a":123456789012345678901234567890}"#,
        ] {
            assert!(is_object(good), "{good}");
        }
        for bad in [
            "",
            "null",
            "[]",
            "{",
            "{} {}",
            "{}x",
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":{"b":[{"c":1,"c":2}]}}"#,
            r#"{"name":1,"Name":1}"#,
            r#"{"a":{"params":1,"param\u017f":1}}"#,
            r#"{"a":{"b":{"path":1,"PATH":2}}}"#,
        ] {
            assert!(!is_object(bad), "{bad}");
        }
    }
}
