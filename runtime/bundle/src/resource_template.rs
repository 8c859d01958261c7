//! Resources with variables in their URI.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::reader::Reader;
use crate::rendering::{self, Rendering, RenderingView};
use crate::row::{ABSENT, Range, Text, Written, row};
use crate::section::Kind;
use crate::setting::Setting;
use crate::shared_text::Sharer;
use crate::writer::Writer;

/// A resource with variables in its URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceTemplate {
    /// The URI template (RFC 6570, level 1).
    pub uri_template: String,
    /// The same, split into pieces.
    pub pieces: Vec<UriPiece>,
    /// Its name.
    pub name: Setting<String>,
    /// Its title for people.
    pub title: Option<Setting<String>>,
    /// Its description.
    pub description: Option<Setting<String>>,
    /// Its media type.
    pub mime: Setting<String>,
    /// Its arguments and texts: each variant is one message of one text part.
    pub rendering: Rendering,
    /// The place of its declaration.
    pub at: Place,
}

/// A piece of a URI template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UriPiece<S = String> {
    /// Literal text.
    #[serde(rename = "text")]
    Literal(S),
    /// The variable for the argument with this index.
    Variable(u32),
}

row! {
    /// A resource with variables in its URI.
    Row of Templates {
        uri_template: Text,
        name: Written,
        title: Written,
        description: Written,
        mime: Written,
        pieces: Range,
        rendering: rendering::Record,
        at: U32,
    }
}

row! {
    /// A piece of a URI template.
    PieceRow of UriPieces {
        literal: Text,
        /// The argument of the variable; [`ABSENT`] for a literal.
        variable: U32,
    }
}

impl Writer<'_> {
    pub(crate) fn resource_template(&mut self, template: &ResourceTemplate) {
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
        let piece = |piece: &UriPiece| match piece {
            UriPiece::Literal(text) => {
                PieceRow { literal: self.string(text), variable: ABSENT.into() }
            }
            UriPiece::Variable(argument) => {
                PieceRow { literal: Text::ABSENT, variable: (*argument).into() }
            }
        };
        let pieces: Vec<_> = pieces.iter().map(piece).collect();
        let row = Row {
            uri_template: self.string(uri_template),
            name: self.written(name),
            title: self.optional_written(title.as_ref()),
            description: self.optional_written(description.as_ref()),
            mime: self.written(mime),
            pieces: self.rows(&pieces),
            rendering: self.rendering(rendering),
            at: self.place(at),
        };
        self.rows(&[row]);
    }
}

/// One URI template, in place.
#[derive(Clone, Copy)]
pub struct TemplateView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

impl Part for Vec<ResourceTemplate> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.templates().iter().map(|view| view?.to_owned()).collect()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        self.iter().for_each(|template| out.resource_template(template));
        Ok(())
    }

    /// Memory holds one template at a time.
    fn write_again(
        bundle: &Bundle,
        _: Kind,
        out: &mut Writer<'_>,
        seen: &mut dyn FnMut(Self) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        for template in bundle.templates().iter() {
            let template = template?.to_owned()?;
            out.resource_template(&template);
            seen(vec![template])?;
        }
        Ok(())
    }
}

/// The URI templates of a bundle, in place.
#[derive(Clone, Copy)]
pub struct TemplatesView<'b> {
    reader: &'b Reader,
}

impl Bundle {
    /// Returns the URI templates.
    #[must_use]
    pub fn templates(&self) -> TemplatesView<'_> {
        TemplatesView { reader: &self.reader }
    }
}

impl<'b> TemplatesView<'b> {
    /// Returns the number of URI templates.
    #[must_use]
    pub fn count(self) -> usize {
        self.reader.count(Kind::Templates)
    }

    /// Returns the URI template with this index.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn get(self, index: usize) -> Result<TemplateView<'b>, Corrupt> {
        Ok(TemplateView { reader: self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns all URI templates, in order.
    pub fn iter(self) -> impl Iterator<Item = Result<TemplateView<'b>, Corrupt>> {
        (0..self.count()).map(move |index| self.get(index))
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `ResourceTemplate`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> TemplateView<'b> {
    /// Returns its number.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri_template(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.uri_template)
    }

    pub fn pieces(&self) -> Result<Vec<UriPiece<&'b str>>, Corrupt> {
        let piece = |row: Result<&PieceRow, Corrupt>| {
            let PieceRow { literal, variable } = *row?;
            match variable.get() {
                ABSENT => self.reader.string(literal).map(UriPiece::Literal),
                variable => Ok(UriPiece::Variable(variable)),
            }
        };
        self.reader.rows(self.row.pieces)?.map(piece).collect()
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.name.text)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.title.text)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.description.text)
    }

    pub fn mime(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.mime.text)
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView::new(self.reader, &self.row.rendering)
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the URI template as an owned value.
    pub fn to_owned(self) -> Result<ResourceTemplate, Corrupt> {
        let Self { reader, index: _, row } = self;
        let piece = |piece| match piece {
            UriPiece::Literal(text) => UriPiece::Literal(str::to_owned(text)),
            UriPiece::Variable(argument) => UriPiece::Variable(argument),
        };
        Ok(ResourceTemplate {
            uri_template: self.uri_template()?.to_owned(),
            pieces: self.pieces()?.into_iter().map(piece).collect(),
            name: reader.written(row.name)?,
            title: reader.optional_written(row.title)?,
            description: reader.optional_written(row.description)?,
            mime: reader.written(row.mime)?,
            rendering: self.rendering().to_owned(&mut Sharer::default())?,
            at: self.at()?.into_owned(),
        })
    }
}
