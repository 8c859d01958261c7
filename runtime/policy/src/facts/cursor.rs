//! Bytes of a table, read in order. A number has one to five bytes: seven bits a byte, the lowest
//! first. The high bit says that another byte follows.

use thiserror::Error;

/// The table was altered or cut, or written by another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the table of facts is damaged: {0}")]
pub struct Damaged(pub &'static str);

/// Reads bytes from a slice. Past the end everything is 0 and empty, and `is_short` is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    is_short: bool,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, is_short: false }
    }

    /// Returns the current offset.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Returns whether all is read.
    pub(super) const fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Returns a cursor over a part of the same bytes.
    pub(super) fn within(&self, start: u32, end: u32) -> Self {
        Self::new(self.bytes.get(..end as usize).unwrap_or(&[]), start as usize)
    }

    /// Returns a cursor over the same bytes at another place.
    pub(super) const fn moved_to(&self, at: usize) -> Self {
        Self::new(self.bytes, at)
    }

    /// Returns whether a read went past the end.
    pub(super) const fn is_short(&self) -> bool {
        self.is_short
    }

    /// Marks the bytes as invalid.
    pub(super) const fn fail(&mut self) {
        self.is_short = true;
    }

    #[inline]
    pub(super) fn byte(&mut self) -> u8 {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                *byte
            }
            None => {
                self.is_short = true;
                0
            }
        }
    }

    #[inline]
    pub(super) fn number(&mut self) -> u32 {
        let first = self.byte();
        if first < 0x80 {
            return u32::from(first);
        }
        let mut number = u32::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte();
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
        }
        self.fail();
        0
    }

    /// Reads a number that must fit 16 bits.
    #[inline]
    pub(super) fn short(&mut self) -> u16 {
        u16::try_from(self.number()).unwrap_or_else(|_| {
            self.fail();
            0
        })
    }

    #[inline]
    pub(super) fn take(&mut self, length: usize) -> &'a [u8] {
        let end = self.at.saturating_add(length);
        match self.bytes.get(self.at..end) {
            Some(taken) => {
                self.at = end;
                taken
            }
            None => {
                self.is_short = true;
                self.at = self.bytes.len();
                &[]
            }
        }
    }
}

/// Writes a number.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u32) {
    while let Some(low) = u8::try_from(number & 0x7f).ok().filter(|_| number >= 0x80) {
        out.push(low | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(u8::MAX));
}
