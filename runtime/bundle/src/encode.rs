//! Contents -> bytes. The same contents give the same bytes, on any machine.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use thiserror::Error;
use zerocopy::IntoBytes;

use crate::contents::{
    Argument, ArgumentKind, Content, Contents, Gate, Generated, Manifest, Message, MessagePiece,
    Page, Part, Place, Prompt, Rendering, Resource, ResourceTemplate, Role, Segment, Tool, Unlock,
    UriPiece,
};
use crate::digest::{self, Digest};
use crate::header::{FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, LENGTH_MAX, MAGIC, SECTION_BYTES};
use crate::record::{self, ABSENT};
use crate::section::Kind;
use crate::tag_index::{self, TagIndex};
use crate::view::name_slot;

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

    fn manifest(&mut self, manifest: &Manifest) {
        let Manifest {
            project,
            version,
            title,
            owner,
            environment,
            compiler,
            epoch: _, // stands in the header
            instructions,
            index,
        } = manifest;
        let record = record::Manifest {
            project: self.string(project),
            version: self.optional(version.as_deref()),
            title: self.optional(title.as_deref()),
            owner: self.optional(owner.as_deref()),
            environment: self.optional(environment.as_deref()),
            compiler: self.string(compiler),
            instructions: self.string(instructions),
            index: self.string_list(index),
        };
        self.manifest.extend_from_slice(record.as_bytes());
    }

    fn prompts(&mut self, prompts: &[Prompt]) {
        let order = tag_index::order(prompts);
        let mut ranks = vec![0; prompts.len()];
        for (rank, index) in (0..).zip(&order) {
            if let Some(slot) = ranks.get_mut(*index as usize) {
                *slot = rank;
            }
        }
        let body_bytes: Vec<u32> =
            prompts.iter().zip(ranks).map(|(prompt, rank)| self.prompt(prompt, rank)).collect();
        self.tag_index = tag_index::build(prompts, &order, &body_bytes);
    }

    /// Appends a prompt; returns the bytes of the text that a briefing sends.
    fn prompt(&mut self, prompt: &Prompt, rank: u32) -> u32 {
        let Prompt {
            name,
            title,
            description,
            summary,
            chapters,
            generated: Generated { summary: generated_summary, chapters: generated_chapters },
            priority,
            meta,
            body,
            rendering,
            at,
        } = prompt;
        let body = body.as_deref().unwrap_or_else(|| only_literal(rendering));
        let body = self.bodies.shared(body.as_bytes());
        let record = record::Prompt {
            name: self.string(name),
            title: self.optional(title.as_deref()),
            description: self.optional(description.as_deref()),
            summary: self.optional(summary.as_deref()),
            meta: self.optional(meta.as_deref()),
            chapters: self.string_list(chapters),
            rendering: self.rendering(rendering),
            body,
            place: self.place(at),
            rank: rank.into(),
            priority: *priority,
            generated: record::GENERATED_SUMMARY * u8::from(*generated_summary)
                | record::GENERATED_CHAPTERS * u8::from(*generated_chapters),
            reserved: 0.into(),
        };
        self.prompts.extend_from_slice(record.as_bytes());
        body.length.get()
    }

    fn rendering(&mut self, rendering: &Rendering) -> record::Rendering {
        let Rendering { arguments, variants } = rendering;
        let mut rows = Vec::new();
        for Argument { name, description, required, default, kind, stride } in arguments {
            let (kind, choices, chars_max) = match kind {
                ArgumentKind::Choice(choices) => {
                    (record::ARGUMENT_CHOICE, self.string_list(choices), 0)
                }
                ArgumentKind::Text { chars_max } => {
                    (record::ARGUMENT_TEXT, self.string_list(&[]), *chars_max)
                }
            };
            rows.push(record::Argument {
                name: self.string(name),
                description: self.optional(description.as_deref()),
                default: self.optional(default.as_deref()),
                choices,
                stride: (*stride).into(),
                chars_max: chars_max.into(),
                kind,
                required: u8::from(*required),
                reserved: 0.into(),
            });
        }
        let arguments = append(&mut self.arguments, &rows);
        let rows: Vec<_> = variants.iter().map(|messages| self.messages(messages)).collect();
        record::Rendering { arguments, variants: append(&mut self.variants, &rows) }
    }

    fn messages(&mut self, messages: &[Message]) -> record::Range {
        let mut rows = Vec::new();
        for Message { role, parts } in messages {
            let parts: Vec<_> = parts.iter().map(|part| self.part(part)).collect();
            let role = match role {
                Role::User => record::ROLE_USER,
                Role::Assistant => record::ROLE_ASSISTANT,
            };
            rows.push(record::Message {
                parts: append(&mut self.parts, &parts),
                role: role.into(),
            });
        }
        append(&mut self.messages, &rows)
    }

    fn part(&mut self, part: &Part) -> record::Part {
        let none = self.segments(&[]);
        let empty = record::Part {
            kind: 0.into(),
            uri: none,
            mime: absent(),
            segments: none,
            blob: absent(),
        };
        match part {
            Part::Text(segments) => record::Part {
                kind: record::PART_TEXT.into(),
                segments: self.segments(segments),
                ..empty
            },
            Part::Image { mime, bytes } => record::Part {
                kind: record::PART_IMAGE.into(),
                mime: self.string(mime),
                blob: self.bodies.shared(bytes),
                ..empty
            },
            Part::Audio { mime, bytes } => record::Part {
                kind: record::PART_AUDIO.into(),
                mime: self.string(mime),
                blob: self.bodies.shared(bytes),
                ..empty
            },
            Part::Resource { uri, mime, content: Content::Text(segments) } => record::Part {
                kind: record::PART_RESOURCE_TEXT.into(),
                uri: self.segments(uri),
                mime: self.optional(mime.as_deref()),
                segments: self.segments(segments),
                ..empty
            },
            Part::Resource { uri, mime, content: Content::Blob(bytes) } => record::Part {
                kind: record::PART_RESOURCE_BLOB.into(),
                uri: self.segments(uri),
                mime: self.optional(mime.as_deref()),
                blob: self.bodies.shared(bytes),
                ..empty
            },
        }
    }

    fn segments(&mut self, segments: &[Segment]) -> record::Range {
        let rows: Vec<_> = segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => record::Segment {
                    body: self.bodies.shared(text.as_bytes()),
                    slot: ABSENT.into(),
                },
                Segment::Slot(argument) => {
                    record::Segment { body: absent(), slot: (*argument).into() }
                }
            })
            .collect();
        append(&mut self.segments, &rows)
    }

    fn resource(&mut self, resource: &Resource) {
        let Resource { uri, name, title, description, mime, content, at } = resource;
        let (kind, body) = match content {
            Content::Text(segments) => {
                // A fixed resource has no arguments, so its text is literals alone.
                let text: String = segments
                    .iter()
                    .map(|segment| match segment {
                        Segment::Literal(text) => text.as_str(),
                        Segment::Slot(_) => "",
                    })
                    .collect();
                (record::CONTENT_TEXT, self.bodies.shared(text.as_bytes()))
            }
            Content::Blob(bytes) => (record::CONTENT_BLOB, self.bodies.shared(bytes)),
        };
        let record = record::Resource {
            uri: self.string(uri),
            name: self.string(name),
            title: self.optional(title.as_deref()),
            description: self.optional(description.as_deref()),
            mime: self.optional(mime.as_deref()),
            body,
            place: self.place(at),
            kind: kind.into(),
        };
        self.resources.extend_from_slice(record.as_bytes());
    }

    fn template(&mut self, template: &ResourceTemplate) {
        let ResourceTemplate {
            uri_template,
            pieces,
            name,
            title,
            description,
            mime,
            rendering,
            at,
        } = template;
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| match piece {
                UriPiece::Literal(text) => {
                    record::UriPiece { literal: self.string(text), variable: ABSENT.into() }
                }
                UriPiece::Variable(argument) => {
                    record::UriPiece { literal: absent(), variable: (*argument).into() }
                }
            })
            .collect();
        let record = record::Template {
            uri_template: self.string(uri_template),
            name: self.string(name),
            title: self.optional(title.as_deref()),
            description: self.optional(description.as_deref()),
            mime: self.optional(mime.as_deref()),
            pieces: append(&mut self.uri_pieces, &pieces),
            rendering: self.rendering(rendering),
            place: self.place(at),
        };
        self.templates.extend_from_slice(record.as_bytes());
    }

    fn gate(&mut self, gate: &Gate) {
        let Gate {
            unlock,
            hide_tools,
            tags_ask,
            tags_max,
            budget_bytes,
            repeat_bytes,
            remaining_bytes,
            entry_chars,
            encouragement,
            reminder,
            preamble,
            at,
        } = gate;
        let record = record::Gate {
            unlock: match unlock {
                Unlock::Intercept => record::UNLOCK_INTERCEPT,
                Unlock::Refuse => record::UNLOCK_REFUSE,
            },
            hide_tools: u8::from(*hide_tools),
            reserved: 0.into(),
            tags_ask: (*tags_ask).into(),
            tags_max: (*tags_max).into(),
            budget_bytes: (*budget_bytes).into(),
            repeat_bytes: (*repeat_bytes).into(),
            remaining_bytes: (*remaining_bytes).into(),
            entry_chars: (*entry_chars).into(),
            encouragement: self.message_pieces(encouragement),
            reminder: self.message_pieces(reminder),
            preamble: self.message_pieces(preamble),
            place: self.place(at),
        };
        self.gate.extend_from_slice(record.as_bytes());
    }

    fn message_pieces(&mut self, pieces: &[MessagePiece]) -> record::Range {
        let rows: Vec<_> = pieces
            .iter()
            .map(|piece| {
                let (kind, literal) = match piece {
                    MessagePiece::Literal(text) => {
                        (record::PIECE_LITERAL, self.bodies.shared(text.as_bytes()))
                    }
                    MessagePiece::Matched => (record::PIECE_MATCHED, absent()),
                    MessagePiece::Remaining => (record::PIECE_REMAINING, absent()),
                };
                record::MessagePiece { kind: kind.into(), literal }
            })
            .collect();
        append(&mut self.message_pieces, &rows)
    }

    fn tool(&mut self, tool: &Tool) {
        let Tool { name, gated, tier, at } = tool;
        let record = record::Tool {
            name: self.string(name),
            place: self.place(at),
            gated: u8::from(*gated),
            tier: *tier,
            reserved: 0.into(),
        };
        self.tools.extend_from_slice(record.as_bytes());
    }

    fn pages(&mut self, pages: &[Page], kind: Kind) {
        for Page { first, count, json } in pages {
            let offset = offset(self.page_bytes.len());
            self.page_bytes.extend_from_slice(json.as_bytes());
            let record = record::Page {
                first: (*first).into(),
                count: (*count).into(),
                json: record::Text { offset, length: length(json.len()) },
            };
            let section = match kind {
                Kind::ResourcePages => &mut self.resource_pages,
                Kind::TemplatePages => &mut self.template_pages,
                Kind::ToolPages => &mut self.tool_pages,
                _ => &mut self.prompt_pages,
            };
            section.extend_from_slice(record.as_bytes());
        }
    }

    fn place(&mut self, place: &Place) -> zerocopy::little_endian::U32 {
        let Place { file, line, column } = place;
        let record = record::Place {
            file: self.string(file),
            line: (*line).into(),
            column: (*column).into(),
        };
        append(&mut self.places, &[record]).start
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

/// Returns the text of a rendering that is one literal.
fn only_literal(rendering: &Rendering) -> &str {
    let messages = rendering.variants.first().map(Vec::as_slice).unwrap_or_default();
    match messages {
        [Message { parts, .. }] => match parts.as_slice() {
            [Part::Text(segments)] => match segments.as_slice() {
                [Segment::Literal(text)] => text,
                _ => "",
            },
            _ => "",
        },
        _ => "",
    }
}

/// Bytes in which equal runs stand once.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    /// The last run of each hash; the runs themselves stay in `bytes`, so nothing is held twice.
    known: HashMap<u64, record::Text>,
}

impl Pool {
    fn shared(&mut self, run: &[u8]) -> record::Text {
        // `DefaultHasher::new` has fixed keys: what is shared is the same in every run.
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(known) = self.known.get(&hash) {
            let start = known.offset.get() as usize;
            if self.bytes.get(start..start + known.length.get() as usize) == Some(run) {
                return *known;
            }
        }
        let text = record::Text { offset: offset(self.bytes.len()), length: length(run.len()) };
        self.bytes.extend_from_slice(run);
        self.known.insert(hash, text);
        text
    }
}

fn append<R: IntoBytes + zerocopy::Immutable>(section: &mut Vec<u8>, rows: &[R]) -> record::Range {
    let start = section.len() / size_of::<R>();
    section.extend_from_slice(rows.as_bytes());
    record::Range { start: offset(start), count: length(rows.len()) }
}

/// Builds the hash table from names to their indexes: twice as many slots as names, rounded up to
/// a power of two; a slot holds index + 1, or 0 if it is free; collisions take the next slot.
fn name_index<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Vec<u8> {
    if names.len() == 0 {
        return Vec::new();
    }
    let slots = (names.len() * 2).next_power_of_two();
    let mut table = vec![zerocopy::little_endian::U32::ZERO; slots];
    for (index, name) in names.enumerate() {
        let mut slot = name_slot(name, slots);
        while let Some(taken) = table.get_mut(slot) {
            if taken.get() == 0 {
                *taken = offset(index + 1);
                break;
            }
            slot = (slot + 1) % slots;
        }
    }
    table.as_bytes().to_vec()
}

fn absent() -> record::Text {
    record::Text { offset: ABSENT.into(), length: 0.into() }
}

// A section over 4 GiB is refused by `assemble` before its offsets matter.
fn offset(value: usize) -> zerocopy::little_endian::U32 {
    u32::try_from(value).unwrap_or(ABSENT - 1).into()
}

fn length(value: usize) -> zerocopy::little_endian::U32 {
    offset(value)
}
