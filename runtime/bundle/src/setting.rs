//! A value that a project may set, with its place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Corrupt;
use crate::place::Place;
use crate::reader::Reader;
use crate::row::{ABSENT, Written};
use crate::writer::Writer;

/// A value, and where it was written; a default, or a value that the compiler generated, has no
/// place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it was written: `file:line:column`; absent for a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

impl<T> Setting<T> {
    /// Returns a value without a place: a default or a generated one.
    pub fn default_of(value: T) -> Self {
        Self { value, at: None }
    }
}

/// Returns the settings of a struct by their names, without the places.
///
/// A new setting then appears in every full listing.
#[must_use]
pub fn values(settings: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(fields)) = serde_json::to_value(settings) else { return Map::new() };
    let settings = fields.into_iter().filter(|(name, _)| name != "at");
    settings
        .map(|(name, mut setting)| {
            let value = setting.get_mut("value").map(Value::take);
            (name, value.unwrap_or(setting))
        })
        .collect()
}

impl Writer<'_> {
    pub(crate) fn written(&mut self, Setting { value, at }: &Setting<String>) -> Written {
        Written { text: self.string(value), at: self.optional_place(at.as_ref()) }
    }

    pub(crate) fn optional_written(&mut self, setting: Option<&Setting<String>>) -> Written {
        setting.map_or(Written::ABSENT, |setting| self.written(setting))
    }
}

impl Reader {
    pub(crate) fn written(&self, written: Written) -> Result<Setting<String>, Corrupt> {
        let Written { text, at } = written;
        Ok(Setting { value: self.string(text)?.to_owned(), at: self.optional_place(at)? })
    }

    pub(crate) fn optional_written(
        &self,
        written: Written,
    ) -> Result<Option<Setting<String>>, Corrupt> {
        match written.text.offset.get() {
            ABSENT => Ok(None),
            _ => self.written(written).map(Some),
        }
    }
}
