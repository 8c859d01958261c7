//! Prebuilt pages of lists.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::row::Text;
use crate::section::Kind;
use crate::writer::{Writer, number};

/// A prebuilt page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<S = String> {
    /// The index of its first entry.
    pub first: u32,
    /// The number of its entries.
    pub count: u32,
    /// The entries as a JSON array for MCP.
    pub json: S,
}

/// A list for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum List {
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    Templates,
    /// `tools/list`.
    Tools,
}

/// A page, in each of the four sections of pages.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Record {
    first: U32,
    count: U32,
    json: Text,
}

const _: () = assert!(size_of::<Record>() == Kind::PromptPages.row_bytes());

impl List {
    /// Every list.
    pub const ALL: [Self; 4] = [Self::Prompts, Self::Resources, Self::Templates, Self::Tools];

    /// Returns the method of MCP for the list.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Tools => "tools/list",
        }
    }

    /// Returns the section of the list's pages.
    #[must_use]
    pub fn section(self) -> Kind {
        match self {
            Self::Prompts => Kind::PromptPages,
            Self::Resources => Kind::ResourcePages,
            Self::Templates => Kind::TemplatePages,
            Self::Tools => Kind::ToolPages,
        }
    }

    fn of_section(section: Kind) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.section() == section)
    }
}

impl Part for Vec<Page> {
    fn read(bundle: &Bundle, kind: Kind) -> Result<Self, Corrupt> {
        List::of_section(kind).map_or(Ok(Self::new()), |list| bundle.list(list).pages())
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.pages(kind, self);
        Ok(())
    }
}

impl Writer<'_> {
    fn pages(&mut self, section: Kind, pages: &[Page]) {
        for Page { first, count, json } in pages {
            let offset = number(self.bytes(Kind::PageBytes, json.as_bytes()));
            let json = Text { offset, length: number(json.len()) };
            let record = Record { first: (*first).into(), count: (*count).into(), json };
            self.records(section, &[record]);
        }
    }

    /// Writes the place of each entry of the lists in its page. The pages were written before.
    ///
    /// # Errors
    ///
    /// A page differs from a JSON array. Contents from the compiler never cause this.
    pub(crate) fn list_entries(&mut self) -> Result<(), serde_json::Error> {
        let mut found = Vec::new();
        for list in List::ALL {
            let records = <[Record]>::ref_from_bytes(self.so_far(list.section()));
            for Record { first: _, count: _, json } in records.unwrap_or_default() {
                let Text { offset, length } = *json;
                let (start, length) = (offset.get() as usize, length.get() as usize);
                let page = self.so_far(Kind::PageBytes).get(start..start + length);
                let entries: Vec<&RawValue> = serde_json::from_slice(page.unwrap_or_default())?;
                let mut at = start + "[".len();
                for entry in entries {
                    let length = entry.get().len();
                    found.push(Text { offset: number(at), length: number(length) });
                    at += length + ",".len();
                }
            }
        }
        self.records(Kind::ListEntries, &found);
        Ok(())
    }
}

/// A list of a bundle with its prebuilt pages, in place.
#[derive(Clone, Copy)]
pub struct ListView<'b> {
    bundle: &'b Bundle,
    list: List,
}

impl Bundle {
    /// Returns a list with its prebuilt pages.
    #[must_use]
    pub fn list(&self, list: List) -> ListView<'_> {
        ListView { bundle: self, list }
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> ListView<'b> {
    /// Returns the number of its rows, for all audiences together.
    #[must_use]
    pub fn count(self) -> usize {
        match self.list {
            List::Prompts => self.bundle.prompt_count(),
            List::Resources => self.bundle.resource_count(),
            List::Templates => self.bundle.templates().count(),
            List::Tools => self.bundle.tools().len(),
        }
    }

    /// Returns the entry of a row, as JSON; only bundles with audiences have entries.
    pub(crate) fn entry(self, row: usize) -> Result<&'b str, Corrupt> {
        let before = List::ALL.into_iter().take_while(|each| *each != self.list);
        let before: usize = before.map(|list| self.bundle.list(list).count()).sum();
        let reader = &self.bundle.reader;
        let text: &Text = reader.record(Kind::ListEntries, before.saturating_add(row))?;
        reader.text(Kind::PageBytes, *text)
    }

    /// Returns the number of its prebuilt pages.
    #[must_use]
    pub fn page_count(self) -> usize {
        self.bundle.reader.count(self.list.section())
    }

    /// Returns a prebuilt page.
    pub fn page(self, index: usize) -> Result<Page<&'b str>, Corrupt> {
        let reader = &self.bundle.reader;
        let Record { first, count, json } = *reader.record(self.list.section(), index)?;
        let json = reader.text(Kind::PageBytes, json)?;
        Ok(Page { first: first.get(), count: count.get(), json })
    }

    /// Returns all prebuilt pages as owned values.
    pub(crate) fn pages(self) -> Result<Vec<Page>, Corrupt> {
        let page = |index| {
            let Page { first, count, json } = self.page(index)?;
            Ok(Page { first, count, json: json.to_owned() })
        };
        (0..self.page_count()).map(page).collect()
    }
}
