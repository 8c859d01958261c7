//! The output of a command, which is the input of the next one.

use std::rc::Rc;

use super::join::Join;
use super::mark::{Mark, may_be_option};
use super::text::{Text, TextBuilder};

/// The text on a command's standard input or output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) content: Content,
    /// Whether it may hold a secret.
    pub(crate) is_secret: bool,
}

/// The content of a stream, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) enum Content {
    /// The caller's own input: a terminal, or nothing.
    #[default]
    Terminal,
    /// This text.
    Literal(Rc<Text<'static>>),
    /// Unknown text.
    Opaque,
    /// Unknown text, made from words of the classified text.
    Made,
    /// The content of a file.
    File,
    /// Text from a network.
    Network,
}

impl Stream {
    pub(crate) fn literal(text: Text<'static>) -> Self {
        let is_secret = Mark::Secret.is_in(&text.bytes);
        Self { content: Content::Literal(Rc::new(text)), is_secret }
    }

    pub(crate) fn of(content: Content) -> Self {
        Self { content, is_secret: false }
    }

    /// Returns whether it may hold words made by the text that may be options.
    pub(crate) fn makes_options(&self) -> bool {
        match &self.content {
            Content::Literal(text) => may_be_option(&text.bytes),
            Content::Made => true,
            _ => false,
        }
    }

    /// Returns the output of this command and of another that may follow it.
    pub(crate) fn perhaps_with(self, other: Self) -> Self {
        if other.is_empty() {
            return Self { is_secret: self.is_secret || other.is_secret, ..self };
        }
        if self.is_empty() {
            return Self { is_secret: self.is_secret || other.is_secret, ..other };
        }
        let is_secret = self.is_secret || other.is_secret;
        let content = match (&self.content, &other.content) {
            (Content::Network, _) | (_, Content::Network) => Content::Network,
            _ if self.makes_options() || other.makes_options() => Content::Made,
            _ => Content::Opaque,
        };
        Self { content, is_secret }
    }

    /// Returns whether it is certainly empty.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Literal(text) => text.bytes.iter().all(|byte| *byte == b'\n'),
            _ => false,
        }
    }
}

/// The output of either of two commands.
impl Join for Stream {
    fn join(self, other: Self) -> Self {
        let is_secret = self.is_secret || other.is_secret;
        let is_option = self.makes_options() || other.makes_options();
        let content = match (self.content, other.content) {
            (Content::Literal(one), Content::Literal(other)) if one.bytes == other.bytes => {
                Content::Literal(one)
            }
            (Content::Network, _) | (_, Content::Network) => Content::Network,
            _ if is_option => Content::Made,
            (Content::File, Content::File) => Content::File,
            (Content::Terminal, Content::Terminal) => Content::Terminal,
            _ => Content::Opaque,
        };
        Self { content, is_secret }
    }
}

/// The longest output that is kept; a longer one counts as unknown.
const WRITTEN_BYTES_MAX: usize = 64 * 1024;

/// The output of several commands, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Written {
    is_begun: bool,
    only: Stream,
    joined: Option<TextBuilder>,
}

impl Written {
    /// Adds the output of the next command.
    pub(crate) fn add(&mut self, next: Stream) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.only = next;
            return;
        }
        self.only.is_secret |= next.is_secret;
        match (&self.only.content, &next.content) {
            (Content::Network, _) => {}
            (_, Content::Network) => self.other(Content::Network),
            (Content::Made, _) => {}
            (_, Content::Made) => self.other(Content::Made),
            (Content::Literal(first), Content::Literal(second)) => {
                let joined = self.joined.get_or_insert_with(|| {
                    let mut joined = TextBuilder::new(first.span);
                    joined.push_text(first);
                    joined
                });
                joined.push_text(second);
                if joined.bytes().len() > WRITTEN_BYTES_MAX {
                    self.other(Content::Opaque);
                }
            }
            _ if self.is_empty() => self.other(next.content),
            (_, Content::Literal(text)) if text.bytes.is_empty() => {}
            _ => self.other(Content::Opaque),
        }
    }

    fn is_empty(&self) -> bool {
        let is_empty = match &self.only.content {
            Content::Literal(text) => text.bytes.is_empty(),
            _ => false,
        };
        is_empty && self.joined.as_ref().is_none_or(|joined| joined.bytes().is_empty())
    }

    fn other(&mut self, content: Content) {
        self.joined = None;
        self.only.content = content;
    }

    /// Returns all of it.
    pub(crate) fn finish(self) -> Stream {
        match self.joined {
            Some(joined) => Stream {
                content: Content::Literal(Rc::new(joined.finish())),
                is_secret: self.only.is_secret,
            },
            None => self.only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::join::assert_laws;
    use super::*;
    use crate::span::Span;

    #[test]
    fn streams_join_by_the_laws() {
        let literal =
            |bytes: &[u8]| Stream::literal(Text::from_span(bytes.to_vec(), Span::default()));
        let mut streams: Vec<Stream> =
            [&b""[..], b"a", b"b", b"-rf", b"a -rf", Mark::Made.text(), Mark::Secret.text()]
                .map(literal)
                .into();
        streams.extend(
            [Content::Terminal, Content::Opaque, Content::Made, Content::File, Content::Network]
                .map(Stream::of),
        );
        let secret = |stream: &Stream| Stream { is_secret: true, ..stream.clone() };
        streams.extend(streams.iter().map(secret).collect::<Vec<_>>());
        let key = |stream: &Stream| {
            let content = match &stream.content {
                Content::Literal(text) => format!("{:?}", text.bytes),
                other => format!("{other:?}"),
            };
            (content, stream.is_secret)
        };
        let doubt = |stream: &Stream| match &stream.content {
            _ if stream.makes_options() => 4,
            Content::Literal(_) | Content::Terminal => 0,
            Content::File => 1,
            Content::Opaque => 2,
            Content::Made => 4,
            Content::Network => 5,
        };
        assert_laws(&streams, |one, other| key(one) == key(other), doubt);
        assert_laws(&streams, |one, other| key(one) == key(other), |s| u8::from(s.is_secret));
    }
}
