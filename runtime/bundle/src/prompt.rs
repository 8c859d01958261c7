//! Prompts.

use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::lower_case::lower_case;
use crate::place::Place;
use crate::reader::Reader;
use crate::rendering::{self, Rendering, RenderingView};
use crate::row::{ABSENT, Range, Text, Written, row};
use crate::section::Kind;
use crate::setting::Setting;
use crate::shared_text::{SharedText, Sharer};
use crate::writer::Writer;

/// One prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The name in `prompts/get`.
    pub name: String,
    /// The title for people.
    pub title: Option<Setting<String>>,
    /// The description in lists.
    pub description: Option<Setting<String>>,
    /// The subject of the prompt, in one line; it is searched for tags. A generated summary has no
    /// place: it was made from the text.
    pub summary: Option<Setting<String>>,
    /// The topics of the prompt; they are searched for tags. Those with no place were generated
    /// from the text and the name.
    pub chapters: Vec<Setting<String>>,
    /// 1 (reference) to 10 (always sent).
    pub priority: Setting<u8>,
    /// Whether briefings may send it; a prompt that people run appears only in lists.
    pub briefing: Setting<bool>,
    /// A JSON object of additional data for the prompt's `_meta`.
    pub meta: Option<String>,
    /// The text in briefings.
    pub body: Setting<SharedText>,
    /// Its arguments, and its text for each combination of them.
    pub rendering: Rendering,
    /// The place of its declaration.
    pub at: Place,
}

row! {
    /// A prompt.
    Row of Prompts {
        name: Text,
        title: Written,
        description: Written,
        summary: Written,
        meta: Text,
        chapters: Range,
        rendering: rendering::Record,
        /// The text in briefings, stored in `Bodies`.
        body: Written,
        priority_at: U32,
        briefing_at: U32,
        at: U32,
        /// Its rank in `TagOrder`, if briefings may send it.
        rank: U32,
        priority: u8,
        reserved: [u8; 3],
    }
}

row! {
    /// A topic of a prompt.
    Chapter of Chapters {
        chapter: Written,
    }
}

impl Writer<'_> {
    /// Appends a prompt; returns the length of its text in briefings.
    pub(crate) fn prompt(&mut self, prompt: &Prompt, rank: Option<u32>) -> u32 {
        let Prompt {
            name,
            title,
            description,
            summary,
            chapters,
            priority,
            briefing,
            meta,
            body,
            rendering,
            at,
        } = prompt;
        let chapters: Vec<_> =
            chapters.iter().map(|chapter| Chapter { chapter: self.written(chapter) }).collect();
        let text = self.body(body.value.as_bytes());
        let row = Row {
            name: self.string(name),
            title: self.optional_written(title.as_ref()),
            description: self.optional_written(description.as_ref()),
            summary: self.optional_written(summary.as_ref()),
            meta: self.optional(meta.as_deref()),
            chapters: self.rows(&chapters),
            rendering: self.rendering(rendering),
            body: Written { text, at: self.optional_place(body.at.as_ref()) },
            priority_at: self.optional_place(priority.at.as_ref()),
            briefing_at: self.optional_place(briefing.at.as_ref()),
            at: self.place(at),
            rank: rank.map_or(ABSENT.into(), Into::into),
            priority: priority.value,
            reserved: [0; 3],
        };
        self.rows(&[row]);
        text.length.get()
    }
}

/// One prompt, in place.
#[derive(Clone, Copy)]
pub struct PromptView<'b> {
    reader: &'b Reader,
    index: usize,
    row: &'b Row,
}

impl Bundle {
    /// Returns the number of prompts.
    #[must_use]
    pub fn prompt_count(&self) -> usize {
        self.reader.count(Kind::Prompts)
    }

    /// Returns the prompt with this index, in the order of the names.
    ///
    /// # Errors
    ///
    /// The index is out of range, or the bundle is corrupt. The latter is possible for everything
    /// that reads a bundle.
    pub fn prompt(&self, index: usize) -> Result<PromptView<'_>, Corrupt> {
        Ok(PromptView { reader: &self.reader, index, row: self.reader.row(index)? })
    }

    /// Returns all prompts, in the order of their names.
    pub fn prompts(&self) -> impl Iterator<Item = Result<PromptView<'_>, Corrupt>> {
        (0..self.prompt_count()).map(|index| self.prompt(index))
    }

    /// Returns the prompt with this name.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn find_prompt(&self, name: &str) -> Result<Option<PromptView<'_>>, Corrupt> {
        self.reader.find(Kind::PromptIndex, &lower_case(name), |index| {
            let prompt = self.prompt(index)?;
            Ok((prompt.name()? == name).then_some(prompt))
        })
    }

    /// Returns the indexes of the prompts whose whole name is `name` in lower case.
    ///
    /// # Errors
    ///
    /// As for [`Self::prompt`].
    pub fn prompts_named(&self, name: &str) -> Result<Vec<usize>, Corrupt> {
        let mut named = Vec::new();
        self.reader.find(Kind::PromptIndex, name, |index| {
            if lower_case(self.prompt(index)?.name()?) == name {
                named.push(index);
            }
            // The search goes on to the end of the names with this hash.
            Ok(None::<()>)
        })?;
        Ok(named)
    }
}

#[expect(missing_docs, reason = "documented once, at the fields of `Prompt`")]
#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> PromptView<'b> {
    /// Returns its number in the order of the names.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    pub fn name(&self) -> Result<&'b str, Corrupt> {
        self.reader.string(self.row.name)
    }

    pub fn title(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.title.text)
    }

    pub fn description(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.description.text)
    }

    pub fn summary(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.summary.text)
    }

    pub fn chapters(&self) -> Result<Vec<&'b str>, Corrupt> {
        let chapter = |row: Result<&Chapter, Corrupt>| self.reader.string(row?.chapter.text);
        self.reader.rows(self.row.chapters)?.map(chapter).collect()
    }

    /// Returns the line for an index: the summary or else the description by the author, or else
    /// the generated summary.
    pub fn about(&self) -> Result<Option<&'b str>, Corrupt> {
        let written = if self.has_generated_summary() { self.description()? } else { None };
        match written {
            Some(description) => Ok(Some(description)),
            None => self.summary(),
        }
    }

    /// Returns whether the compiler generated the summary.
    #[must_use]
    pub fn has_generated_summary(&self) -> bool {
        let Written { text, at } = self.row.summary;
        text.offset.get() != ABSENT && at.get() == ABSENT
    }

    /// Returns whether the compiler generated chapters.
    pub fn has_generated_chapters(&self) -> Result<bool, Corrupt> {
        let mut generated = false;
        for row in self.reader.rows::<Chapter>(self.row.chapters)? {
            generated |= row?.chapter.at.get() == ABSENT;
        }
        Ok(generated)
    }

    #[must_use]
    pub fn priority(&self) -> u8 {
        self.row.priority
    }

    pub fn meta(&self) -> Result<Option<&'b str>, Corrupt> {
        self.reader.optional(self.row.meta)
    }

    pub fn body(&self) -> Result<&'b str, Corrupt> {
        self.reader.text(Kind::Bodies, self.row.body.text)
    }

    /// Returns the length of the body from the row alone.
    #[must_use]
    pub fn body_bytes(&self) -> usize {
        self.row.body.text.length.get() as usize
    }

    /// Returns whether briefings may send it.
    #[must_use]
    pub fn is_briefed(&self) -> bool {
        self.row.rank.get() != ABSENT
    }

    /// Returns its number in the order of selection, if briefings may send it: priority falling,
    /// then name.
    pub fn rank(&self) -> Result<Option<usize>, Corrupt> {
        if !self.is_briefed() {
            return Ok(None);
        }
        let rank = self.stored_rank();
        let index: &U32 = self.reader.record(Kind::TagOrder, rank)?;
        if index.get() as usize == self.index {
            Ok(Some(rank))
        } else {
            Err(Corrupt::Record { section: Kind::Prompts.name(), what: "rank" })
        }
    }

    /// Returns the unchecked rank of its row; [`Self::rank`] checks it.
    pub(crate) fn stored_rank(&self) -> usize {
        self.row.rank.get() as usize
    }

    #[must_use]
    pub fn rendering(&self) -> RenderingView<'b> {
        RenderingView::new(self.reader, &self.row.rendering)
    }

    pub fn at(&self) -> Result<Place<&'b str>, Corrupt> {
        self.reader.place_at(self.row.at)
    }

    /// Returns the prompt as an owned value.
    pub fn to_owned(self) -> Result<Prompt, Corrupt> {
        let Self { reader, index: _, row } = self;
        let chapter = |row: Result<&Chapter, Corrupt>| reader.written(row?.chapter);
        let mut texts = Sharer::default();
        let body = texts.shared(self.body()?);
        Ok(Prompt {
            name: self.name()?.to_owned(),
            title: reader.optional_written(row.title)?,
            description: reader.optional_written(row.description)?,
            summary: reader.optional_written(row.summary)?,
            chapters: reader.rows(row.chapters)?.map(chapter).collect::<Result<_, _>>()?,
            priority: Setting { value: row.priority, at: reader.optional_place(row.priority_at)? },
            briefing: Setting {
                value: self.is_briefed(),
                at: reader.optional_place(row.briefing_at)?,
            },
            meta: self.meta()?.map(str::to_owned),
            body: Setting { value: body, at: reader.optional_place(row.body.at)? },
            rendering: self.rendering().to_owned(&mut texts)?,
            at: self.at()?.into_owned(),
        })
    }
}
