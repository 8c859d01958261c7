//! Who and what the bundle is, its prebuilt pages, and where things were declared.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::{Sections, append, length, offset};
use crate::contents::{Manifest, Page, Place};
use crate::record;
use crate::section::Kind;

impl Sections {
    pub(super) fn manifest(&mut self, manifest: &Manifest) {
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

    pub(super) fn pages(&mut self, pages: &[Page], kind: Kind) {
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

    pub(super) fn place(&mut self, place: &Place) -> U32 {
        let Place { file, line, column } = place;
        let record = record::Place {
            file: self.string(file),
            line: (*line).into(),
            column: (*column).into(),
        };
        append(&mut self.places, &[record]).start
    }
}
