//! Arguments, variants and their messages.

use super::{Sections, absent, append};
use crate::contents::{Argument, ArgumentKind, Content, Message, Part, Rendering, Role, Segment};
use crate::record::{self, ABSENT};

impl Sections {
    pub(super) fn rendering(&mut self, rendering: &Rendering) -> record::Rendering {
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
}
