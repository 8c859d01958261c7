//! Arguments, and the messages for every combination of the finite ones.

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::argument::{Argument, ArgumentView};
use crate::error::Corrupt;
use crate::message::{Message, MessageView};
use crate::reader::Reader;
use crate::row::{self, Range, row};
use crate::section::Kind;
use crate::shared_text::Sharer;
use crate::writer::Writer;

/// Arguments, and the messages for every combination of the finite ones.
///
/// The variant for a call is `sum(state(argument) * stride)`. The state of a choice is its index
/// (one past the last choice if the argument is absent). The state of a free text, or of a choice
/// that is only printed, is 0 if it is present and 1 if it is absent. Arguments that do not affect
/// any text have stride 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendering {
    /// The arguments in the order of their declarations.
    pub arguments: Vec<Argument>,
    /// The variants: the messages of each.
    pub variants: Vec<Vec<Message>>,
}

/// The reference to a rendering in a row.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Record {
    arguments: Range,
    variants: Range,
}

row! {
    /// The messages of one combination of arguments.
    Variant of Variants {
        messages: row::Range,
    }
}

impl Writer<'_> {
    pub(crate) fn rendering(&mut self, Rendering { arguments, variants }: &Rendering) -> Record {
        let arguments = self.arguments(arguments);
        let variant = |messages: &Vec<Message>| Variant { messages: self.messages(messages) };
        let variants: Vec<_> = variants.iter().map(variant).collect();
        Record { arguments, variants: self.rows(&variants) }
    }
}

/// Arguments and variants, in place.
#[derive(Clone, Copy)]
pub struct RenderingView<'b> {
    reader: &'b Reader,
    record: &'b Record,
}

#[expect(clippy::missing_errors_doc, reason = "all as `Bundle::prompt`")]
impl<'b> RenderingView<'b> {
    pub(crate) fn new(reader: &'b Reader, record: &'b Record) -> Self {
        Self { reader, record }
    }

    /// Returns the arguments in the order of their declarations.
    pub fn arguments(&self) -> Result<Vec<ArgumentView<'b>>, Corrupt> {
        self.reader.arguments(self.record.arguments)
    }

    /// Returns the number of variants.
    #[must_use]
    pub fn variant_count(&self) -> usize {
        self.record.variants.count.get() as usize
    }

    /// Returns the messages of the variant with this number, in order.
    pub fn messages(&self, variant: usize) -> Result<Vec<MessageView<'b>>, Corrupt> {
        let mut variants = self.reader.rows::<Variant>(self.record.variants)?;
        let wrong = Corrupt::Record { section: Kind::Variants.name(), what: "number" };
        let Variant { messages } = *variants.nth(variant).ok_or(wrong)??;
        self.reader.messages(messages)
    }

    pub(crate) fn to_owned(self, texts: &mut Sharer<'b>) -> Result<Rendering, Corrupt> {
        let reader = self.reader;
        let mut owned = |message: MessageView<'b>| message.into_owned(reader, texts);
        let messages =
            |variant| self.messages(variant)?.into_iter().map(&mut owned).collect::<Result<_, _>>();
        Ok(Rendering {
            arguments: self
                .arguments()?
                .into_iter()
                .map(|argument| argument.into_owned(reader))
                .collect::<Result<_, _>>()?,
            variants: (0..self.variant_count()).map(messages).collect::<Result<_, _>>()?,
        })
    }
}
