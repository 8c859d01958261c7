//! The fixed records of the sections: what stands in the file, byte by byte.
//!
//! Every number is little-endian and unaligned, so a record can be used where it lies. A change
//! to a record is a change of the format.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An offset that no string has: the string is absent.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Bytes of `Strings`, `Bodies` or `PageBytes`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Text {
    pub(crate) offset: U32,
    pub(crate) length: U32,
}

/// Records `start..start + count` of another section.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Range {
    pub(crate) start: U32,
    pub(crate) count: U32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Manifest {
    pub(crate) project: Text,
    pub(crate) version: Text,
    pub(crate) title: Text,
    pub(crate) owner: Text,
    pub(crate) environment: Text,
    pub(crate) compiler: Text,
    pub(crate) instructions: Text,
    pub(crate) index: Range,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Prompt {
    pub(crate) name: Text,
    pub(crate) title: Text,
    pub(crate) description: Text,
    pub(crate) summary: Text,
    pub(crate) meta: Text,
    pub(crate) chapters: Range,
    pub(crate) rendering: Rendering,
    /// The text that a briefing sends, in `Bodies`.
    pub(crate) body: Text,
    pub(crate) place: U32,
    /// Where the prompt stands in `TagOrder`.
    pub(crate) rank: U32,
    pub(crate) priority: u8,
    /// [`GENERATED_SUMMARY`], [`GENERATED_CHAPTERS`].
    pub(crate) generated: u8,
    pub(crate) reserved: U16,
}

pub(crate) const GENERATED_SUMMARY: u8 = 1;
pub(crate) const GENERATED_CHAPTERS: u8 = 2;

/// The facts of the tag index; see `tag_index.rs`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TagIndex {
    /// Of the prompts below priority 10: how many have an empty body, and the bytes of the shortest
    /// body that is not. Both together bound how many fit a budget.
    pub(crate) empty_bodies: U32,
    pub(crate) body_bytes_min: U32,
    /// Bytes of the summaries and chapters that the index covers.
    pub(crate) covered_bytes: U32,
    /// The version of Unicode that lower-cased the words: major, minor, update, 0.
    pub(crate) unicode: [u8; 4],
    /// Where the prompts of each priority end in `TagOrder`, for 10 down to 1.
    pub(crate) ends: [U32; 10],
}

/// In postings, where the count of a list would stand: a bitmap follows.
pub(crate) const POSTINGS_BITMAP: u16 = u16::MAX;

/// A distinct word of the tag index. The last record is no word: it tells where the others end.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TagWord {
    /// Where its text begins in `TagText`.
    pub(crate) text: U32,
    /// Where its postings begin in `TagPostings`.
    pub(crate) postings: U32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Gate {
    /// [`UNLOCK_INTERCEPT`] or [`UNLOCK_REFUSE`].
    pub(crate) unlock: u8,
    pub(crate) hide_tools: u8,
    pub(crate) reserved: U16,
    pub(crate) tags_ask: U32,
    pub(crate) tags_max: U32,
    pub(crate) budget_bytes: U32,
    pub(crate) repeat_bytes: U32,
    pub(crate) remaining_bytes: U32,
    pub(crate) entry_chars: U32,
    pub(crate) encouragement: Range,
    pub(crate) reminder: Range,
    pub(crate) preamble: Range,
    pub(crate) place: U32,
}

pub(crate) const UNLOCK_INTERCEPT: u8 = 0;
pub(crate) const UNLOCK_REFUSE: u8 = 1;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct MessagePiece {
    /// [`PIECE_LITERAL`], [`PIECE_MATCHED`] or [`PIECE_REMAINING`].
    pub(crate) kind: U32,
    pub(crate) literal: Text,
}

pub(crate) const PIECE_LITERAL: u32 = 0;
pub(crate) const PIECE_MATCHED: u32 = 1;
pub(crate) const PIECE_REMAINING: u32 = 2;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Tool {
    pub(crate) name: Text,
    pub(crate) place: U32,
    pub(crate) gated: u8,
    pub(crate) tier: u8,
    pub(crate) reserved: U16,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Rendering {
    pub(crate) arguments: Range,
    pub(crate) variants: Range,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Argument {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) default: Text,
    /// The choices; empty for a free text.
    pub(crate) choices: Range,
    pub(crate) stride: U32,
    pub(crate) chars_max: U32,
    pub(crate) kind: u8,
    pub(crate) required: u8,
    pub(crate) reserved: U16,
}

pub(crate) const ARGUMENT_CHOICE: u8 = 0;
pub(crate) const ARGUMENT_TEXT: u8 = 1;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Message {
    pub(crate) parts: Range,
    pub(crate) role: U32,
}

pub(crate) const ROLE_USER: u32 = 0;
pub(crate) const ROLE_ASSISTANT: u32 = 1;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Part {
    pub(crate) kind: U32,
    /// The URI of an embedded resource.
    pub(crate) uri: Range,
    pub(crate) mime: Text,
    /// The text, for kinds that have one.
    pub(crate) segments: Range,
    /// The bytes, for kinds that have them.
    pub(crate) blob: Text,
}

pub(crate) const PART_TEXT: u32 = 0;
pub(crate) const PART_IMAGE: u32 = 1;
pub(crate) const PART_AUDIO: u32 = 2;
pub(crate) const PART_RESOURCE_TEXT: u32 = 3;
pub(crate) const PART_RESOURCE_BLOB: u32 = 4;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Segment {
    /// The literal's bytes in `Bodies`; unused for a slot.
    pub(crate) body: Text,
    /// The argument whose value stands here; [`ABSENT`] for a literal.
    pub(crate) slot: U32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Resource {
    pub(crate) uri: Text,
    pub(crate) name: Text,
    pub(crate) title: Text,
    pub(crate) description: Text,
    pub(crate) mime: Text,
    pub(crate) body: Text,
    pub(crate) place: U32,
    pub(crate) kind: U32,
}

pub(crate) const CONTENT_TEXT: u32 = 0;
pub(crate) const CONTENT_BLOB: u32 = 1;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Template {
    pub(crate) uri_template: Text,
    pub(crate) name: Text,
    pub(crate) title: Text,
    pub(crate) description: Text,
    pub(crate) mime: Text,
    pub(crate) pieces: Range,
    pub(crate) rendering: Rendering,
    pub(crate) place: U32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct UriPiece {
    pub(crate) literal: Text,
    /// The argument that the variable fills; [`ABSENT`] for a literal.
    pub(crate) variable: U32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Page {
    pub(crate) first: U32,
    pub(crate) count: U32,
    pub(crate) json: Text,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Place {
    pub(crate) file: Text,
    pub(crate) line: U32,
    pub(crate) column: U32,
}

/// The first 64 bytes of a bundle.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 16],
    pub(crate) format_major: U16,
    pub(crate) format_minor: U16,
    pub(crate) section_count: U32,
    /// Bytes of header, table and sections; the envelope begins here. The envelope itself is not
    /// counted, so that adding a signature leaves what was signed as it is.
    pub(crate) content_length: U64,
    pub(crate) epoch: U64,
    /// Bits that a reader must know; format 1.0 knows none.
    pub(crate) features: U64,
    pub(crate) reserved: [u8; 16],
}

/// One row of the section table.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Section {
    pub(crate) kind: U32,
    pub(crate) flags: U32,
    pub(crate) offset: U64,
    pub(crate) length: U64,
    pub(crate) digest: [u8; 32],
    pub(crate) reserved: U64,
}

/// The flag of a section that a reader must know.
pub(crate) const FLAG_CRITICAL: u32 = 1;
