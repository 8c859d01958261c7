//! Contents -> bytes. The same contents give the same bytes, on any machine.

mod gate;
mod manifest;
mod name_index;
mod pool;
mod prompt;
mod rendering;
mod resource;

use thiserror::Error;
use zerocopy::little_endian::U32;
use zerocopy::{Immutable, IntoBytes};

use self::name_index::name_index;
use self::pool::Pool;
use crate::contents::Contents;
use crate::digest::{self, Digest};
use crate::header::{FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, LENGTH_MAX, MAGIC, SECTION_BYTES};
use crate::record::{self, ABSENT};
use crate::section::Kind;
use crate::tag_index::TagIndex;

/// Why contents cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The bundle would be over the limit of the format.
    #[error("the bundle would have {length} bytes, over the limit of {limit}: split the project")]
    TooLarge {
        /// Bytes that it would have, as far as they were counted.
        length: u64,
        /// The most that format 1 allows.
        limit: u64,
    },
}

/// Writes `contents` as an unsigned bundle.
///
/// # Errors
///
/// The bundle would not fit format 1.
pub fn encode(contents: &Contents) -> Result<Vec<u8>, EncodeError> {
    let Contents {
        manifest,
        prompts,
        resources,
        templates,
        gate,
        tools,
        tool_pages,
        prompt_pages,
        resource_pages,
        template_pages,
        canonical,
        provenance,
    } = contents;
    let mut out = Sections::default();
    out.manifest(manifest);
    out.prompts(prompts);
    for resource in resources {
        out.resource(resource);
    }
    for template in templates {
        out.template(template);
    }
    if let Some(gate) = gate {
        out.gate(gate);
    }
    for tool in tools {
        out.tool(tool);
    }
    out.prompt_index = name_index(prompts.iter().map(|prompt| prompt.name.as_str()));
    out.resource_index = name_index(resources.iter().map(|resource| resource.uri.as_str()));
    out.pages(prompt_pages, Kind::PromptPages);
    out.pages(resource_pages, Kind::ResourcePages);
    out.pages(template_pages, Kind::TemplatePages);
    out.pages(tool_pages, Kind::ToolPages);
    assemble(manifest.epoch, &out.finish(canonical, provenance))
}

/// Joins the sections that are not empty, with their trees, behind header and table.
fn assemble(epoch: u64, sections: &[(Kind, Vec<u8>)]) -> Result<Vec<u8>, EncodeError> {
    let sections: Vec<_> = sections.iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    let front = HEADER_BYTES + sections.len() * SECTION_BYTES;
    let mut length = front.next_multiple_of(digest::ALIGN) as u64;
    for (_, bytes) in &sections {
        length += digest::stored_length(bytes.len()).unwrap_or(usize::MAX) as u64;
        if length > LENGTH_MAX {
            return Err(EncodeError::TooLarge { length, limit: LENGTH_MAX });
        }
    }
    let mut file = vec![0; front.next_multiple_of(digest::ALIGN)];
    file.reserve_exact(usize::try_from(length).unwrap_or(0));
    let mut table = Vec::with_capacity(sections.len() * SECTION_BYTES);
    for (kind, bytes) in &sections {
        let offset = file.len() as u64;
        file.extend_from_slice(bytes);
        file.resize(file.len().next_multiple_of(digest::ALIGN), 0);
        let Digest(digest) = digest::write_tree(bytes, &mut file);
        let row = record::Section {
            kind: kind.number().into(),
            flags: if kind.critical() { record::FLAG_CRITICAL } else { 0 }.into(),
            offset: offset.into(),
            length: (bytes.len() as u64).into(),
            digest,
            reserved: 0.into(),
        };
        table.extend_from_slice(row.as_bytes());
    }
    let header = record::Header {
        magic: MAGIC,
        format_major: FORMAT_MAJOR.into(),
        format_minor: FORMAT_MINOR.into(),
        section_count: u32::try_from(sections.len()).unwrap_or(u32::MAX).into(),
        content_length: (file.len() as u64).into(),
        epoch: epoch.into(),
        features: 0.into(),
        reserved: [0; 16],
    };
    let front = header.as_bytes().iter().chain(&table);
    for (byte, value) in file.iter_mut().zip(front) {
        *byte = *value;
    }
    // An envelope of no bytes: the bundle is not signed yet.
    file.extend_from_slice(&0u64.to_le_bytes());
    Ok(file)
}

/// The sections while they grow.
#[derive(Default)]
struct Sections {
    manifest: Vec<u8>,
    strings: Pool,
    bodies: Pool,
    page_bytes: Vec<u8>,
    string_lists: Vec<u8>,
    prompts: Vec<u8>,
    prompt_index: Vec<u8>,
    arguments: Vec<u8>,
    variants: Vec<u8>,
    messages: Vec<u8>,
    parts: Vec<u8>,
    segments: Vec<u8>,
    tag_index: TagIndex,
    resources: Vec<u8>,
    resource_index: Vec<u8>,
    templates: Vec<u8>,
    uri_pieces: Vec<u8>,
    gate: Vec<u8>,
    message_pieces: Vec<u8>,
    tools: Vec<u8>,
    prompt_pages: Vec<u8>,
    resource_pages: Vec<u8>,
    template_pages: Vec<u8>,
    tool_pages: Vec<u8>,
    places: Vec<u8>,
}

impl Sections {
    fn finish(self, canonical: &str, provenance: &str) -> Vec<(Kind, Vec<u8>)> {
        vec![
            (Kind::Manifest, self.manifest),
            (Kind::Strings, self.strings.bytes),
            (Kind::Bodies, self.bodies.bytes),
            (Kind::StringLists, self.string_lists),
            (Kind::Prompts, self.prompts),
            (Kind::PromptIndex, self.prompt_index),
            (Kind::Arguments, self.arguments),
            (Kind::Variants, self.variants),
            (Kind::Messages, self.messages),
            (Kind::Parts, self.parts),
            (Kind::Segments, self.segments),
            (Kind::TagIndex, self.tag_index.facts),
            (Kind::TagOrder, self.tag_index.order),
            (Kind::TagWords, self.tag_index.words),
            (Kind::TagText, self.tag_index.text),
            (Kind::TagPostings, self.tag_index.postings),
            (Kind::Resources, self.resources),
            (Kind::ResourceIndex, self.resource_index),
            (Kind::Templates, self.templates),
            (Kind::UriPieces, self.uri_pieces),
            (Kind::Gate, self.gate),
            (Kind::MessagePieces, self.message_pieces),
            (Kind::Tools, self.tools),
            (Kind::PromptPages, self.prompt_pages),
            (Kind::ResourcePages, self.resource_pages),
            (Kind::TemplatePages, self.template_pages),
            (Kind::PageBytes, self.page_bytes),
            (Kind::ToolPages, self.tool_pages),
            (Kind::Places, self.places),
            (Kind::Canonical, canonical.as_bytes().to_vec()),
            (Kind::Provenance, provenance.as_bytes().to_vec()),
        ]
    }

    fn string(&mut self, text: &str) -> record::Text {
        self.strings.shared(text.as_bytes())
    }

    fn optional(&mut self, text: Option<&str>) -> record::Text {
        text.map_or_else(absent, |text| self.string(text))
    }

    fn string_list(&mut self, list: &[String]) -> record::Range {
        let rows: Vec<_> = list.iter().map(|text| self.string(text)).collect();
        append(&mut self.string_lists, &rows)
    }
}

fn append<R: IntoBytes + Immutable>(section: &mut Vec<u8>, rows: &[R]) -> record::Range {
    let start = section.len() / size_of::<R>();
    section.extend_from_slice(rows.as_bytes());
    record::Range { start: offset(start), count: length(rows.len()) }
}

fn absent() -> record::Text {
    record::Text { offset: ABSENT.into(), length: 0.into() }
}

// A section over 4 GiB is refused by `assemble` before its offsets matter.
fn offset(value: usize) -> U32 {
    u32::try_from(value).unwrap_or(ABSENT - 1).into()
}

fn length(value: usize) -> U32 {
    offset(value)
}
