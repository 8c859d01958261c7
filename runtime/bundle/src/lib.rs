//! The artifact: one signed, deterministic file that the compiler writes and the runtime serves.
//!
//! Format 1 is a header, a table of sections, the sections with their digest trees, and last a
//! DSSE envelope whose statement names the SHA-256 of header and table. A reader uses every
//! section in place: nothing is decoded that is not asked for, and nothing is used before its
//! page was checked against the signed table.
//!
//! This crate knows bytes. It opens no file, reads no clock and trusts nothing that a bundle
//! says of itself: who may sign is the caller's [`trust::Trust`].

#![forbid(unsafe_code)]

mod contents;
mod digest;
mod encode;
pub mod envelope;
mod error;
mod header;
mod record;
mod section;
mod tag_index;
pub mod trust;
mod view;

pub use contents::{
    Argument, ArgumentKind, Content, Contents, Gate, Generated, Manifest, Message, MessagePiece,
    Page, Part, Place, Prompt, Rendering, Resource, ResourceTemplate, Role, Segment, Tool, Unlock,
    UriPiece,
};
pub use digest::Digest;
pub use encode::{EncodeError, encode};
pub use error::{Corrupt, OpenError};
pub use header::{
    FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, MAGIC, Outline, SECTION_BYTES, outline,
};
pub use section::{Kind, SectionInfo};
pub use tag_index::{RANK_BLOCK, UNICODE, lower_case};
pub use view::{
    ArgumentKindView, ArgumentView, Bundle, ContentView, GateView, ManifestView, MessagePieceView,
    MessageView, PageView, PartView, PlaceView, Postings, PromptView, RankBlock, RenderingView,
    ResourceView, SegmentView, Storage, TagIndexView, TemplateView, ToolView, UriPieceView,
    VariantView,
};
