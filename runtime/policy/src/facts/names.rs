//! Every name of the facts, once and sorted, so that names with a common beginning have consecutive
//! numbers.
//!
//! The number of a name of a dash and one letter is computed from the letter; such a name is not
//! stored. The other names form blocks. A separate list for searches holds the first bytes of the
//! first name of each block. Each further name gives the number of bytes that it shares with the
//! name before it. Numbers follow the order of the names, so references are small numbers that
//! compare like names, and a shortened option is a range of numbers.
//!
//! ```text
//! block    length of the rest of its first name, that rest, a head for each other name, a body for each
//! head     bytes shared with the name before << 4 | bytes of the rest; 15 for more
//! body     shared bytes beyond 15, length of the rest beyond 15, the rest
//! ```
//!
//! The heads are adjacent, since a search reads most heads and few bodies.
//!
//! The names themselves decide where a block begins, and there are gaps between the numbers of
//! blocks. The first name of a section takes the next round number, so a new name changes numbers
//! of its section and rarely others.
//!
//! Names that are added to those of a table form blocks after them, sorted anew, with higher numbers: the
//! numbers in rows stay. Each name has one number.

use std::ops::Range;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::cursor::{Cursor, Damaged};

/// The number of a name.
pub(crate) type NameId = u16;

/// The offset of the numbers of names such as `-x`.
pub(super) const LETTERS: NameId = 0xff00;
/// The numbers of the names of a block.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct BlockIds {
    /// The number of its first name.
    pub(super) first: U16,
    /// The number of names.
    pub(super) count: u8,
}

/// The largest number in half a byte; it means that the rest of the number follows.
pub(super) const LARGE: u8 = 15;

/// The names of a table, which [`Self::checked`] checks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Names<'a> {
    /// The numbers of each block, rising.
    pub(super) ids: &'a [BlockIds],
    /// The first bytes of the first name of each block, as a number with the same order.
    pub(super) starts: &'a [U64],
    /// The offset of each block.
    pub(super) offsets: &'a [U32],
    pub(super) bytes: &'a [u8],
    /// The number of blocks before those of added names.
    pub(super) base: usize,
}

impl<'a> Names<'a> {
    /// Checks that they can be searched.
    pub(super) fn checked(self) -> Result<Self, Damaged> {
        self.checked_from(0)
    }

    /// Does the same for those of a block and the blocks after it; the others were checked before.
    pub(super) fn checked_from(self, from: usize) -> Result<Self, Damaged> {
        let names = self;
        let Self { ids, starts, offsets, bytes, base } = names;
        if starts.len() != ids.len() || offsets.len() != ids.len() || base > ids.len() {
            return Err(Damaged("the number of its names is wrong"));
        }
        let mut next = 0;
        for block in ids {
            let first = usize::from(block.first.get());
            let count = usize::from(block.count);
            if first < next || count == 0 || first + count > usize::from(LETTERS) {
                return Err(Damaged("the numbers of its names are wrong"));
            }
            next = first + count;
        }
        let (mut before, mut name) = (Vec::new(), Vec::new());
        let mut is_first = true;
        let mut end = if from == 0 { 0 } else { names.offset(from).unwrap_or(bytes.len()) };
        for block in from..offsets.len() {
            if names.offset(block) != Some(end) {
                return Err(Damaged("a block of names is out of place"));
            }
            let (first, Others { heads, bodies: mut at }) = names.block(block);
            let mut heads = heads.iter();
            name.clear();
            first.append_to(&mut name);
            is_first |= block == base;
            if starts.get(block).map(|start| start.get()) != Some(key(&name)) {
                return Err(Damaged("a block of names cannot be found"));
            }
            loop {
                let is_sorted = is_first || before < name;
                if !is_sorted || str::from_utf8(&name).is_err() {
                    return Err(Damaged("a name is out of order or no text"));
                }
                if block >= base && names.rank(&name, names.base_blocks()).1 {
                    return Err(Damaged("a name has two numbers"));
                }
                before.clone_from(&name);
                is_first = false;
                let Some(head) = heads.next() else { break };
                let (shared, length);
                (shared, length, at) = lengths(*head, bytes, at);
                let rest = bytes.get(at..at.saturating_add(length));
                let Some(rest) = rest.filter(|_| shared <= name.len()) else {
                    return Err(Damaged("a name is cut"));
                };
                name.truncate(shared);
                name.extend_from_slice(rest);
                at += length;
            }
            end = at;
        }
        if end != bytes.len() {
            return Err(Damaged("its names do not end where they should"));
        }
        Ok(names)
    }

    /// Returns the first name of a block, and the others.
    fn block(&self, block: usize) -> (First<'a>, Others<'a>) {
        let mut cursor = Cursor::new(self.bytes, self.offset(block).unwrap_or(self.bytes.len()));
        let start = self.starts.get(block).map_or(0, |start| start.get());
        let length = cursor.number() as usize;
        let first = First { start, rest: cursor.take(length) };
        let heads = cursor.take(self.block_len(block).saturating_sub(1));
        (first, Others { heads, bodies: cursor.at() })
    }

    fn offset(&self, block: usize) -> Option<usize> {
        self.offsets.get(block).map(|offset| offset.get() as usize)
    }

    fn block_len(&self, block: usize) -> usize {
        self.ids.get(block).map_or(0, |ids| usize::from(ids.count))
    }

    /// Returns the number of a name in a block, or the number after its last name.
    fn id(&self, block: usize, at: usize) -> NameId {
        let first = self.ids.get(block).map_or(LETTERS, |ids| ids.first.get());
        first.saturating_add(NameId::try_from(at).unwrap_or(NameId::MAX)).min(LETTERS)
    }

    /// Returns the block and the position of a number.
    fn place(&self, id: NameId) -> Option<(usize, usize)> {
        let block = self.ids.partition_point(|ids| ids.first.get() <= id).checked_sub(1)?;
        let at = usize::from(id - self.ids.get(block)?.first.get());
        (at < self.block_len(block)).then_some((block, at))
    }

    const fn base_blocks(&self) -> Range<usize> {
        0..self.base
    }

    const fn added_blocks(&self) -> Range<usize> {
        self.base..self.ids.len()
    }

    /// Returns a number above those of all names of these blocks that are below `name`, and at most those of the
    /// others, and whether it is the number of `name` itself.
    fn rank(&self, name: &[u8], blocks: Range<usize>) -> (NameId, bool) {
        let sought = key(name);
        let starts = self.starts.get(blocks.clone()).unwrap_or(&[]);
        let mut after = starts.partition_point(|start| start.get() < sought);
        // The names themselves decide between blocks with the same first bytes.
        while starts.get(after).is_some_and(|start| start.get() == sought) {
            let (first, _) = self.block(blocks.start + after);
            if first.rest > name.get(KEY..).unwrap_or(&[]) {
                break;
            }
            after += 1;
        }
        let Some(before) = after.checked_sub(1) else { return (self.id(blocks.start, 0), false) };
        let block = blocks.start + before;
        let (first, Others { heads, bodies: mut at }) = self.block(block);
        // The bytes shared with the last name that was read, which is below `name`.
        let mut matched = first.common(name, sought);
        if matched == name.len() {
            return (self.id(block, 0), matched == first.len());
        }
        for (before, head) in heads.iter().enumerate() {
            let (shared, length);
            (shared, length, at) = lengths(*head, self.bytes, at);
            let rest_at = at;
            at = at.saturating_add(length);
            // Most names are skipped by their lengths or one byte.
            if shared > matched {
                continue;
            }
            let (byte, sought) = (self.bytes.get(rest_at), name.get(matched));
            if shared < matched || byte > sought {
                return (self.id(block, before + 1), false);
            }
            if byte < sought {
                continue;
            }
            let rest = self.bytes.get(rest_at..at).unwrap_or(&[]);
            let sought = name.get(shared..).unwrap_or(&[]);
            let same = common(rest, sought);
            match (rest.get(same), sought.get(same)) {
                (None, None) => return (self.id(block, before + 1), true),
                (None, Some(_)) => {}
                (Some(left), Some(right)) if left < right => {}
                (Some(_), _) => return (self.id(block, before + 1), false),
            }
            matched = shared + same;
        }
        (self.id(block, self.block_len(block)), false)
    }

    /// Returns the number of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<NameId> {
        if let Some(id) = letter(name) {
            return Some(id);
        }
        match self.rank(name, self.base_blocks()) {
            (id, true) => Some(id),
            _ if self.added_blocks().is_empty() => None,
            _ => self.find_added(name),
        }
    }

    /// Does the same among added names, which most tables lack.
    #[cold]
    fn find_added(&self, name: &[u8]) -> Option<NameId> {
        match self.rank(name, self.added_blocks()) {
            (id, true) => Some(id),
            _ => None,
        }
    }

    /// Returns the ranges of the names that begin with `start`.
    pub(super) fn from(&self, start: &[u8]) -> [Range<NameId>; 2] {
        // This byte is invalid in UTF-8 names.
        let mut end = start.to_vec();
        end.push(0xff);
        [self.base_blocks(), self.added_blocks()]
            .map(|blocks| self.rank(start, blocks.clone()).0..self.rank(&end, blocks).0)
    }

    /// Returns a name.
    pub(super) fn name(&self, id: NameId) -> String {
        if let Some(letter) = letter_of(id) {
            return format!("-{}", char::from(letter));
        }
        let Some((block, last)) = self.place(id) else { return String::new() };
        let (first, Others { heads, bodies: mut at }) = self.block(block);
        let mut length_of_last = first.len();
        // The length of each name before its rest, and the offset of the rest.
        let read = |head: &u8| {
            let (shared, length);
            (shared, length, at) = lengths(*head, self.bytes, at);
            let rest = at;
            at = at.saturating_add(length);
            length_of_last = shared + length;
            (shared, rest)
        };
        let rests: Vec<(usize, usize)> = heads.iter().take(last).map(read).collect();
        let mut name = vec![0; length_of_last];
        let mut put = |start: usize, bytes: &[u8]| {
            let slots = name.iter_mut().skip(start);
            slots.zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        };
        // From the end: a name that shares at least as much as a later one contributes nothing.
        let mut missing = length_of_last;
        for (shared, rest) in rests.into_iter().rev() {
            if shared < missing {
                put(shared, self.bytes.get(rest..rest + (missing - shared)).unwrap_or(&[]));
                missing = shared;
            }
        }
        let start = first.start.to_be_bytes();
        let start = start.get(..first.start_len().min(missing)).unwrap_or(&[]);
        put(0, start);
        put(start.len(), first.rest.get(..missing - start.len()).unwrap_or(&[]));
        String::from_utf8(name).unwrap_or_default()
    }

    /// Gives `take` each stored name with its number, in their order.
    pub(super) fn each(&self, mut take: impl FnMut(NameId, &[u8])) {
        let mut name = Vec::new();
        for block in 0..self.ids.len() {
            let (first, Others { heads, bodies: mut at }) = self.block(block);
            name.clear();
            first.append_to(&mut name);
            take(self.id(block, 0), &name);
            for (before, head) in heads.iter().enumerate() {
                let (shared, length);
                (shared, length, at) = lengths(*head, self.bytes, at);
                let end = at.saturating_add(length);
                name.truncate(shared);
                name.extend_from_slice(self.bytes.get(at..end).unwrap_or(&[]));
                at = end;
                take(self.id(block, before + 1), &name);
            }
        }
    }

    /// Returns whether a name with a `*` at one end may match a word, judged by the beginnings of
    /// the names around it. A search asks this first, since the name itself must be assembled from
    /// others.
    pub(super) fn may_match(&self, id: NameId, word: &[u8]) -> bool {
        let Some((block, _)) = self.place(id) else { return true };
        let start = |block: usize| self.starts.get(block).map(|start| start.get());
        if block + 1 == self.base {
            return true;
        }
        let (Some(first), Some(after)) = (start(block), start(block + 1)) else { return true };
        // All names of a block share the common beginning of its first name and of the first name
        // of the next block.
        let shared = ((first ^ after).leading_zeros() as usize / 8).min(KEY);
        let begin = first.to_be_bytes();
        let begin = begin.get(..shared).unwrap_or(&[]).split(|byte| *byte == b'*').next();
        begin.is_none_or(|begin| word.starts_with(begin))
    }

    /// Returns for each number whether a name has it.
    pub(super) fn in_use(&self) -> Vec<bool> {
        let mut used = vec![false; usize::from(NameId::MAX) + 1];
        for ids in self.ids {
            let first = usize::from(ids.first.get());
            used.iter_mut().skip(first).take(usize::from(ids.count)).for_each(|used| *used = true);
        }
        for (id, used) in (LETTERS..=NameId::MAX).zip(used.iter_mut().skip(usize::from(LETTERS))) {
            *used = letter_of(id).is_some();
        }
        used
    }

    /// Returns whether a name has this number.
    pub(super) fn has(&self, id: NameId) -> bool {
        letter_of(id).is_some() || self.place(id).is_some()
    }
}

/// Returns the number of a name of a dash and one letter.
#[inline]
pub(super) fn letter(name: &[u8]) -> Option<NameId> {
    match name {
        [b'-', letter] if letter.is_ascii_graphic() => Some(LETTERS | NameId::from(*letter)),
        _ => None,
    }
}

/// Returns the letter of a name of a dash and one letter.
#[inline]
pub(super) fn letter_of(id: NameId) -> Option<u8> {
    let letter = u8::try_from(id.checked_sub(LETTERS)?).ok()?;
    letter.is_ascii_graphic().then_some(letter)
}

/// Returns the number of the name of a dash and this letter.
pub(super) fn name_of(letter: u8) -> NameId {
    LETTERS | NameId::from(letter)
}

/// The number of bytes of each first name in the list for searches.
pub(super) const KEY: usize = size_of::<u64>();

/// The first name of a block.
#[derive(Debug, Clone, Copy)]
struct First<'a> {
    /// Its first bytes, as returned by `key`.
    start: u64,
    rest: &'a [u8],
}

impl First<'_> {
    /// Returns the number of bytes in the start; zeros fill up a shorter name.
    fn start_len(&self) -> usize {
        KEY - self.start.trailing_zeros() as usize / 8
    }

    fn len(&self) -> usize {
        self.start_len() + self.rest.len()
    }

    /// Returns the number of bytes shared with the beginning of another name, whose key is `key`.
    fn common(&self, name: &[u8], key: u64) -> usize {
        match (self.start ^ key).leading_zeros() as usize / 8 {
            KEY if name.len() > KEY => KEY + common(self.rest, name.get(KEY..).unwrap_or(&[])),
            // Names exclude zeros.
            fewer => fewer.min(name.len()).min(self.start_len()),
        }
    }

    fn append_to(&self, name: &mut Vec<u8>) {
        name.extend_from_slice(self.start.to_be_bytes().get(..self.start_len()).unwrap_or(&[]));
        name.extend_from_slice(self.rest);
    }
}

/// The names of a block after its first.
#[derive(Debug, Clone, Copy)]
struct Others<'a> {
    heads: &'a [u8],
    /// The offset of their bodies.
    bodies: usize,
}

/// Reads the number of bytes shared with the name before, the length of the rest, and its offset;
/// the body begins at `at`.
///
/// The arguments and results are plain numbers: a loop over heads keeps them in registers, and
/// takes most of the time of a search.
#[inline]
fn lengths(head: u8, bytes: &[u8], at: usize) -> (usize, usize, usize) {
    let (shared, length) = (head >> 4, head & LARGE);
    if shared == LARGE || length == LARGE {
        return long_lengths(head, bytes, at);
    }
    (usize::from(shared), usize::from(length), at)
}

/// Does the same as `lengths` for heads whose numbers precede the rest. The offset is past the end
/// if a number is cut off.
#[cold]
fn long_lengths(head: u8, bytes: &[u8], at: usize) -> (usize, usize, usize) {
    let mut cursor = Cursor::new(bytes, at);
    let mut part = |half: u8| match half {
        LARGE => cursor.number() as usize + usize::from(LARGE),
        small => usize::from(small),
    };
    let (shared, length) = (part(head >> 4), part(head & LARGE));
    (shared, length, if cursor.is_short() { usize::MAX } else { cursor.at() })
}

/// Returns the first bytes of a name as a number with the same order: names hold no zero bytes.
pub(super) fn key(name: &[u8]) -> u64 {
    match name.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let zeros = name.len()..KEY;
            let key = name.iter().fold(0, |key, byte| key << 8 | u64::from(*byte));
            zeros.fold(key, |key, _| key << 8)
        }
    }
}

/// Returns the number of bytes that two names share at the beginning.
#[inline]
pub(super) fn common(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::names_builder::NamesBuilder;
    use super::*;

    fn built(names: &BTreeSet<String>) -> Option<NamesBuilder<'_>> {
        NamesBuilder::after(Names::default(), &names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn names<'m>(made: &'m NamesBuilder<'_>, base: usize) -> Names<'m> {
        let NamesBuilder { ids, starts, offsets, bytes, .. } = made;
        Names { ids, starts, offsets, bytes, base }
    }

    /// Names of every length, many with a common beginning.
    fn sample() -> BTreeSet<String> {
        let mut state = 2611u32;
        let mut number = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let mut names = BTreeSet::new();
        for _ in 0..400 {
            let start =
                ["--", "-", "", "--no-", "aws-a-long-name-of-a-service-"][number(5) as usize];
            let letters = (0..number(40)).map(|_| char::from(b'a' + number(3) as u8));
            let name = start.to_owned() + &letters.collect::<String>();
            if !name.is_empty() && letter(name.as_bytes()).is_none() {
                names.insert(name);
            }
        }
        names
    }

    #[test]
    fn a_name_is_found_by_itself_alone() {
        let all = sample();
        let made = built(&all).unwrap();
        let names = names(&made, made.ids.len()).checked().unwrap();
        assert!(made.ids.len() > 5, "{} blocks", made.ids.len());
        let ids: Vec<NameId> = all.iter().map(|name| made.id(name)).collect();
        assert!(ids.is_sorted_by(|left, right| left < right));
        let mut each = Vec::new();
        names.each(|id, name| each.push((id, String::from_utf8(name.to_vec()).unwrap())));
        assert!(each.into_iter().eq(ids.iter().copied().zip(all.iter().cloned())));
        for (name, id) in all.iter().zip(&ids) {
            assert_eq!(names.find(name.as_bytes()), Some(*id), "{name}");
            assert_eq!(names.name(*id), *name);
            assert!(names.has(*id));
            for other in [format!("{name}x"), format!("{name}a"), name.get(1..).unwrap().to_owned()]
            {
                let (rank, is_there) = names.rank(other.as_bytes(), names.base_blocks());
                assert_eq!(is_there, all.contains(&other), "{other}");
                let below = ids.iter().filter(|id| **id < rank).count();
                assert_eq!(below, all.iter().filter(|each| **each < other).count(), "{other}");
            }
            for length in 0..name.len() {
                let start = name.get(..length).unwrap();
                let [range, added] = names.from(start.as_bytes());
                assert!(added.is_empty());
                for (each, id) in all.iter().zip(&ids) {
                    assert_eq!(range.contains(id), each.starts_with(start), "{start}: {each}");
                }
            }
        }
        let letter = names.find(b"-x").unwrap();
        assert_eq!(names.name(letter), "-x");
        assert!(ids.iter().all(|id| *id < letter));
        assert_eq!(names.find(b""), None);
        assert_eq!(names.find(b"zz"), None);
    }

    #[test]
    fn a_new_name_leaves_the_numbers_of_most_others() {
        let all: BTreeSet<String> = (0..20_000).map(|number| format!("--{}", number * 7)).collect();
        let numbers = |names: &BTreeSet<String>| {
            let made = built(names).unwrap();
            all.iter().map(|name| made.id(name)).collect::<Vec<_>>()
        };
        let before = numbers(&all);
        let (mut changed, mut count) = (0, 0);
        for name in all.iter().step_by(400) {
            let mut more = all.clone();
            more.insert(format!("{name}-new"));
            let after = numbers(&more);
            changed += before.iter().zip(&after).filter(|(before, after)| before != after).count();
            count += 1;
        }
        let usual = changed / count;
        assert!(usual < all.len() / 20, "{usual} of {} numbers change", all.len());
    }

    #[test]
    fn very_many_names_have_no_gaps() {
        let names: BTreeSet<String> = (0..60_000).map(|number| format!("--{number}")).collect();
        let made = built(&names).unwrap();
        assert!(self::names(&made, made.ids.len()).checked().is_ok());
        assert_eq!(usize::from(made.id("--9999")), names.len() - 1);
        let more: BTreeSet<String> = (0..65_281).map(|number| format!("--{number}")).collect();
        assert!(built(&more).is_none());
    }

    #[test]
    fn altered_names_are_refused() {
        let all = ["--all", "--almost", "-all", "ls"];
        let made = NamesBuilder::after(Names::default(), &all).unwrap();
        let open = |bytes: &[u8]| Names { bytes, ..names(&made, made.ids.len()) }.checked().is_ok();
        assert!(open(&made.bytes));
        assert!(!open(&made.bytes[..made.bytes.len() - 1]));
        let mut longer = made.bytes.clone();
        longer.push(0);
        assert!(!open(&longer));
        let mut unsorted = made.bytes.clone();
        unsorted.iter_mut().rev().take(2).for_each(|byte| *byte = 1);
        assert!(!open(&unsorted));
        let ids = [BlockIds { first: U16::new(0), count: 3 }];
        assert!(Names { ids: &ids, ..names(&made, ids.len()) }.checked().is_err());
    }

    #[test]
    fn added_names_are_found_and_leave_the_numbers_of_the_others() {
        let all = sample();
        for parts in [2, 3, 7] {
            let (mut first, mut added) = (BTreeSet::new(), BTreeSet::new());
            for (at, name) in all.iter().enumerate() {
                let to = if at % parts == 0 { &mut added } else { &mut first };
                to.insert(name.clone());
            }
            let before = built(&first).unwrap();
            let base = names(&before, before.ids.len());
            // Those that are there are not added again.
            let list: Vec<&str> = all.iter().map(String::as_str).collect();
            let made = NamesBuilder::after(base, &list).unwrap();
            let both = names(&made, before.ids.len()).checked().unwrap();
            for name in &all {
                let id = made.id(name);
                assert_eq!(both.find(name.as_bytes()), Some(id), "{name}");
                assert_eq!(both.name(id), *name);
                assert_eq!(base.find(name.as_bytes()).is_some(), first.contains(name));
                assert_eq!(base.find(name.as_bytes()).unwrap_or(id), id);
                for length in 0..name.len() {
                    let start = name.get(..length).unwrap();
                    let ranges = both.from(start.as_bytes());
                    for each in &all {
                        let is_in = ranges.iter().any(|range| range.contains(&made.id(each)));
                        assert_eq!(is_in, each.starts_with(start), "{start}: {each}");
                    }
                }
                assert!(both.may_match(id, name.as_bytes()));
            }
            assert_eq!(both.find(b"zz"), None);
            let twice = NamesBuilder::after(Names::default(), &list).unwrap();
            let again = |from: usize| Names { base: from, ..names(&twice, from) };
            assert!(again(twice.ids.len()).checked().is_ok());
            assert!(again(twice.ids.len() + 1).checked().is_err());
        }
    }

    #[test]
    fn a_name_with_two_numbers_is_refused() {
        let made = NamesBuilder::after(Names::default(), &["ls", "rm"]).unwrap();
        let ids = [made.ids[0], BlockIds { first: U16::new(8), count: 2 }];
        let offset = U32::new(made.bytes.len() as u32);
        let bytes = [&*made.bytes, &*made.bytes].concat();
        let (starts, offsets) = ([made.starts[0]; 2], [U32::new(0), offset]);
        let both = Names { ids: &ids, starts: &starts, offsets: &offsets, bytes: &bytes, base: 1 };
        assert!(both.checked().is_err());
    }
}
