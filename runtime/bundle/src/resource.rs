//! Resources with a fixed URI.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::message::Blob;
use crate::part::Part;
use crate::place::Place;
use crate::reader::Reader;
use crate::row::{Text, Written, row};
use crate::section::Kind;
use crate::setting::Setting;
use crate::shared_text::SharedText;
use crate::writer::Writer;

/// A resource with a fixed URI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: Setting<String>,
    /// Its title for people.
    pub title: Option<Setting<String>>,
    /// Its description.
    pub description: Option<Setting<String>>,
    /// Its media type.
    pub mime: Setting<String>,
    /// Its content.
    pub content: Setting<Content>,
    /// The place of its declaration.
    pub at: Place,
}

/// The content of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content<S = SharedText, B = Blob> {
    /// Text.
    Text(S),
    /// Any bytes.
    Blob(B),
}

impl Content {
    /// Returns the bytes that a client gets.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => &bytes.0,
        }
    }
}

impl<'b> Content<&'b str, &'b [u8]> {
    /// Returns the bytes that a client gets.
    #[must_use]
    pub fn view_bytes(self) -> &'b [u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
        }
    }
}

row! {
    /// A resource with a fixed URI.
    Row of Resources {
        uri: Text,
        name: Written,
        title: Written,
        description: Written,
        mime: Written,
        /// Its content, in `Bodies`.
        content: Written,
        at: U32,
        kind: U32,
    }
}

const TEXT: u32 = 0;
const BLOB: u32 = 1;

impl Writer<'_> {
    pub(crate) fn resource(&mut self, resource: &Resource) {
        let Resource { uri, name, title, description, mime, content, at } = resource;
        let (kind, text) = match &content.value {
            Content::Text(text) => (TEXT, self.body(text.as_bytes())),
            Content::Blob(bytes) => (BLOB, self.body(bytes)),
        };
        let row = Row {
            uri: self.string(uri),
            name: self.written(name),
            title: self.optional_written(title.as_ref()),
            description: self.optional_written(description.as_ref()),
            mime: self.written(mime),
            content: Written { text, at: self.optional_place(content.at.as_ref()) },
            at: self.place(at),
            kind: kind.into(),
        };
        self.rows(&[row]);
    }
}

impl Part for Vec<Resource> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.resources().map(|view| view?.to_owned()).collect()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        self.iter().for_each(|resource| out.resource(resource));
        out.name_index(Kind::ResourceIndex, self.iter().map(|resource| &resource.uri));
        Ok(())
    }

    /// Memory holds one resource at a time.
    fn write_again(
        bundle: &Bundle,
        _: Kind,
        out: &mut Writer<'_>,
        seen: &mut dyn FnMut(Self) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let mut uris = Vec::with_capacity(bundle.resource_count());
        for resource in bundle.resources() {
            let resource = resource?.to_owned()?;
            out.resource(&resource);
            uris.push(resource.uri.clone());
            seen(vec![resource])?;
        }
        out.name_index(Kind::ResourceIndex, uris.iter());
        Ok(())
    }
}

/// One resource with a fixed URI, in place.
#[derive(Clone, Copy)]
pub struct ResourceView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

impl Bundle {
    /// Returns the number of resources with a fixed URI.
    #[must_use]
    pub fn resource_count(&self) -> usize {
        self.reader.count(Kind::Resources)
    }

    /// Returns the resource with this index, in the order of the URIs.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn resource(&self, index: usize) -> Result<ResourceView<'_>, Corrupt> {
        Ok(ResourceView { reader: &self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns all resources with a fixed URI, in the order of the URIs.
    pub fn resources(&self) -> impl Iterator<Item = Result<ResourceView<'_>, Corrupt>> {
        (0..self.resource_count()).map(|index| self.resource(index))
    }

    /// Returns the resource with exactly this URI.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn find_resource(&self, uri: &str) -> Result<Option<ResourceView<'_>>, Corrupt> {
        self.reader.find(Kind::ResourceIndex, uri, |index| {
            let resource = self.resource(index)?;
            Ok((resource.uri()? == uri).then_some(resource))
        })
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `Resource`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> ResourceView<'b> {
    /// Returns its number in the order of the URIs.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn uri(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.uri)
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

    /// Returns the length of its content from the row alone.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.row.content.text.length.get()
    }

    pub fn content(&self) -> Result<Content<&'b str, &'b [u8]>, Corrupt> {
        let held = self.row.content.text;
        match self.row.kind.get() {
            TEXT => self.reader.text(Kind::Bodies, held).map(Content::Text),
            BLOB => self.reader.body(held).map(Content::Blob),
            _ => Err(Corrupt::Record { section: Kind::Resources.name(), what: "kind" }),
        }
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the resource as an owned value.
    pub fn to_owned(self) -> Result<Resource, Corrupt> {
        let Self { reader, index: _, row } = self;
        let content = match self.content()? {
            Content::Text(text) => Content::Text(text.into()),
            Content::Blob(bytes) => Content::Blob(Blob(bytes.into())),
        };
        Ok(Resource {
            uri: self.uri()?.to_owned(),
            name: reader.written(row.name)?,
            title: reader.optional_written(row.title)?,
            description: reader.optional_written(row.description)?,
            mime: reader.written(row.mime)?,
            content: Setting { value: content, at: reader.optional_place(row.content.at)? },
            at: self.at()?.into_owned(),
        })
    }
}
