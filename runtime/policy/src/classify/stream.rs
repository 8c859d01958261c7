//! What comes out of a command and goes into the next one.

use std::rc::Rc;

use crate::text::Text;

/// What is on a command's standard input or output.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    pub(super) content: Content,
    /// Whether it may hold a secret.
    pub(super) is_secret: bool,
}

/// What a stream holds.
#[derive(Debug, Clone, Default)]
pub(super) enum Content {
    /// What the caller's own input is: a terminal, or nothing.
    #[default]
    Terminal,
    /// This text.
    Literal(Rc<Text<'static>>),
    /// Text that is not known.
    Opaque,
    /// What a file holds.
    File,
    /// What came over a network.
    Network,
}

impl Stream {
    pub(super) fn literal(text: Text<'static>) -> Self {
        Self { content: Content::Literal(Rc::new(text)), is_secret: false }
    }

    pub(super) fn of(content: Content) -> Self {
        Self { content, is_secret: false }
    }

    /// Returns whether it certainly holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Literal(text) => text.bytes.iter().all(|byte| *byte == b'\n'),
            _ => false,
        }
    }
}
