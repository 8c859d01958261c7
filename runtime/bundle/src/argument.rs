//! Arguments of prompts and of URI templates.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::error::Corrupt;
use crate::place::{Place, PlaceIndex};
use crate::reader::{Reader, Room};
use crate::row::{ListedString, Range, Text, row};
use crate::section::Kind;
use crate::writer::Writer;

/// One argument of a prompt or of a URI template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument<S = String, P = Place> {
    /// The name in calls.
    pub name: S,
    /// The meaning of the argument, for people and models.
    pub description: Option<S>,
    /// Whether every request must give it.
    pub required: bool,
    /// The value for a request that omits it.
    pub default: Option<S>,
    /// The values that it takes.
    pub kind: ArgumentKind<S>,
    /// The weight of its state in the variant's number; see [`Rendering`](crate::Rendering).
    pub stride: u32,
    /// Whether the texts print its value and depend only on its presence, as they do for every free
    /// text.
    pub only_printed: bool,
    /// The place of its declaration.
    pub at: P,
}

/// The values that an argument takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentKind<S = String> {
    /// One of these values.
    Choice(Vec<S>),
    /// Any text.
    Text {
        /// A longer text is truncated to this many characters, and the truncation is reported; 0
        /// leaves only the limit of all texts.
        chars_max: u32,
    },
}

/// An argument, in place.
pub type ArgumentView<'b> = Argument<&'b str, PlaceIndex>;

row! {
    /// An argument.
    Row of Arguments {
        name: Text,
        description: Text,
        default: Text,
        /// The choices; empty for a free text.
        choices: Range,
        stride: U32,
        chars_max: U32,
        at: U32,
        kind: u8,
        required: u8,
        only_printed: u8,
        reserved: u8,
    }
}

impl<S: AsRef<str>, P> Argument<S, P> {
    /// Returns the state for a value, or for an absent one; `None` for a value outside its choices.
    pub fn state(&self, value: Option<&str>) -> Option<usize> {
        let ArgumentKind::Choice(choices) = &self.kind else {
            return Some(usize::from(value.is_none()));
        };
        let state = match value {
            Some(value) => choices.iter().position(|choice| choice.as_ref() == value)?,
            None => choices.len(),
        };
        Some(if self.only_printed { usize::from(value.is_none()) } else { state })
    }
}

const CHOICE: u8 = 0;
const TEXT: u8 = 1;

impl Writer<'_> {
    pub(crate) fn arguments(&mut self, arguments: &[Argument]) -> Range {
        let rows: Vec<_> = arguments.iter().map(|argument| self.argument(argument)).collect();
        self.rows(&rows)
    }

    fn argument(&mut self, argument: &Argument) -> Row {
        let Argument { name, description, required, default, kind, stride, only_printed, at } =
            argument;
        let (kind, choices, chars_max) = match kind {
            ArgumentKind::Choice(choices) => (CHOICE, self.strings(choices), 0),
            ArgumentKind::Text { chars_max } => (TEXT, Range::EMPTY, *chars_max),
        };
        Row {
            name: self.string(name),
            description: self.optional(description.as_deref()),
            default: self.optional(default.as_deref()),
            choices,
            stride: (*stride).into(),
            chars_max: chars_max.into(),
            at: self.place(at),
            kind,
            required: u8::from(*required),
            only_printed: u8::from(*only_printed),
            reserved: 0,
        }
    }
}

impl Reader {
    pub(crate) fn arguments(&self, range: Range) -> Result<Vec<ArgumentView<'_>>, Corrupt> {
        let mut room = Room::of::<ListedString>(self);
        self.rows::<Row>(range)?.map(|row| self.argument(row?, &mut room)).collect()
    }

    fn argument<'b>(&'b self, row: &Row, room: &mut Room) -> Result<ArgumentView<'b>, Corrupt> {
        let kind = match row.kind {
            CHOICE => {
                room.take(row.choices)?;
                ArgumentKind::Choice(self.strings(row.choices)?)
            }
            TEXT => ArgumentKind::Text { chars_max: row.chars_max.get() },
            _ => return Err(Corrupt::Record { section: Kind::Arguments.name(), what: "kind" }),
        };
        Ok(Argument {
            name: self.string(row.name)?,
            description: self.optional(row.description)?,
            required: flag(row.required, "required")?,
            default: self.optional(row.default)?,
            kind,
            stride: row.stride.get(),
            only_printed: flag(row.only_printed, "only-printed")?,
            at: PlaceIndex::of(row.at),
        })
    }
}

impl ArgumentView<'_> {
    pub(crate) fn into_owned(self, reader: &Reader) -> Result<Argument, Corrupt> {
        let Self { name, description, required, default, kind, stride, only_printed, at } = self;
        Ok(Argument {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            required,
            default: default.map(str::to_owned),
            kind: match kind {
                ArgumentKind::Choice(choices) => {
                    ArgumentKind::Choice(choices.into_iter().map(str::to_owned).collect())
                }
                ArgumentKind::Text { chars_max } => ArgumentKind::Text { chars_max },
            },
            stride,
            only_printed,
            at: reader.place(at)?.into_owned(),
        })
    }
}

fn flag(byte: u8, what: &'static str) -> Result<bool, Corrupt> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt::Record { section: Kind::Arguments.name(), what }),
    }
}
