//! Lines of standard input, up to a limit of bytes.

use std::fmt;
use std::io;

use rmcp::model::RequestId;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserializer as _, de};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder as _};

/// The most bytes of one read.
const READ_BYTES: usize = 16 << 10;

/// A reader of lines.
pub(super) struct Lines<R> {
    input: R,
    buffer: BytesMut,
    codec: AnyDelimiterCodec,
    has_ended: bool,
}

/// The outcome of reading one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// A line up to its end, which the last one may lack.
    Whole(Bytes),
    /// A skipped line over the limit, with the id of its request if that comes first.
    TooLong(Option<RequestId>),
    /// The end of input.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, line_bytes_max: usize) -> Self {
        let codec = AnyDelimiterCodec::new_with_max_length(vec![b'\n'], Vec::new(), line_bytes_max);
        Self { input, buffer: BytesMut::new(), codec, has_ended: false }
    }

    /// Returns the next line. If the future is dropped, all bytes are kept.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let decoded = if self.has_ended {
                self.codec.decode_eof(&mut self.buffer)
            } else {
                self.codec.decode(&mut self.buffer)
            };
            match decoded {
                Ok(Some(line)) => return Ok(Line::Whole(line)),
                Ok(None) if self.has_ended => return Ok(Line::End),
                Ok(None) => {}
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
                    return Ok(Line::TooLong(first_id(&self.buffer)));
                }
                Err(AnyDelimiterCodecError::Io(error)) => return Err(error),
            }
            self.buffer.reserve(READ_BYTES);
            self.has_ended = self.input.read_buf(&mut self.buffer).await? == 0;
        }
    }
}

/// Returns the id of the message that begins with `start`, if the start has it.
fn first_id(start: &[u8]) -> Option<RequestId> {
    let mut id = None;
    // An error is usual, since the message is cut off; only the id counts.
    _ = serde_json::Deserializer::from_slice(start).deserialize_map(Start { id: &mut id });
    id
}

struct Start<'a> {
    id: &'a mut Option<RequestId>,
}

impl<'de> Visitor<'de> for Start<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name == "id" {
                *self.id = Some(fields.next_value()?);
                return Err(de::Error::custom("the rest is not needed"));
            }
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all lines of at most 40 bytes.
    async fn read(mut input: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(&mut input, 40);
        let mut all = Vec::new();
        while all.last() != Some(&Line::End) {
            all.push(lines.next().await.expect("memory can be read"));
        }
        all
    }

    fn whole(text: &'static str) -> Line {
        Line::Whole(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        assert_eq!(read(b"a\n\nb").await, [whole("a"), whole(""), whole("b"), Line::End]);
        assert_eq!(read(b"a\n").await, [whole("a"), Line::End]);
        assert_eq!(read(b"").await, [Line::End]);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_skipped_and_its_id_returned() {
        let id = |id: i64| Line::TooLong(Some(RequestId::Number(id)));
        let long = "x".repeat(50);
        let huge = "x".repeat(3 * READ_BYTES);
        for (text, expected) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{long}"}}"#), id(7)),
            (format!(r#"{{"id":7,"method":"{huge}"}}"#), id(7)),
            (format!(r#"{{"method":"{huge}","id":7}}"#), Line::TooLong(None)),
            (huge, Line::TooLong(None)),
        ] {
            let read = read(format!("{text}\nok\n{text}").as_bytes()).await;
            assert_eq!(read, [expected.clone(), whole("ok"), expected, Line::End]);
        }
    }
}
