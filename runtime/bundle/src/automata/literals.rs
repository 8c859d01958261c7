//! The index of literals: the automata that a text could match.
//!
//! Each literal is under one of its grams: three bytes in a row, or two if the literal has no more.
//! A gram leads to a bucket of entries. A text is read once; a gram whose bucket has entries is
//! compared with their literals. Letters are compared in lower case.

use std::collections::BTreeMap;

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The bytes of the longest gram.
const GRAM_BYTES_MAX: usize = 3;
/// The bytes of the shortest literal.
pub(super) const LITERAL_BYTES_MIN: usize = 2;
/// The most buckets, as a power of two.
const BUCKET_BITS_MAX: u32 = 16;

/// A literal of an automaton.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Entry {
    automaton: U32,
    /// The offset of the literal among the bytes of all literals.
    offset: U32,
    length: u8,
    /// The offset of the gram in the literal.
    gram: u8,
}

/// The index during writing, as the table holds it.
#[derive(Default)]
pub(super) struct WrittenIndex {
    /// The start of each bucket in `entries`, and the end of the last one; the number of buckets
    /// is a power of two. Without entries it is empty.
    pub(super) buckets: Vec<U32>,
    pub(super) entries: Vec<Entry>,
    pub(super) texts: Vec<u8>,
    /// The automata without literals.
    pub(super) unfiltered: Vec<U32>,
}

/// The index, in place.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiteralIndex<'b> {
    pub(super) buckets: &'b [U32],
    pub(super) entries: &'b [Entry],
    pub(super) texts: &'b [u8],
    pub(super) unfiltered: &'b [U32],
}

/// A set of automata, by number.
pub(super) struct Marked(Vec<u64>);

impl Marked {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Adds a number; returns whether it is new. Numbers beyond the count are left out.
    pub(super) fn add(&mut self, number: u32) -> bool {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return false };
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Returns the numbers, rising.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0u32..).step_by(64).zip(&self.0).flat_map(|(first, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + bit)
            })
        })
    }
}

impl WrittenIndex {
    /// Makes the index of automata, each with its sets of literals.
    ///
    /// An automaton is listed under the set that the fewest others share. One without a set whose
    /// literals are neither too short nor too long is listed as one without literals.
    pub(super) fn of(automata: &[Vec<Vec<Vec<u8>>>]) -> Self {
        let mut index = Self::default();
        let fits = |set: &&Vec<Vec<u8>>| {
            let lengths = LITERAL_BYTES_MIN..=usize::from(u8::MAX);
            !set.is_empty() && set.iter().all(|literal| lengths.contains(&literal.len()))
        };
        let mut sharers: BTreeMap<&[u8], usize> = BTreeMap::new();
        for literal in automata.iter().flatten().flatten() {
            *sharers.entry(literal).or_default() += 1;
        }
        let cost = |set: &&Vec<Vec<u8>>| {
            let of = |literal: &Vec<u8>| sharers.get(&**literal).unwrap_or(&0) + shortness(literal);
            (set.iter().map(of).max(), set.len())
        };
        let mut filtered = Vec::new();
        for (number, sets) in (0u32..).zip(automata) {
            match sets.iter().filter(fits).min_by_key(cost) {
                Some(literals) => filtered.push((number, literals)),
                None => index.unfiltered.push(number.into()),
            }
        }
        let mut uses: BTreeMap<&[u8], usize> = BTreeMap::new();
        for literal in filtered.iter().flat_map(|(_, literals)| *literals) {
            for gram in literal.windows(gram_bytes(literal)) {
                *uses.entry(gram).or_default() += 1;
            }
        }
        let count = filtered.iter().map(|(_, literals)| literals.len()).sum::<usize>();
        if count == 0 {
            return index;
        }
        let bits = (count * 4).next_power_of_two().ilog2().clamp(4, BUCKET_BITS_MAX);
        let mut placed = Vec::new();
        for (number, literals) in filtered {
            for literal in literals {
                let grams = literal.windows(gram_bytes(literal)).enumerate();
                // The gram that most tells this literal from the others and from usual text.
                let best = grams.min_by_key(|(_, gram)| (uses.get(gram), commonness(gram)));
                let Some((at, gram)) = best else { continue };
                let entry = Entry {
                    automaton: number.into(),
                    offset: crate::writer::number(index.texts.len()),
                    length: u8::try_from(literal.len()).unwrap_or(u8::MAX),
                    gram: u8::try_from(at).unwrap_or(u8::MAX),
                };
                index.texts.extend(literal);
                placed.push((bucket(key(gram), bits), entry));
            }
        }
        placed.sort_by_key(|(bucket, _)| *bucket);
        let starts = (0..=1usize << bits).map(|bucket| placed.partition_point(|it| it.0 < bucket));
        index.buckets = starts.map(crate::writer::number).collect();
        index.entries = placed.into_iter().map(|(_, entry)| entry).collect();
        index
    }
}

impl LiteralIndex<'_> {
    /// Returns the automata that `text` could match.
    pub(super) fn candidates(&self, text: &[u8], count: usize) -> Marked {
        let mut marked = Marked::new(count);
        for number in self.unfiltered {
            marked.add(number.get());
        }
        let Some(bits) = self.buckets.len().checked_sub(1).and_then(usize::checked_ilog2) else {
            return marked;
        };
        let [first, second, rest @ ..] = text else { return marked };
        let letter = |byte: &u8| u32::from(byte.to_ascii_lowercase());
        // Nearly all buckets of a text are empty.
        let mut look = |gram, at| {
            let entries = self.bucket(bucket(gram, bits));
            if !entries.is_empty() {
                self.mark(entries, at, text, &mut marked);
            }
        };
        let mut gram = letter(first) << 8 | letter(second) << 16;
        for (at, byte) in rest.iter().enumerate() {
            gram = gram >> 8 | letter(byte) << 16;
            look(gram, at);
            look(gram & 0xffff, at);
        }
        look(gram >> 8, rest.len());
        marked
    }

    /// Adds the automata of a bucket with a literal whose gram is here.
    #[inline(never)]
    fn mark(&self, entries: &[Entry], at: usize, text: &[u8], marked: &mut Marked) {
        for entry in entries {
            let number = entry.automaton.get();
            if !marked.has(number) && self.literal_is_at(entry, at, text) {
                marked.add(number);
            }
        }
    }

    fn literal_is_at(&self, entry: &Entry, at: usize, text: &[u8]) -> bool {
        let found = at.checked_sub(usize::from(entry.gram));
        let found = found.and_then(|at| text.get(at..at + usize::from(entry.length)));
        let literal = self.literal(entry);
        found.zip(literal).is_some_and(|(found, literal)| found.eq_ignore_ascii_case(literal))
    }

    #[inline]
    fn bucket(&self, number: usize) -> &[Entry] {
        let Some([start, end]) = self.buckets.get(number..number + 2) else { return &[] };
        if start == end {
            return &[];
        }
        self.entries.get(start.get() as usize..end.get() as usize).unwrap_or_default()
    }

    fn literal(&self, entry: &Entry) -> Option<&[u8]> {
        let start = entry.offset.get() as usize;
        self.texts.get(start..start.checked_add(usize::from(entry.length))?)
    }

    /// Returns the name of an invalid part.
    ///
    /// A literal in another bucket, or with a capital letter, would never be found, and an
    /// automaton without any entry would never run.
    pub(super) fn fault(&self, count: usize) -> Option<&'static str> {
        let buckets = self.buckets.len().saturating_sub(1);
        let bits = buckets.checked_ilog2().unwrap_or_default();
        let is_empty = self.buckets.is_empty();
        if !is_empty && (!buckets.is_power_of_two() || !(1..=BUCKET_BITS_MAX).contains(&bits)) {
            return Some("number of buckets");
        }
        let starts = self.buckets.iter().map(|start| start.get() as usize);
        let (first, last) = (starts.clone().next(), starts.clone().next_back());
        if !starts.is_sorted()
            || first.unwrap_or_default() != 0
            || last.unwrap_or_default() != self.entries.len()
        {
            return Some("bucket");
        }
        let mut covered = Marked::new(count);
        for number in 0..buckets {
            for entry in self.bucket(number) {
                let grams = self.literal(entry).filter(|literal| {
                    literal.len() >= LITERAL_BYTES_MIN
                        && !literal.iter().any(u8::is_ascii_uppercase)
                });
                let gram = grams.and_then(|literal| {
                    literal.windows(gram_bytes(literal)).nth(usize::from(entry.gram))
                });
                if gram.is_none_or(|gram| bucket(key(gram), bits) != number) {
                    return Some("literal");
                }
                covered.add(entry.automaton.get());
            }
        }
        if self.entries.iter().any(|entry| entry.automaton.get() as usize >= count) {
            return Some("automaton of a literal");
        }
        let is_new = |number: &U32| (number.get() as usize) < count && covered.add(number.get());
        if !self.unfiltered.iter().all(is_new) || covered.iter().count() != count {
            return Some("automaton without a literal");
        }
        None
    }
}

fn gram_bytes(literal: &[u8]) -> usize {
    literal.len().clamp(1, GRAM_BYTES_MAX)
}

/// Returns a gram as a number.
fn key(gram: &[u8]) -> u32 {
    gram.iter().rev().fold(0, |key, byte| key << 8 | u32::from(*byte))
        // Two bytes are the lower ones, as in a text.
        & 0x00ff_ffff
}

/// Returns the bucket of a gram. The multiplication is part of the format.
fn bucket(key: u32, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize
}

/// Returns in how many of a thousand texts a literal may be by chance, as a rough guess.
fn shortness(literal: &[u8]) -> usize {
    match literal.iter().filter(|byte| !byte.is_ascii_whitespace()).count() {
        0 => 1_000,
        1 => 300,
        2 => 60,
        3 => 10,
        _ => 0,
    }
}

/// Returns how usual the bytes of a gram are in commands.
fn commonness(gram: &[u8]) -> usize {
    let weigh = |byte: &u8| match byte {
        b' ' | b'\t' | b'\n' => 4,
        b'a' | b'e' | b'i' | b'l' | b'n' | b'o' | b'r' | b's' | b't' | b'/' | b'-' => 2,
        _ => 1,
    };
    gram.iter().map(weigh).sum()
}
