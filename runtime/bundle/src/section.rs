//! The kinds of section that format 1 knows.

use crate::digest::Digest;
use crate::record;

/// What a section holds. The number is the one that stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// Who and what the bundle is: one record.
    Manifest = 1,
    /// All short strings, one after the other.
    Strings = 2,
    /// All bodies: literal text of prompts and resources, and binary content.
    Bodies = 3,
    /// Lists of strings: references into `Strings`.
    StringLists = 4,
    /// The prompts, sorted by name.
    Prompts = 16,
    /// Hash table from a prompt's name to its record.
    PromptIndex = 17,
    /// Arguments of prompts and URI templates.
    Arguments = 18,
    /// Variants of prompts and URI templates.
    Variants = 19,
    /// Messages of variants.
    Messages = 20,
    /// Parts of messages.
    Parts = 21,
    /// Segments of texts.
    Segments = 22,
    /// The facts of the tag index: one record.
    TagIndex = 23,
    /// The prompts in the order of selection: priority falling, then name.
    TagOrder = 24,
    /// The distinct words of summaries and chapters, with where their postings begin.
    TagWords = 25,
    /// The text of those words.
    TagText = 26,
    /// For each of those words, the prompts that have it.
    TagPostings = 27,
    /// The resources with a fixed URI, sorted by URI.
    Resources = 32,
    /// Hash table from a resource's URI to its record.
    ResourceIndex = 33,
    /// The URI templates.
    Templates = 34,
    /// Pieces of URI templates.
    UriPieces = 35,
    /// How sessions are gated: one record, or none.
    Gate = 40,
    /// Pieces of the messages that the gate sends.
    MessagePieces = 41,
    /// The tools, in the order of the list.
    Tools = 42,
    /// Prebuilt pages of `prompts/list`.
    PromptPages = 48,
    /// Prebuilt pages of `resources/list`.
    ResourcePages = 49,
    /// Prebuilt pages of `resources/templates/list`.
    TemplatePages = 50,
    /// The bytes of the prebuilt pages.
    PageBytes = 51,
    /// Prebuilt pages of `tools/list`.
    ToolPages = 52,
    /// Where each thing was declared.
    Places = 64,
    /// The effective project as canonical KDL.
    Canonical = 65,
    /// The build's provenance as JSON.
    Provenance = 66,
}

impl Kind {
    /// Every kind, in the order of the file.
    pub const ALL: [Self; 31] = [
        Self::Manifest,
        Self::Strings,
        Self::Bodies,
        Self::StringLists,
        Self::Prompts,
        Self::PromptIndex,
        Self::Arguments,
        Self::Variants,
        Self::Messages,
        Self::Parts,
        Self::Segments,
        Self::TagIndex,
        Self::TagOrder,
        Self::TagWords,
        Self::TagText,
        Self::TagPostings,
        Self::Resources,
        Self::ResourceIndex,
        Self::Templates,
        Self::UriPieces,
        Self::Gate,
        Self::MessagePieces,
        Self::Tools,
        Self::PromptPages,
        Self::ResourcePages,
        Self::TemplatePages,
        Self::PageBytes,
        Self::ToolPages,
        Self::Places,
        Self::Canonical,
        Self::Provenance,
    ];

    /// One more than the highest number of a kind.
    pub(crate) const NUMBERS: usize = 67;

    /// Returns the kind with this number; `None` for a number that format 1.0 does not know.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// Returns the number that stands in the file.
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Returns the kind's name as `relay inspect` shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Strings => "strings",
            Self::Bodies => "bodies",
            Self::StringLists => "string-lists",
            Self::Prompts => "prompts",
            Self::PromptIndex => "prompt-index",
            Self::Arguments => "arguments",
            Self::Variants => "variants",
            Self::Messages => "messages",
            Self::Parts => "parts",
            Self::Segments => "segments",
            Self::TagIndex => "tag-index",
            Self::TagOrder => "tag-order",
            Self::TagWords => "tag-words",
            Self::TagText => "tag-text",
            Self::TagPostings => "tag-postings",
            Self::Resources => "resources",
            Self::ResourceIndex => "resource-index",
            Self::Templates => "templates",
            Self::UriPieces => "uri-pieces",
            Self::Gate => "gate",
            Self::MessagePieces => "message-pieces",
            Self::Tools => "tools",
            Self::PromptPages => "prompt-pages",
            Self::ResourcePages => "resource-pages",
            Self::TemplatePages => "template-pages",
            Self::PageBytes => "page-bytes",
            Self::ToolPages => "tool-pages",
            Self::Places => "places",
            Self::Canonical => "canonical",
            Self::Provenance => "provenance",
        }
    }

    /// Returns the bytes of one record; 1 for sections that are plain bytes.
    pub(crate) fn record_bytes(self) -> usize {
        match self {
            Self::Manifest => size_of::<record::Manifest>(),
            Self::Strings
            | Self::Bodies
            | Self::TagText
            | Self::TagPostings
            | Self::PageBytes
            | Self::Canonical
            | Self::Provenance => 1,
            Self::StringLists => size_of::<record::Text>(),
            Self::Prompts => size_of::<record::Prompt>(),
            Self::PromptIndex | Self::ResourceIndex | Self::TagOrder => size_of::<u32>(),
            Self::Arguments => size_of::<record::Argument>(),
            Self::Variants => size_of::<record::Range>(),
            Self::Messages => size_of::<record::Message>(),
            Self::Parts => size_of::<record::Part>(),
            Self::Segments => size_of::<record::Segment>(),
            Self::TagIndex => size_of::<record::TagIndex>(),
            Self::TagWords => size_of::<record::TagWord>(),
            Self::Resources => size_of::<record::Resource>(),
            Self::Templates => size_of::<record::Template>(),
            Self::UriPieces => size_of::<record::UriPiece>(),
            Self::Gate => size_of::<record::Gate>(),
            Self::MessagePieces => size_of::<record::MessagePiece>(),
            Self::Tools => size_of::<record::Tool>(),
            Self::PromptPages | Self::ResourcePages | Self::TemplatePages | Self::ToolPages => {
                size_of::<record::Page>()
            }
            Self::Places => size_of::<record::Place>(),
        }
    }

    /// Returns whether a reader that does not know this kind must refuse the bundle.
    ///
    /// What only explains (where things were declared, the source, the provenance) can be left
    /// out of a reader without serving anything else than what was signed.
    pub(crate) fn critical(self) -> bool {
        !matches!(self, Self::Places | Self::Canonical | Self::Provenance)
    }
}

/// One row of a bundle's section table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionInfo {
    /// The number in the file.
    pub number: u32,
    /// The kind, if this reader knows it.
    pub kind: Option<Kind>,
    /// Whether a reader must know it.
    pub critical: bool,
    /// Where its data begins, in bytes from the start of the file.
    pub offset: u64,
    /// Bytes of its data, without its digest tree.
    pub length: u64,
    /// Its digest.
    pub digest: Digest,
}
