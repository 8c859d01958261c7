//! Arguments, variants and their messages, in place.

use super::Bundle;
use crate::contents::Role;
use crate::error::Corrupt;
use crate::record::{self, ABSENT};
use crate::section::Kind;

/// Arguments and variants, in place.
#[derive(Clone, Copy)]
pub struct RenderingView<'b> {
    pub(super) bundle: &'b Bundle,
    pub(super) record: &'b record::Rendering,
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> RenderingView<'b> {
    /// Returns the arguments in the order in which they were declared.
    pub fn arguments(&self) -> Result<Vec<ArgumentView<'b>>, Corrupt> {
        let bundle = self.bundle;
        let mut room = bundle.count(Kind::StringLists);
        bundle
            .list(Kind::Arguments, self.record.arguments)?
            .map(|index| {
                let record: &record::Argument = bundle.record(Kind::Arguments, index)?;
                let kind = match record.kind {
                    record::ARGUMENT_CHOICE => {
                        take(&mut room, Kind::StringLists, record.choices)?;
                        ArgumentKindView::Choice(bundle.strings(record.choices)?)
                    }
                    record::ARGUMENT_TEXT => {
                        ArgumentKindView::Text { chars_max: record.chars_max.get() }
                    }
                    _ => return Err(Corrupt::Record { section: "arguments", what: "kind" }),
                };
                Ok(ArgumentView {
                    name: bundle.string(record.name)?,
                    description: bundle.optional(record.description)?,
                    required: record.required != 0,
                    default: bundle.optional(record.default)?,
                    kind,
                    stride: record.stride.get(),
                })
            })
            .collect()
    }

    /// Returns how many variants there are.
    #[must_use]
    pub fn variant_count(&self) -> usize {
        self.record.variants.count.get() as usize
    }

    /// Returns the variant with this number.
    pub fn variant(&self, number: usize) -> Result<VariantView<'b>, Corrupt> {
        let index = self
            .bundle
            .list(Kind::Variants, self.record.variants)?
            .nth(number)
            .ok_or(Corrupt::Record { section: "variants", what: "number" })?;
        let messages: &record::Range = self.bundle.record(Kind::Variants, index)?;
        Ok(VariantView { bundle: self.bundle, messages })
    }
}

/// One argument; the fields are those of [`Argument`](crate::Argument).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Argument`")]
pub struct ArgumentView<'b> {
    pub name: &'b str,
    pub description: Option<&'b str>,
    pub required: bool,
    pub default: Option<&'b str>,
    pub kind: ArgumentKindView<'b>,
    pub stride: u32,
}

/// Which values an argument takes; see [`ArgumentKind`](crate::ArgumentKind).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `ArgumentKind`")]
pub enum ArgumentKindView<'b> {
    Choice(Vec<&'b str>),
    Text { chars_max: u32 },
}

/// The messages of one combination of arguments, in place.
#[derive(Clone, Copy)]
pub struct VariantView<'b> {
    pub(super) bundle: &'b Bundle,
    pub(super) messages: &'b record::Range,
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::manifest`")]
impl<'b> VariantView<'b> {
    /// Returns the messages in order.
    pub fn messages(&self) -> Result<Vec<MessageView<'b>>, Corrupt> {
        let bundle = self.bundle;
        let mut parts_room = bundle.count(Kind::Parts);
        let mut segments_room = bundle.count(Kind::Segments);
        bundle
            .list(Kind::Messages, *self.messages)?
            .map(|index| {
                let record: &record::Message = bundle.record(Kind::Messages, index)?;
                let role = match record.role.get() {
                    record::ROLE_USER => Role::User,
                    record::ROLE_ASSISTANT => Role::Assistant,
                    _ => return Err(Corrupt::Record { section: "messages", what: "role" }),
                };
                take(&mut parts_room, Kind::Parts, record.parts)?;
                let parts = bundle
                    .list(Kind::Parts, record.parts)?
                    .map(|index| bundle.part(index, &mut segments_room))
                    .collect::<Result<_, _>>()?;
                Ok(MessageView { role, parts })
            })
            .collect()
    }
}

impl Bundle {
    fn part(&self, index: usize, room: &mut usize) -> Result<PartView<'_>, Corrupt> {
        let record: &record::Part = self.record(Kind::Parts, index)?;
        let mime = self.optional(record.mime)?;
        let wrong = Corrupt::Record { section: Kind::Parts.name(), what: "kind" };
        Ok(match record.kind.get() {
            record::PART_TEXT => PartView::Text(self.segments(record.segments, room)?),
            record::PART_IMAGE => {
                PartView::Image { mime: mime.unwrap_or_default(), bytes: self.blob(record.blob)? }
            }
            record::PART_AUDIO => {
                PartView::Audio { mime: mime.unwrap_or_default(), bytes: self.blob(record.blob)? }
            }
            record::PART_RESOURCE_TEXT => PartView::ResourceText {
                uri: self.segments(record.uri, room)?,
                mime,
                text: self.segments(record.segments, room)?,
            },
            record::PART_RESOURCE_BLOB => PartView::ResourceBlob {
                uri: self.segments(record.uri, room)?,
                mime,
                bytes: self.blob(record.blob)?,
            },
            _ => return Err(wrong),
        })
    }

    fn segments(
        &self,
        range: record::Range,
        room: &mut usize,
    ) -> Result<Vec<SegmentView<'_>>, Corrupt> {
        take(room, Kind::Segments, range)?;
        self.list(Kind::Segments, range)?
            .map(|index| {
                let record: &record::Segment = self.record(Kind::Segments, index)?;
                match record.slot.get() {
                    ABSENT => self.text(Kind::Bodies, record.body).map(SegmentView::Literal),
                    slot => Ok(SegmentView::Slot(slot)),
                }
            })
            .collect()
    }
}

/// Takes the records of `range` out of the `room` that one answer has.
///
/// No two records of an answer share what they refer to, so it never has more of a section than
/// the section itself. Without that limit a small file could ask for any amount of memory.
pub(super) fn take(room: &mut usize, section: Kind, range: record::Range) -> Result<(), Corrupt> {
    let wrong = Corrupt::Record { section: section.name(), what: "range (it is used twice)" };
    *room = room.checked_sub(range.count.get() as usize).ok_or(wrong)?;
    Ok(())
}

/// One message of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageView<'b> {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub parts: Vec<PartView<'b>>,
}

/// One part of a message; see [`Part`](crate::Part).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Part`")]
pub enum PartView<'b> {
    Text(Vec<SegmentView<'b>>),
    Image { mime: &'b str, bytes: &'b [u8] },
    Audio { mime: &'b str, bytes: &'b [u8] },
    ResourceText { uri: Vec<SegmentView<'b>>, mime: Option<&'b str>, text: Vec<SegmentView<'b>> },
    ResourceBlob { uri: Vec<SegmentView<'b>>, mime: Option<&'b str>, bytes: &'b [u8] },
}

/// A piece of rendered text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentView<'b> {
    /// Text as it is.
    Literal(&'b str),
    /// The value of the argument with this index.
    Slot(u32),
}
