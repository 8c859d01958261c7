//! Prompts, in place.

use zerocopy::little_endian::U32;

use super::{Bundle, PlaceView, RenderingView};
use crate::contents::Generated;
use crate::error::Corrupt;
use crate::record;
use crate::section::Kind;

/// One prompt, in place.
#[derive(Clone, Copy)]
pub struct PromptView<'b> {
    pub(super) bundle: &'b Bundle,
    pub(super) index: usize,
    pub(super) record: &'b record::Prompt,
}

#[expect(missing_docs, reason = "documented once, at the fields of `Prompt`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> PromptView<'b> {
    /// Returns its number in the order of the names.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
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

    pub fn summary(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.summary)
    }

    pub fn chapters(&self) -> Result<Vec<&'b str>, Corrupt> {
        self.bundle.strings(self.record.chapters)
    }

    /// Returns the line that an index shows: what its author wrote, the summary before the
    /// description, else the summary that the compiler made.
    pub fn about(&self) -> Result<Option<&'b str>, Corrupt> {
        let written = if self.generated().summary { self.description()? } else { None };
        match written {
            Some(description) => Ok(Some(description)),
            None => self.summary(),
        }
    }

    #[must_use]
    pub fn generated(&self) -> Generated {
        let flag = |flag| self.record.generated & flag != 0;
        Generated {
            summary: flag(record::GENERATED_SUMMARY),
            chapters: flag(record::GENERATED_CHAPTERS),
        }
    }

    #[must_use]
    pub fn priority(&self) -> u8 {
        self.record.priority
    }

    pub fn meta(&self) -> Result<Option<&'b str>, Corrupt> {
        self.bundle.optional(self.record.meta)
    }

    /// Returns the text that a briefing sends.
    pub fn body(&self) -> Result<&'b str, Corrupt> {
        self.bundle.text(Kind::Bodies, self.record.body)
    }

    /// Returns the bytes of that text, without reading it.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.record.body.length.get() as usize
    }

    /// Returns its number in the order of selection: priority falling, then name.
    pub fn rank(&self) -> Result<usize, Corrupt> {
        let rank = self.record.rank.get() as usize;
        let index: &U32 = self.bundle.record(Kind::TagOrder, rank)?;
        if index.get() as usize == self.index {
            Ok(rank)
        } else {
            Err(Corrupt::Record { section: Kind::Prompts.name(), what: "rank" })
        }
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView { bundle: self.bundle, record: &self.record.rendering }
    }

    pub fn place(&self) -> Result<PlaceView<'b>, Corrupt> {
        self.bundle.place(self.record.place)
    }
}
