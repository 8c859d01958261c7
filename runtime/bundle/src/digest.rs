//! SHA-256 digests and the digest tree, which allows checking single pages of a section.
//!
//! The digest of a section of at most one page is the SHA-256 of its bytes. A longer section is cut
//! into pages; the concatenated digests of its pages are the next level, cut into pages in turn,
//! until a level fits one page. The SHA-256 of that level is the section's digest. The section's
//! length is signed with its digest, so a page can never be accepted as a node, or a node as a
//! page.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::Digest as _;

/// Bytes of one page, the smallest unit that is hashed when a section is read.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Bytes of one digest.
pub(crate) const DIGEST_BYTES: usize = 32;
/// Sections and the levels of their trees begin at multiples of this.
pub(crate) const ALIGN: usize = 64;

/// A SHA-256 digest. It displays as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; DIGEST_BYTES]);

impl Digest {
    /// Returns the digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Returns the digest of concatenated `parts`.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = sha2::Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Returns the 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        base16ct::lower::encode_string(&self.0)
    }

    /// Returns the 64 hexadecimal digits, in a buffer of the caller.
    #[must_use]
    pub fn hex_in<'b>(&self, buffer: &'b mut [u8; 2 * DIGEST_BYTES]) -> &'b str {
        // The buffer has the length of the digits.
        base16ct::lower::encode_str(&self.0, buffer).unwrap_or_default()
    }

    /// Reads `sha256:` and 64 hexadecimal digits in lower case; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_hex(text.strip_prefix("sha256:")?)
    }

    /// Reads 64 hexadecimal digits in lower case; `None` for anything else.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        let mut bytes = [0; DIGEST_BYTES];
        let read = base16ct::lower::decode(hex, &mut bytes).ok()?.len();
        (read == DIGEST_BYTES).then_some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        f.write_str(self.hex_in(&mut [0; 2 * DIGEST_BYTES]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Rounds up to the next multiple of [`ALIGN`]; `None` on overflow.
pub(crate) fn align(offset: usize) -> Option<usize> {
    offset.checked_next_multiple_of(ALIGN)
}

/// The lengths of a section's levels: its data first, then each level of its tree.
pub(crate) fn level_lengths(length: usize) -> Vec<usize> {
    let mut lengths = vec![length];
    let mut last = length;
    while last > PAGE_BYTES {
        last = last.div_ceil(PAGE_BYTES) * DIGEST_BYTES;
        lengths.push(last);
    }
    lengths
}

/// Returns the padded length of a section of `length` bytes with its tree; `None` on overflow.
pub(crate) fn stored_length(length: usize) -> Option<usize> {
    let mut total = 0usize;
    for level in level_lengths(length) {
        total = align(total.checked_add(level)?)?;
    }
    Some(total)
}

/// Appends the tree of the section `data` to `out`, which must be aligned and end with the padded
/// data; returns the section's digest.
pub(crate) fn write_tree(data: &[u8], out: &mut Vec<u8>) -> Digest {
    if data.len() <= PAGE_BYTES {
        return Digest::of(data);
    }
    let level: Vec<u8> = data.chunks(PAGE_BYTES).flat_map(|page| Digest::of(page).0).collect();
    out.extend_from_slice(&level);
    out.resize(out.len().next_multiple_of(ALIGN), 0);
    // A level is 128 times shorter than the one below: four calls cover the largest bundle.
    write_tree(&level, out)
}

/// The state of checking one section: the pages of each level that are known to be good.
pub(crate) struct Tree {
    root: Digest,
    /// Level 0 is the data; each further level holds the digests of the previous one.
    levels: Vec<Level>,
}

struct Level {
    offset: usize,
    length: usize,
    /// One bit a page. A page is marked only after its digest was compared.
    good: Box<[AtomicU64]>,
}

impl Level {
    /// Returns whether the pages from `first` to `last` are known to be good, 64 at a time: for most reads
    /// of a whole section they are.
    fn is_good(&self, first: usize, last: usize) -> bool {
        let has = |number: usize, wanted: u64| {
            let word = self.good.get(number);
            word.is_some_and(|word| word.load(Ordering::Acquire) & wanted == wanted)
        };
        // Most reads are of a few bytes.
        if first == last {
            return has(first / 64, 1 << (first % 64));
        }
        (first / 64..=last / 64).all(|number| {
            let from = if number == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
            let to = if number == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
            has(number, from & to)
        })
    }
}

impl Tree {
    /// Describes the section whose data begins at `offset`. The caller has checked that the whole
    /// section, tree included, lies inside the file.
    pub(crate) fn new(root: Digest, offset: usize, length: usize) -> Self {
        let mut at = offset;
        let mut levels = Vec::new();
        for length in level_lengths(length) {
            let words = length.div_ceil(PAGE_BYTES).div_ceil(64);
            let good = std::iter::repeat_with(|| AtomicU64::new(0)).take(words).collect();
            levels.push(Level { offset: at, length, good });
            at = at.saturating_add(length).next_multiple_of(ALIGN);
        }
        Self { root, levels }
    }

    /// Returns the length of the section's data.
    pub(crate) fn data_length(&self) -> usize {
        self.levels.first().map_or(0, |level| level.length)
    }

    /// Returns bytes `start..start + length` of the section after checking each page they touch;
    /// `None` if they lie outside it or a page is corrupt.
    pub(crate) fn read<'f>(&self, file: &'f [u8], start: usize, length: usize) -> Option<&'f [u8]> {
        let data = self.levels.first()?;
        let end = start.checked_add(length).filter(|end| *end <= data.length)?;
        if length == 0 {
            return Some(&[]);
        }
        let (first, last) = (start / PAGE_BYTES, (end - 1) / PAGE_BYTES);
        if !data.is_good(first, last) && !(first..=last).all(|page| self.check(file, 0, page)) {
            return None;
        }
        file.get(data.offset + start..data.offset + end)
    }

    /// Returns the section's data, whose pages may be damaged.
    pub(crate) fn unchecked<'f>(&self, file: &'f [u8]) -> &'f [u8] {
        let Some(Level { offset, length, .. }) = self.levels.first() else { return &[] };
        file.get(*offset..*offset + *length).unwrap_or_default()
    }

    /// Returns whether all pages are good. The last one is checked first.
    pub(crate) fn check_all(&self, file: &[u8]) -> bool {
        self.pages().rev().all(|page| self.check(file, 0, page))
    }

    /// Returns whether all pages are good. The first one is checked first.
    pub(crate) fn check_ahead(&self, file: &[u8]) -> bool {
        self.pages().all(|page| self.check(file, 0, page))
    }

    fn pages(&self) -> Range<usize> {
        0..self.data_length().div_ceil(PAGE_BYTES)
    }

    fn check(&self, file: &[u8], level: usize, page: usize) -> bool {
        let Some(this) = self.levels.get(level) else { return false };
        let Some(word) = this.good.get(page / 64) else { return false };
        let bit = 1u64 << (page % 64);
        if word.load(Ordering::Acquire) & bit != 0 {
            return true;
        }
        let start = page * PAGE_BYTES;
        let end = this.length.min(start + PAGE_BYTES);
        let Some(bytes) = file.get(this.offset + start..this.offset + end) else { return false };
        let good = match self.levels.get(level + 1) {
            None => Digest::of(bytes) == self.root,
            Some(parent) => {
                let at = page * DIGEST_BYTES;
                // A page holds a whole number of digests, so this one lies in a single page.
                self.check(file, level + 1, at / PAGE_BYTES)
                    && file.get(parent.offset + at..parent.offset + at + DIGEST_BYTES)
                        == Some(&Digest::of(bytes).0)
            }
        };
        if good {
            word.fetch_or(bit, Ordering::Release);
        }
        good
    }
}
