//! Numbers and texts as bytes: little-endian, each text after its length.

use std::ffi::CString;

/// The bytes are different from every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed message")]
pub(crate) struct Malformed;

/// Takes values off the front of a message.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Takes so many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (front, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (front, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*front)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a text, which is free of NUL.
    pub(crate) fn text(&mut self) -> Result<CString, Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        CString::new(self.bytes(length)?).map_err(|_| Malformed)
    }

    /// Takes so many texts.
    pub(crate) fn texts(&mut self, count: usize) -> Result<Vec<CString>, Malformed> {
        // Memory grows with the bytes that are there, for every claimed number.
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(self.text()?);
        }
        Ok(texts)
    }

    /// Returns an error unless everything was taken.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

/// Puts values at the end of a message.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    /// Puts a text of these parts. Its length fits 32 bits, since a job is bounded.
    pub(crate) fn text(&mut self, parts: &[&[u8]]) -> &mut Self {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
        for part in parts {
            self.raw(part);
        }
        self
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}
