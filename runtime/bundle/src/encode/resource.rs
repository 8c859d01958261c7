//! Resources and URI templates.

use zerocopy::IntoBytes;

use super::{Sections, absent, append};
use crate::contents::{Content, Resource, ResourceTemplate, Segment, UriPiece};
use crate::record::{self, ABSENT};

impl Sections {
    pub(super) fn resource(&mut self, resource: &Resource) {
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

    pub(super) fn template(&mut self, template: &ResourceTemplate) {
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
}
