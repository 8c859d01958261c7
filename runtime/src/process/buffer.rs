//! The output of a session that waits to be received: the newest bytes, and how many were lost.

use std::collections::VecDeque;

/// The most bytes that wait for a call.
const BYTES_MAX: usize = 256 << 10;

/// The bytes that wait.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: VecDeque<u8>,
    produced: u64,
    dropped: u64,
}

/// The numbers of a session's output, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) buffered: usize,
    pub(crate) produced: u64,
    pub(crate) dropped: u64,
}

impl Buffer {
    /// Adds output; the oldest makes room for it.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.produced += bytes.len() as u64;
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(BYTES_MAX);
        self.bytes.drain(..over);
        self.dropped += over as u64;
    }

    /// Counts bytes of output that were dropped before they came here.
    #[cfg(feature = "ssh")]
    pub(super) fn count_dropped(&mut self, bytes: u64) {
        self.produced += bytes;
        self.dropped += bytes;
    }

    /// Takes at most `bytes_max` bytes as a text. A character whose end is missing waits for it,
    /// unless the output is complete.
    pub(super) fn take(&mut self, bytes_max: usize, is_complete: bool) -> String {
        let whole = self.bytes.make_contiguous();
        let limit = whole.len().min(bytes_max.max(4));
        let mut end = limit;
        if limit < whole.len() || !is_complete {
            end = whole_characters(whole.get(..limit).unwrap_or(whole));
        }
        let taken: Vec<u8> = self.bytes.drain(..end).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }

    pub(super) fn counts(&self) -> Counts {
        let Self { bytes, produced, dropped } = self;
        Counts { buffered: bytes.len(), produced: *produced, dropped: *dropped }
    }
}

/// Returns the length of bytes without a character at their end whose own end is missing.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(4);
    let Some(begin) = bytes.iter().skip(tail).rposition(|byte| byte & 0xc0 != 0x80) else {
        return bytes.len();
    };
    let begin = tail + begin;
    let length = match bytes.get(begin) {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    if begin + length > bytes.len() { begin } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_split() {
        let text = "a€🦀é".repeat(50);
        for bytes_max in 4..20 {
            for step in 1..7 {
                let (mut buffer, mut received) = (Buffer::default(), String::new());
                for part in text.as_bytes().chunks(step) {
                    buffer.add(part);
                    received.push_str(&buffer.take(bytes_max, false));
                }
                while buffer.counts().buffered > 0 {
                    received.push_str(&buffer.take(bytes_max, true));
                }
                assert_eq!(received, text, "{bytes_max} {step}");
            }
        }
    }

    #[test]
    fn an_incomplete_end_is_given_at_the_end() {
        let mut buffer = Buffer::default();
        buffer.add(b"a\xe2\x82");
        assert_eq!(buffer.take(100, false), "a");
        assert_eq!(buffer.take(100, false), "");
        assert_eq!(buffer.take(100, true), "\u{fffd}");
        buffer.add(&[0xff; 3]);
        assert_eq!(buffer.take(100, false), "\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn the_newest_output_is_kept_and_the_rest_counted() {
        let mut buffer = Buffer::default();
        for _ in 0..3 {
            buffer.add(&vec![b'x'; BYTES_MAX / 2]);
        }
        buffer.add(b"end");
        let expected = BYTES_MAX as u64 / 2 + 3;
        let counts = buffer.counts();
        assert_eq!((counts.buffered, counts.dropped), (BYTES_MAX, expected));
        assert_eq!(counts.produced, BYTES_MAX as u64 + expected);
        assert!(buffer.take(usize::MAX, true).ends_with("xend"));
    }
}
