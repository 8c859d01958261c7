//! Bytes of a markdown file -> text that knows its place in the file.

use std::ops::Range;

use memchr::memchr;
use miette::Diagnostic;
use relay_bundle::SharedText;
use thiserror::Error;

use super::report::Reporter;
use crate::source::{FileId, SourceFile, Span};

/// The most bytes of a markdown file.
pub(crate) const FILE_BYTES_MAX: usize = 100_000;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The text of a markdown file.
pub(in crate::parse) struct Text {
    file: FileId,
    /// The text after the byte order mark, line ends as they are in the file.
    pub(in crate::parse) text: SharedText,
    /// Bytes of the file before the text.
    skipped: usize,
    /// Whether each byte of the file is one character.
    latin1: bool,
}

impl Text {
    /// Decodes a file. `None`: it is too large, or not UTF-8 and not to be repaired.
    pub(in crate::parse) fn decode(
        file: FileId,
        source: &SourceFile,
        reporter: &mut Reporter<'_>,
    ) -> Option<Self> {
        let bytes = source.bytes();
        if bytes.len() > FILE_BYTES_MAX {
            let at = file.span(FILE_BYTES_MAX, FILE_BYTES_MAX);
            reporter.refuse(at, TooLarge { bytes: bytes.len(), limit: FILE_BYTES_MAX, at });
            return None;
        }
        let rest = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let skipped = bytes.len() - rest.len();
        let first = match source.text() {
            Ok(text) => {
                let text = with_line_ends(text.part(skipped..text.len()));
                return Some(Self { file, text, skipped, latin1: false });
            }
            Err(first) => first,
        };
        let at = file.span(first, first + 1);
        let byte = bytes.get(first).copied().unwrap_or_default();
        reporter.repair(at, NotUtf8 { byte, at });
        let text = rest.iter().copied().map(char::from).collect::<String>();
        let text = with_line_ends(text.into());
        (!reporter.refused()).then_some(Self { file, text, skipped, latin1: true })
    }

    /// Returns the span in the file of a range of the text.
    pub(in crate::parse) fn span(&self, range: &Range<usize>) -> Span {
        self.file.span(self.offset(range.start), self.offset(range.end))
    }

    /// Returns the range of the character at an offset; an empty one at the end of a line.
    pub(super) fn character(&self, offset: usize) -> Range<usize> {
        let rest = self.text.get(offset..).unwrap_or_default();
        let character = rest.chars().next().filter(|character| !"\r\n".contains(*character));
        offset..offset + character.map_or(0, char::len_utf8)
    }

    /// Returns the offset in the file of a byte of the text.
    pub(in crate::parse) fn offset(&self, offset: usize) -> usize {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let bytes = if self.latin1 { before.chars().count() } else { before.len() };
        self.skipped + bytes
    }
}

/// Returns a text in which each CR that ends a line is an LF. A CR before an LF stays, so that
/// offsets are those of the file.
fn with_line_ends(text: SharedText) -> SharedText {
    // Searching for one byte is many times faster, and it is absent from nearly every file.
    if memchr(b'\r', text.as_bytes()).is_none() {
        return text;
    }
    let mut characters = text.chars().peekable();
    let ends = std::iter::from_fn(|| {
        let character = characters.next()?;
        let is_alone = character == '\r' && characters.peek() != Some(&'\n');
        Some(if is_alone { '\n' } else { character })
    });
    ends.collect::<String>().into()
}

/// The text of a prompt must fit the context of a model. A file of this size is rarely meant as a
/// prompt.
#[derive(Debug, Error, Diagnostic)]
#[error("the file has {bytes} bytes, over the limit of {limit}")]
#[diagnostic(code(markdown::too_large), help("shorten it, or split it into several prompts"))]
struct TooLarge {
    bytes: usize,
    limit: usize,
    #[label(primary, "the limit is here")]
    at: Span,
}

/// Agents read text in UTF-8. Invalid bytes would reach them as other characters.
#[derive(Debug, Error, Diagnostic)]
#[error("the file is not UTF-8: byte 0x{byte:02X} is not part of any character")]
#[diagnostic(code(markdown::not_utf8), help("save the file as UTF-8"))]
struct NotUtf8 {
    byte: u8,
    #[label(primary, "the first such byte")]
    at: Span,
}
