//! Messages of prompts: roles and parts.

use std::ops::Deref;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::little_endian::U32;

use crate::error::Corrupt;
use crate::place::{Place, PlaceIndex};
use crate::reader::{Reader, Room};
use crate::row::{ABSENT, Range, Text, row};
use crate::section::Kind;
use crate::shared_text::{SharedText, Sharer};
use crate::writer::Writer;

/// One message of a rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message<S = SharedText, B = Blob, P = Place> {
    /// Its role.
    pub role: Role,
    /// Its parts, in order.
    pub parts: Vec<Part<S, B, P>>,
    /// The place of its declaration.
    pub at: P,
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part<S = SharedText, B = Blob, P = Place> {
    /// Its content.
    pub content: PartContent<S, B>,
    /// The place of its text, or of the name of its file.
    pub at: P,
}

/// The content of a part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartContent<S = SharedText, B = Blob> {
    /// Text.
    Text(Vec<Segment<S>>),
    /// A picture.
    Image {
        /// Its media type.
        mime: S,
        /// Its bytes.
        bytes: B,
    },
    /// A sound.
    Audio {
        /// Its media type.
        mime: S,
        /// Its bytes.
        bytes: B,
    },
    /// A resource of text embedded in the message.
    ResourceText {
        /// Its URI, which may hold slots.
        uri: Vec<Segment<S>>,
        /// Its media type.
        mime: Option<S>,
        /// Its content.
        text: Vec<Segment<S>>,
    },
    /// A resource of any bytes embedded in the message.
    ResourceBlob {
        /// Its URI, which may hold slots.
        uri: Vec<Segment<S>>,
        /// Its media type.
        mime: Option<S>,
        /// Its content.
        bytes: B,
    },
}

/// A piece of rendered text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment<S = SharedText> {
    /// Literal text.
    #[serde(rename = "text")]
    Literal(S),
    /// The value of the argument with this index.
    Slot(u32),
}

/// Binary content, base64 in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob(pub Arc<[u8]>);

/// A message, in place.
pub type MessageView<'b> = Message<&'b str, &'b [u8], PlaceIndex>;
/// A part of a message, in place.
pub type PartView<'b> = Part<&'b str, &'b [u8], PlaceIndex>;

row! {
    /// A message.
    MessageRow of PromptMessages {
        parts: Range,
        role: U32,
        at: U32,
    }
}

const USER: u32 = 0;
const ASSISTANT: u32 = 1;

row! {
    /// A part of a message.
    PartRow of Parts {
        kind: U32,
        /// The URI of an embedded resource.
        uri: Range,
        mime: Text,
        /// The text, for kinds with a text.
        text: Range,
        /// The bytes, for kinds with bytes.
        bytes: Text,
        at: U32,
    }
}

const TEXT: u32 = 0;
const IMAGE: u32 = 1;
const AUDIO: u32 = 2;
const RESOURCE_TEXT: u32 = 3;
const RESOURCE_BLOB: u32 = 4;

row! {
    /// A piece of text.
    SegmentRow of Segments {
        /// The literal's bytes in `Bodies`; unused for a slot.
        literal: Text,
        /// The argument of a slot; [`ABSENT`] for a literal.
        slot: U32,
    }
}

impl Writer<'_> {
    pub(crate) fn messages(&mut self, messages: &[Message]) -> Range {
        let rows: Vec<_> = messages.iter().map(|message| self.message(message)).collect();
        self.rows(&rows)
    }

    fn message(&mut self, Message { role, parts, at }: &Message) -> MessageRow {
        let parts: Vec<_> = parts.iter().map(|part| self.part(part)).collect();
        let role = match role {
            Role::User => USER,
            Role::Assistant => ASSISTANT,
        };
        MessageRow { parts: self.rows(&parts), role: role.into(), at: self.place(at) }
    }

    fn part(&mut self, Part { content, at }: &Part) -> PartRow {
        let (uri, mime, text, bytes) = (Range::EMPTY, Text::ABSENT, Range::EMPTY, Text::ABSENT);
        let row = PartRow { kind: 0.into(), uri, mime, text, bytes, at: self.place(at) };
        match content {
            PartContent::Text(text) => {
                PartRow { kind: TEXT.into(), text: self.segments(text), ..row }
            }
            PartContent::Image { mime, bytes } => PartRow {
                kind: IMAGE.into(),
                mime: self.string(mime),
                bytes: self.body(bytes),
                ..row
            },
            PartContent::Audio { mime, bytes } => PartRow {
                kind: AUDIO.into(),
                mime: self.string(mime),
                bytes: self.body(bytes),
                ..row
            },
            PartContent::ResourceText { uri, mime, text } => PartRow {
                kind: RESOURCE_TEXT.into(),
                uri: self.segments(uri),
                mime: self.optional(mime.as_deref()),
                text: self.segments(text),
                ..row
            },
            PartContent::ResourceBlob { uri, mime, bytes } => PartRow {
                kind: RESOURCE_BLOB.into(),
                uri: self.segments(uri),
                mime: self.optional(mime.as_deref()),
                bytes: self.body(bytes),
                ..row
            },
        }
    }

    fn segments(&mut self, segments: &[Segment]) -> Range {
        let row = |segment: &Segment| match segment {
            Segment::Literal(text) => {
                SegmentRow { literal: self.body(text.as_bytes()), slot: ABSENT.into() }
            }
            Segment::Slot(argument) => {
                SegmentRow { literal: Text::ABSENT, slot: (*argument).into() }
            }
        };
        let rows: Vec<_> = segments.iter().map(row).collect();
        self.rows(&rows)
    }
}

impl Reader {
    pub(crate) fn messages(&self, range: Range) -> Result<Vec<MessageView<'_>>, Corrupt> {
        let mut parts_room = Room::of::<PartRow>(self);
        let mut segments_room = Room::of::<SegmentRow>(self);
        let message = |row: Result<&MessageRow, Corrupt>| {
            let MessageRow { parts, role, at } = *row?;
            let role = match role.get() {
                USER => Role::User,
                ASSISTANT => Role::Assistant,
                _ => {
                    let section = Kind::PromptMessages.name();
                    return Err(Corrupt::Record { section, what: "role" });
                }
            };
            parts_room.take(parts)?;
            let parts = self.rows::<PartRow>(parts)?;
            let parts =
                parts.map(|row| self.part(row?, &mut segments_room)).collect::<Result<_, _>>()?;
            Ok(Message { role, parts, at: PlaceIndex::of(at) })
        };
        self.rows::<MessageRow>(range)?.map(message).collect()
    }

    fn part(&self, row: &PartRow, room: &mut Room) -> Result<PartView<'_>, Corrupt> {
        let PartRow { kind, uri, mime, text, bytes, at } = *row;
        let mime = self.optional(mime)?;
        let content = match kind.get() {
            TEXT => PartContent::Text(self.segments(text, room)?),
            IMAGE => {
                PartContent::Image { mime: mime.unwrap_or_default(), bytes: self.body(bytes)? }
            }
            AUDIO => {
                PartContent::Audio { mime: mime.unwrap_or_default(), bytes: self.body(bytes)? }
            }
            RESOURCE_TEXT => PartContent::ResourceText {
                uri: self.segments(uri, room)?,
                mime,
                text: self.segments(text, room)?,
            },
            RESOURCE_BLOB => PartContent::ResourceBlob {
                uri: self.segments(uri, room)?,
                mime,
                bytes: self.body(bytes)?,
            },
            _ => return Err(Corrupt::Record { section: Kind::Parts.name(), what: "kind" }),
        };
        Ok(Part { content, at: PlaceIndex::of(at) })
    }

    fn segments(&self, range: Range, room: &mut Room) -> Result<Vec<Segment<&str>>, Corrupt> {
        room.take(range)?;
        let segment = |row: Result<&SegmentRow, Corrupt>| {
            let SegmentRow { literal, slot } = *row?;
            match slot.get() {
                ABSENT => self.text(Kind::Bodies, literal).map(Segment::Literal),
                slot => Ok(Segment::Slot(slot)),
            }
        };
        self.rows(range)?.map(segment).collect()
    }
}

impl<'b> MessageView<'b> {
    pub(crate) fn into_owned(
        self,
        reader: &Reader,
        texts: &mut Sharer<'b>,
    ) -> Result<Message, Corrupt> {
        let Self { role, parts, at } = self;
        let part = |Part { content, at }: PartView<'b>| {
            Ok(Part { content: content.into_owned(texts), at: reader.place(at)?.into_owned() })
        };
        Ok(Message {
            role,
            parts: parts.into_iter().map(part).collect::<Result<_, Corrupt>>()?,
            at: reader.place(at)?.into_owned(),
        })
    }
}

impl<'b> PartContent<&'b str, &'b [u8]> {
    fn into_owned(self, texts: &mut Sharer<'b>) -> PartContent {
        let mut owned = |segments: Vec<Segment<&'b str>>| {
            segments.into_iter().map(|segment| segment.into_owned(texts)).collect()
        };
        match self {
            Self::Text(segments) => PartContent::Text(owned(segments)),
            Self::Image { mime, bytes } => {
                PartContent::Image { mime: mime.into(), bytes: Blob(bytes.into()) }
            }
            Self::Audio { mime, bytes } => {
                PartContent::Audio { mime: mime.into(), bytes: Blob(bytes.into()) }
            }
            Self::ResourceText { uri, mime, text } => PartContent::ResourceText {
                uri: owned(uri),
                mime: mime.map(SharedText::from),
                text: owned(text),
            },
            Self::ResourceBlob { uri, mime, bytes } => PartContent::ResourceBlob {
                uri: owned(uri),
                mime: mime.map(SharedText::from),
                bytes: Blob(bytes.into()),
            },
        }
    }
}

impl<'b> Segment<&'b str> {
    fn into_owned(self, texts: &mut Sharer<'b>) -> Segment {
        match self {
            Self::Literal(text) => Segment::Literal(texts.shared(text)),
            Self::Slot(argument) => Segment::Slot(argument),
        }
    }
}

impl Role {
    /// Returns its name in MCP.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes.into()))
    }
}
