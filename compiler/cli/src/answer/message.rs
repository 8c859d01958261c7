//! Messages of prompts: with slots, as a bundle stores them, or filled, as they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::{ArgumentView, Digest, MessageView, PartContent, PartView, Role, Segment};
use relay_engine::prompt;
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::printable_lines;

/// A message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// The speaker.
    pub(crate) role: Speaker,
    /// The content, part by part.
    pub(crate) content: Vec<Part>,
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Speaker {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A part of a message, in the spelling of MCP's content blocks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Part {
    /// Text.
    Text {
        /// The text. In a bundle, a slot for an argument is written `{{name}}`.
        text: String,
        /// The arguments that a call fills in, once for each occurrence in the text.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        slots: Vec<String>,
    },
    /// A picture.
    Image(Binary),
    /// A sound.
    Audio(Binary),
    /// A resource embedded in the message.
    Resource {
        /// The resource.
        resource: Embedded,
    },
}

/// Bytes with a media type.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Binary {
    /// The bytes, in base64.
    pub(crate) data: String,
    /// The media type.
    #[serde(rename = "mimeType")]
    pub(crate) mime_type: String,
    /// How many bytes there are.
    #[serde(skip)]
    pub(crate) bytes: usize,
    /// Their SHA-256.
    #[serde(skip)]
    pub(crate) digest: Digest,
}

/// A resource embedded in a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Embedded {
    /// Its URI.
    pub(crate) uri: String,
    /// Its media type.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub(crate) mime_type: Option<String>,
    /// The content, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The content in base64, for binary content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<String>,
    /// The size of the content in bytes.
    #[serde(skip)]
    pub(crate) bytes: usize,
    /// Their SHA-256.
    #[serde(skip)]
    pub(crate) digest: Digest,
}

impl Message {
    /// Returns a message of a bundle; slots are written `{{name}}`.
    pub(crate) fn of_view(view: &MessageView<'_>, arguments: &[ArgumentView<'_>]) -> Self {
        let text = |segments: &[Segment<&str>]| with_slots(segments, arguments);
        let content = view.parts.iter().map(|part| match &part.content {
            PartContent::Text(segments) => {
                Part::Text { text: text(segments), slots: slots(segments, arguments) }
            }
            PartContent::Image { mime, bytes } => Part::Image(Binary::of(mime, bytes)),
            PartContent::Audio { mime, bytes } => Part::Audio(Binary::of(mime, bytes)),
            PartContent::ResourceText { uri, mime, text: held } => {
                Part::Resource { resource: Embedded::of_text(text(uri), *mime, text(held)) }
            }
            PartContent::ResourceBlob { uri, mime, bytes } => {
                Part::Resource { resource: Embedded::of_blob(text(uri), *mime, bytes) }
            }
        });
        Self { role: Speaker::of(view.role), content: content.collect() }
    }

    /// Returns a message as it is sent.
    pub(crate) fn of_filled(message: &prompt::Message<'_>) -> Self {
        let content = message.parts.iter().map(|part| match part {
            prompt::Part::Text(text) => Part::Text { text: text.clone(), slots: Vec::new() },
            prompt::Part::Image(mime, bytes) => Part::Image(Binary::of(mime, bytes)),
            prompt::Part::Audio(mime, bytes) => Part::Audio(Binary::of(mime, bytes)),
            prompt::Part::ResourceText(uri, mime, text) => {
                Part::Resource { resource: Embedded::of_text(uri.clone(), *mime, text.clone()) }
            }
            prompt::Part::ResourceBlob(uri, mime, bytes) => {
                Part::Resource { resource: Embedded::of_blob(uri.clone(), *mime, bytes) }
            }
        });
        Self { role: Speaker::of(message.role), content: content.collect() }
    }

    /// Returns the size of its content in bytes: text as stored here, binary parts unencoded.
    pub(crate) fn bytes(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Text { text, slots: _ } => text.len(),
            Part::Image(binary) | Part::Audio(binary) => binary.bytes,
            Part::Resource { resource } => resource.bytes,
        };
        self.content.iter().map(part).sum()
    }

    /// Returns its texts, one after the other.
    pub(crate) fn text(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text { text, slots: _ } => text.clone(),
            Part::Image(_) | Part::Audio(_) | Part::Resource { .. } => String::new(),
        };
        self.content.iter().map(text).collect()
    }

    /// Returns its content as human output: binary parts as their size and digest.
    pub(crate) fn human(&self) -> String {
        let parts: Vec<String> = self.content.iter().map(Part::human).collect();
        printable_lines(&parts.join("\n"))
    }
}

impl Part {
    fn human(&self) -> String {
        match self {
            Self::Text { text, slots: _ } => text.clone(),
            Self::Image(binary) => binary.human("image"),
            Self::Audio(binary) => binary.human("audio"),
            Self::Resource { resource } => {
                let Embedded { uri, mime_type, text, blob: _, bytes, digest } = resource;
                let mime = mime_type.as_deref().unwrap_or("no media type");
                match text {
                    Some(text) => format!("[resource {uri}, {mime}]\n{text}"),
                    None => format!("[resource {uri}, {mime}, {bytes} bytes, {digest}]"),
                }
            }
        }
    }
}

impl Binary {
    fn of(mime: &str, bytes: &[u8]) -> Self {
        Self {
            data: STANDARD.encode(bytes),
            mime_type: mime.into(),
            bytes: bytes.len(),
            digest: Digest::of(bytes),
        }
    }

    fn human(&self, what: &str) -> String {
        format!("[{what} {}, {} bytes, {}]", self.mime_type, self.bytes, self.digest)
    }
}

impl Embedded {
    fn of_text(uri: String, mime: Option<&str>, text: String) -> Self {
        let (bytes, digest) = (text.len(), Digest::of(text.as_bytes()));
        Self { uri, mime_type: mime.map(Into::into), text: Some(text), blob: None, bytes, digest }
    }

    fn of_blob(uri: String, mime: Option<&str>, held: &[u8]) -> Self {
        let (blob, bytes, digest) = (Some(STANDARD.encode(held)), held.len(), Digest::of(held));
        Self { uri, mime_type: mime.map(Into::into), text: None, blob, bytes, digest }
    }
}

impl Speaker {
    fn of(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }

    /// Returns the role as MCP spells it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

fn with_slots(segments: &[Segment<&str>], arguments: &[ArgumentView<'_>]) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Literal(literal) => text.push_str(literal),
            Segment::Slot(index) => {
                text.push_str("{{");
                text.push_str(slot_name(*index, arguments));
                text.push_str("}}");
            }
        }
    }
    text
}

fn slots(segments: &[Segment<&str>], arguments: &[ArgumentView<'_>]) -> Vec<String> {
    let name = |segment: &Segment<&str>| match segment {
        Segment::Literal(_) => None,
        Segment::Slot(index) => Some(slot_name(*index, arguments).to_owned()),
    };
    segments.iter().filter_map(name).collect()
}

fn slot_name<'b>(index: u32, arguments: &[ArgumentView<'b>]) -> &'b str {
    arguments.get(index as usize).map_or("?", |argument| argument.name)
}

/// Returns the size in bytes of a message of a bundle, before a call fills in arguments.
pub(crate) fn view_bytes(message: &MessageView<'_>) -> usize {
    let text = |segments: &[Segment<&str>]| -> usize {
        let literal = |segment: &Segment<&str>| match segment {
            Segment::Literal(text) => text.len(),
            Segment::Slot(_) => 0,
        };
        segments.iter().map(literal).sum()
    };
    let part = |part: &PartView<'_>| match &part.content {
        PartContent::Text(segments) => text(segments),
        PartContent::Image { bytes, .. } | PartContent::Audio { bytes, .. } => bytes.len(),
        PartContent::ResourceText { text: held, .. } => text(held),
        PartContent::ResourceBlob { bytes, .. } => bytes.len(),
    };
    message.parts.iter().map(part).sum()
}
