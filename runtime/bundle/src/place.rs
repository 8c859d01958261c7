//! Places in the project's files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::little_endian::U32;

use crate::error::Corrupt;
use crate::reader::Reader;
use crate::row::{self, ABSENT, row};
use crate::writer::Writer;

/// A place in the project's files.
///
/// It is displayed as `file:line`. In JSON it is the text `file:line:column`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place<S = String> {
    /// The file, relative to the project's folder.
    pub file: S,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The index of an unread place: answers to clients do not need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceIndex(u32);

row! {
    /// A place.
    Row of Places {
        file: row::Text,
        line: U32,
        column: U32,
    }
}

impl Writer<'_> {
    /// Writes a place once, and returns its row.
    pub(crate) fn place(&mut self, place: &Place) -> U32 {
        let Place { file, line, column } = place;
        let row = Row { file: self.string(file), line: (*line).into(), column: (*column).into() };
        self.place_row(&row)
    }

    /// Writes an optional place.
    pub(crate) fn optional_place(&mut self, place: Option<&Place>) -> U32 {
        place.map_or(ABSENT.into(), |place| self.place(place))
    }
}

impl Reader {
    pub(crate) fn place(&self, index: PlaceIndex) -> Result<Place<&str>, Corrupt> {
        let row: &Row = self.row(index.0 as usize)?;
        Ok(Place { file: self.string(row.file)?, line: row.line.get(), column: row.column.get() })
    }

    pub(crate) fn place_at(&self, index: U32) -> Result<Place<&str>, Corrupt> {
        self.place(PlaceIndex::of(index))
    }

    pub(crate) fn optional_place(&self, index: U32) -> Result<Option<Place>, Corrupt> {
        match index.get() {
            ABSENT => Ok(None),
            index => self.place(PlaceIndex(index)).map(|place| Some(place.into_owned())),
        }
    }
}

impl PlaceIndex {
    pub(crate) fn of(index: U32) -> Self {
        Self(index.get())
    }
}

impl Place<&str> {
    /// Returns the place as an owned value.
    #[must_use]
    pub fn into_owned(self) -> Place {
        let Self { file, line, column } = self;
        Place { file: file.to_owned(), line, column }
    }
}

impl<S: fmt::Display> fmt::Display for Place<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Serialize for Place {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_str(&format_args!("{}:{}:{}", self.file, self.line, self.column))
    }
}

impl FromStr for Place {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (column, line) = (number(), number());
        match (parts.next(), line, column) {
            (Some(file), Some(line), Some(column)) => {
                Ok(Self { file: file.to_owned(), line, column })
            }
            _ => Err("a place is `file:line:column`"),
        }
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Place {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Place".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^.+:[0-9]+:[0-9]+$" })
    }
}
