//! A whole number in a range.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A whole number in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Within<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Within<MIN, MAX> {
    /// Returns `number` if it is in the range.
    pub(crate) const fn new(number: u32) -> Option<Self> {
        if MIN <= number && number <= MAX { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Within<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        u32::try_from(number).ok().and_then(Self::new).ok_or_else(|| {
            serde::de::Error::custom(format!("{number} is not a number from {MIN} to {MAX}"))
        })
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Within<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("From{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}
