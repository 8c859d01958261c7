//! The tools with names known at build time, each with the matching patterns of skills.
//!
//! These rows follow from the patterns: an unlisted tool is compared with the patterns for each
//! question. So the compiler may list only as many as keep the size in proportion to the project.

use serde::{Deserialize, Serialize};
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::row::{ABSENT, Range, Text, row};
use crate::section::Kind;
use crate::skill_index::Numbers;
use crate::writer::Writer;

/// A tool with a known name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownTool {
    /// Its name.
    pub name: String,
    /// The numbers of the matching patterns, rising; present if they are listed.
    pub patterns: Option<Vec<u32>>,
}

row! {
    /// A tool with a known name.
    Row of KnownTools {
        name: Text,
        /// Rows of `KnownToolPatterns`; the start is absent if the bundle leaves them out.
        patterns: Range,
    }
}

impl Writer<'_> {
    /// Writes the tools, sorted by name, and the table of their names.
    pub(crate) fn known_tools(&mut self, tools: &[KnownTool]) {
        for KnownTool { name, patterns } in tools {
            let patterns = match patterns {
                None => Range { start: ABSENT.into(), count: U32::ZERO },
                Some(patterns) => {
                    let patterns: Vec<U32> =
                        patterns.iter().map(|pattern| (*pattern).into()).collect();
                    self.records(Kind::KnownToolPatterns, &patterns)
                }
            };
            let row = Row { name: self.string(name), patterns };
            self.rows(&[row]);
        }
        self.name_index(Kind::KnownToolIndex, tools.iter().map(|tool| &tool.name));
    }
}

impl Part for Vec<KnownTool> {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.known_tools().list()
    }

    fn write(&self, _: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        out.known_tools(self);
        Ok(())
    }
}

/// A known tool, in place.
#[derive(Clone, Copy)]
pub struct KnownToolView<'b> {
    bundle: &'b Bundle,
    row: &'b Row,
}

/// The known tools of a bundle, in place, in the order of their names.
#[derive(Clone, Copy)]
pub struct KnownToolsView<'b> {
    bundle: &'b Bundle,
}

impl Bundle {
    /// Returns the known tools.
    #[must_use]
    pub fn known_tools(&self) -> KnownToolsView<'_> {
        KnownToolsView { bundle: self }
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> KnownToolsView<'b> {
    /// Returns the number of known tools.
    #[must_use]
    pub fn count(self) -> usize {
        self.bundle.reader.count(Kind::KnownTools)
    }

    /// Returns the known tool with this index.
    pub fn get(self, index: usize) -> Result<KnownToolView<'b>, Corrupt> {
        Ok(KnownToolView { bundle: self.bundle, row: self.bundle.reader.row(index)? })
    }

    /// Returns all known tools.
    pub fn iter(self) -> impl Iterator<Item = Result<KnownToolView<'b>, Corrupt>> {
        (0..self.count()).map(move |index| self.get(index))
    }

    /// Returns the known tool with this name.
    pub fn find(self, name: &str) -> Result<Option<KnownToolView<'b>>, Corrupt> {
        self.bundle.reader.find(Kind::KnownToolIndex, name, |index| {
            let tool = self.get(index)?;
            Ok((tool.name()? == name).then_some(tool))
        })
    }

    /// Returns all known tools as owned values.
    pub(crate) fn list(self) -> Result<Vec<KnownTool>, Corrupt> {
        let reader = &self.bundle.reader;
        let mut room = reader.section_bytes(Kind::KnownToolPatterns).unwrap_or(0) / 4;
        let owned = |view: Result<KnownToolView<'_>, Corrupt>| {
            let view = view?;
            let patterns: Option<Vec<u32>> =
                view.patterns()?.map(|patterns| patterns.iter().collect());
            let taken = patterns.as_ref().map_or(0, Vec::len);
            room = room.checked_sub(taken).ok_or(wrong("range (it is used twice)"))?;
            Ok(KnownTool { name: view.name()?.to_owned(), patterns })
        };
        self.iter().map(owned).collect()
    }
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> KnownToolView<'b> {
    /// Returns its name.
    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.bundle.reader.string(self.row.name)
    }

    /// Returns the numbers of the matching patterns, rising, if they are listed.
    pub fn patterns(&self) -> Result<Option<Numbers<'b>>, Corrupt> {
        let Range { start, count } = self.row.patterns;
        if start.get() == ABSENT {
            return Ok(None);
        }
        let place = (start.get() as usize).checked_mul(size_of::<U32>());
        let length = (count.get() as usize).checked_mul(size_of::<U32>());
        let (Some(place), Some(length)) = (place, length) else {
            return Err(wrong("patterns"));
        };
        let bytes = self.bundle.reader.bytes(Kind::KnownToolPatterns, place, length)?;
        let numbers = <[U32]>::ref_from_bytes(bytes).map_err(|_| wrong("patterns"))?;
        Ok(Some(Numbers::new(numbers)))
    }
}

fn wrong(what: &'static str) -> Corrupt {
    Corrupt::Record { section: Kind::KnownTools.name(), what }
}
