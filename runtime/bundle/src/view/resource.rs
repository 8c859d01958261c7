//! Resources and URI templates, in place.

use super::{Bundle, PlaceView, RenderingView};
use crate::error::Corrupt;
use crate::record::{self, ABSENT};
use crate::section::Kind;

/// One resource with a fixed URI, in place.
#[derive(Clone, Copy)]
pub struct ResourceView<'b> {
    pub(super) bundle: &'b Bundle,
    pub(super) index: usize,
    pub(super) record: &'b record::Resource,
}

#[expect(missing_docs, reason = "documented once, at the fields of `Resource`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> ResourceView<'b> {
    /// Returns its number in the order of the URIs.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.uri)
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.title)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.description)
    }

    pub fn mime(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.mime)
    }

    /// Returns the bytes of its content without reading them.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.record.body.length.get()
    }

    /// Returns what it holds.
    pub fn content(&self) -> Result<ContentView<'b>, Corrupt> {
        match self.record.kind.get() {
            record::CONTENT_TEXT => {
                self.bundle.text(Kind::Bodies, self.record.body).map(ContentView::Text)
            }
            record::CONTENT_BLOB => self.bundle.blob(self.record.body).map(ContentView::Blob),
            _ => Err(Corrupt::Record { section: Kind::Resources.name(), what: "kind" }),
        }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}

/// What a resource holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentView<'b> {
    /// Text.
    Text(&'b str),
    /// Any bytes.
    Blob(&'b [u8]),
}

/// One URI template, in place.
#[derive(Clone, Copy)]
pub struct TemplateView<'b> {
    pub(super) bundle: &'b Bundle,
    pub(super) index: usize,
    pub(super) record: &'b record::Template,
}

#[expect(missing_docs, reason = "documented once, at the fields of `ResourceTemplate`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> TemplateView<'b> {
    /// Returns its number.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri_template(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.uri_template)
    }

    /// Returns the URI template taken apart.
    pub fn pieces(&self) -> Result<Vec<UriPieceView<'b>>, Corrupt> {
        let bundle = self.bundle;
        bundle
            .list(Kind::UriPieces, self.record.pieces)?
            .map(|index| {
                let piece: &record::UriPiece = bundle.record(Kind::UriPieces, index)?;
                match piece.variable.get() {
                    ABSENT => bundle.string(piece.literal).map(UriPieceView::Literal),
                    variable => Ok(UriPieceView::Variable(variable)),
                }
            })
            .collect()
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.string(self.record.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.title)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.description)
    }

    pub fn mime(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.mime)
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView { bundle: self.bundle, record: &self.record.rendering }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}

/// A piece of a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UriPieceView<'b> {
    /// Text as it is.
    Literal(&'b str),
    /// The variable that fills the argument with this index.
    Variable(u32),
}
