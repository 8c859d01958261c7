//! Regexes as trees over bytes.

use std::ops::Range;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ByteSet([u64; 4]);

/// A condition on the place between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// `^` and `\A`.
    Start,
    /// `^` after `(?m)`.
    StartLine,
    /// `\Z`.
    End,
    /// `$`: the end, or before a newline that ends the text.
    FinalEnd,
    /// `$` after `(?m)`.
    EndLine,
    /// `\b`.
    Word,
    /// `\B`.
    NotWord,
    /// `\b{start}`.
    WordStart,
    /// `\b{end}`.
    WordEnd,
    /// `\b{start-half}`: no word byte before.
    WordStartHalf,
    /// `\b{end-half}`: no word byte after.
    WordEndHalf,
}

/// A part of a regex, with its place in the pattern.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range<usize>,
    pub(super) form: Form,
}

/// The form of a part.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// One byte of a set.
    Set(ByteSet),
    Look(Look),
    /// Parts that follow each other; without parts, the empty text.
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

impl ByteSet {
    pub(super) const ALL: Self = Self([u64::MAX; 4]);
    pub(super) const NEWLINE: Self = Self::of_range(b'\n', b'\n');

    /// `\d`.
    pub(super) const DIGITS: Self = Self::of_range(b'0', b'9');
    /// `\s`.
    pub(super) const SPACES: Self = Self::of_range(b'\t', b'\r').or(Self::of_range(b' ', b' '));
    /// `\w`.
    pub(super) const WORD: Self = Self::DIGITS
        .or(Self::of_range(b'A', b'Z'))
        .or(Self::of_range(b'a', b'z'))
        .or(Self::of_range(b'_', b'_'));

    /// Returns the bytes from `first` to `last`.
    pub(super) const fn of_range(first: u8, last: u8) -> Self {
        // Bits `first..=last` of 256, as two halves.
        let low = Self::half(first as u32, last as u32, 0);
        let high = Self::half(first as u32, last as u32, 128);
        Self([low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64])
    }

    /// Returns the bits of a range in the half that begins at `base`.
    const fn half(first: u32, last: u32, base: u32) -> u128 {
        if last < base || first >= base + 128 {
            return 0;
        }
        let first = first.saturating_sub(base);
        let last = if last - base < 127 { last - base } else { 127 };
        (u128::MAX >> (127 - (last - first))) << first
    }

    pub(super) const fn or(self, other: Self) -> Self {
        let (Self([a, b, c, d]), Self([e, f, g, h])) = (self, other);
        Self([a | e, b | f, c | g, d | h])
    }

    pub(super) const fn and(self, other: Self) -> Self {
        let (Self([a, b, c, d]), Self([e, f, g, h])) = (self, other);
        Self([a & e, b & f, c & g, d & h])
    }

    pub(super) const fn not(self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([!a, !b, !c, !d])
    }

    pub(super) fn has(self, byte: u8) -> bool {
        let word = self.0.get(usize::from(byte / 64)).copied().unwrap_or_default();
        word >> (byte % 64) & 1 == 1
    }

    /// Returns its bytes, rising.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        let Self(words) = self;
        [0, 64, 128, 192].into_iter().zip(words).flat_map(|(base, word)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let bits = rest.take_while(|word| *word != 0).map(u64::trailing_zeros);
            bits.map(move |bit| base + bit as u8)
        })
    }

    /// Returns the lowest of its bytes; `None` if it has none.
    pub(super) fn first(self) -> Option<u8> {
        self.iter().next()
    }

    /// Adds the other case of each ASCII letter.
    pub(super) fn with_both_cases(self) -> Self {
        let letters = self.iter().filter(u8::is_ascii_alphabetic);
        letters.fold(self, |set, letter| {
            let other = letter ^ 0x20;
            set.or(Self::of_range(other, other))
        })
    }
}

impl Node {
    pub(super) fn new(at: Range<usize>, form: Form) -> Self {
        Self { at, form }
    }

    /// Returns the parts of this one.
    pub(super) fn parts(&self) -> &[Node] {
        match &self.form {
            Form::Set(_) | Form::Look(_) => &[],
            Form::Concat(nodes) | Form::Alternate(nodes) => nodes,
            Form::Repeat { node, .. } => std::slice::from_ref(node),
        }
    }

    pub(super) fn parts_mut(&mut self) -> &mut [Node] {
        match &mut self.form {
            Form::Set(_) | Form::Look(_) => &mut [],
            Form::Concat(nodes) | Form::Alternate(nodes) => nodes,
            Form::Repeat { node, .. } => std::slice::from_mut(node),
        }
    }
}
