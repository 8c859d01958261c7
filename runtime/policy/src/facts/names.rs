//! Every name of the facts, once: sorted, so that names that begin alike have numbers that follow each other.
//!
//! A name of a dash and one letter is that letter's number, and is not stored. The others are in blocks. Of the first of
//! a block the first bytes are in a list that is searched; each of the rest says how many bytes it shares with the name
//! before it. Numbers are in the order of
//! the names, so what refers to names holds and compares small numbers, and a shortened option is a range of them.
//!
//! The names themselves decide where a block begins, and the numbers between blocks have gaps. So a new name changes the
//! numbers of the few names that follow it in its block, and of no other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::cursor::{Cursor, Damaged, put_number};

/// The number of a name.
pub(crate) type NameId = u16;

/// The offset that is added to the letter of a name such as `-x`.
const LETTERS: NameId = 0xff00;
/// The most names of a block.
const BLOCK_MAX: usize = 72;
/// One of so many names begins a block.
const BLOCK_USUAL: u32 = 36;
/// The numbers of a block are a multiple of this, and at least one is left over.
const GAP: usize = 8;

/// The numbers of the names of a block.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct BlockIds {
    /// The number of its first name.
    first: U16,
    /// How many names it has.
    count: u8,
}
/// The largest number that half a byte holds; it says that the number follows.
const LARGE: u8 = 15;

/// The names of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// The numbers of each block, rising.
    ids: &'a [BlockIds],
    /// The first bytes of the first name of each block, as a number that sorts as they do.
    starts: &'a [U64],
    /// Where each block begins.
    offsets: &'a [U32],
    bytes: &'a [u8],
}

impl<'a> Names<'a> {
    /// Takes names as they lie, checking that they can be searched.
    pub(super) fn open(
        ids: &'a [BlockIds],
        starts: &'a [U64],
        offsets: &'a [U32],
        bytes: &'a [u8],
    ) -> Result<Self, Damaged> {
        let names = Self { ids, starts, offsets, bytes };
        if starts.len() != ids.len() || offsets.len() != ids.len() {
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
        let mut before: Option<Vec<u8>> = None;
        let mut end = 0;
        for block in 0..offsets.len() {
            if names.offset(block) != Some(end) {
                return Err(Damaged("a block of names is out of place"));
            }
            let mut cursor = names.block(block);
            let mut name = Vec::new();
            for at in 0..names.block_len(block) {
                if at == 0 {
                    name = names.first(block, &mut cursor).whole();
                } else {
                    let (shared, length) = lengths(&mut cursor);
                    if shared > name.len() {
                        return Err(Damaged("a name is cut"));
                    }
                    name.truncate(shared);
                    name.extend_from_slice(cursor.take(length));
                }
                let is_sorted = before.as_ref().is_none_or(|before| *before < name);
                if !is_sorted || cursor.is_short() || str::from_utf8(&name).is_err() {
                    return Err(Damaged("a name is out of order or no text"));
                }
                if at == 0 && starts.get(block).map(|start| start.get()) != Some(key(&name)) {
                    return Err(Damaged("a block of names cannot be found"));
                }
                before = Some(name.clone());
            }
            end = cursor.at();
        }
        if end != bytes.len() {
            return Err(Damaged("its names do not end where they should"));
        }
        Ok(names)
    }

    /// Reads the first name of a block, at whose beginning the cursor is.
    fn first(&self, block: usize, cursor: &mut Cursor<'a>) -> First<'a> {
        let start = self.starts.get(block).map_or(0, |start| start.get()).to_be_bytes();
        let length = cursor.number() as usize;
        First { start, rest: cursor.take(length) }
    }

    fn offset(&self, block: usize) -> Option<usize> {
        self.offsets.get(block).map(|offset| offset.get() as usize)
    }

    fn block(&self, block: usize) -> Cursor<'a> {
        Cursor::new(self.bytes, self.offset(block).unwrap_or(self.bytes.len()))
    }

    fn block_len(&self, block: usize) -> usize {
        self.ids.get(block).map_or(0, |ids| usize::from(ids.count))
    }

    /// Returns the number of a name of a block, or the one that follows its last.
    fn id(&self, block: usize, at: usize) -> NameId {
        let first = self.ids.get(block).map_or(LETTERS, |ids| ids.first.get());
        first.saturating_add(NameId::try_from(at).unwrap_or(NameId::MAX)).min(LETTERS)
    }

    /// Returns the block that may hold a number, and which of its names it is.
    fn place(&self, id: NameId) -> Option<(usize, usize)> {
        let block = self.ids.partition_point(|ids| ids.first.get() <= id).checked_sub(1)?;
        let at = usize::from(id - self.ids.get(block)?.first.get());
        (at < self.block_len(block)).then_some((block, at))
    }

    /// Returns a number above those of all names below `name` and not above those of the others, and whether it
    /// is the number of `name` itself.
    fn rank(&self, name: &[u8]) -> (NameId, bool) {
        let sought = key(name);
        let mut block = self.starts.partition_point(|start| start.get() < sought);
        // Of blocks whose first names begin alike, the names themselves decide.
        while self.starts.get(block).is_some_and(|start| start.get() == sought) {
            let first = self.first(block, &mut self.block(block));
            if first.rest > name.get(KEY..).unwrap_or(&[]) {
                break;
            }
            block += 1;
        }
        let Some(block) = block.checked_sub(1) else { return (0, false) };
        let mut cursor = self.block(block);
        let first = self.first(block, &mut cursor);
        // How much of the name is shared with the last name that was read, which is below it.
        let mut matched = first.common(name);
        if matched == name.len() {
            return (self.id(block, 0), matched == first.len());
        }
        for at in 1..self.block_len(block) {
            let (shared, length) = lengths(&mut cursor);
            if shared > matched {
                cursor.skip(length);
                continue;
            }
            if shared < matched {
                return (self.id(block, at), false);
            }
            let rest = cursor.take(length);
            let sought = name.get(shared..).unwrap_or(&[]);
            let same = common(rest, sought);
            match (rest.get(same), sought.get(same)) {
                (None, None) => return (self.id(block, at), true),
                (None, Some(_)) => {}
                (Some(left), Some(right)) if left < right => {}
                (Some(_), _) => return (self.id(block, at), false),
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
        match self.rank(name) {
            (id, true) => Some(id),
            _ => None,
        }
    }

    /// Returns the numbers of the names that begin with `start`.
    pub(super) fn from(&self, start: &[u8]) -> Range<NameId> {
        let low = self.rank(start).0;
        // No name holds this byte, which is none of UTF-8.
        let mut end = start.to_vec();
        end.push(0xff);
        low..self.rank(&end).0
    }

    /// Returns a name.
    pub(super) fn name(&self, id: NameId) -> String {
        if let Some(letter) = letter_of(id) {
            return format!("-{}", char::from(letter));
        }
        let Some((block, last)) = self.place(id) else { return String::new() };
        let mut cursor = self.block(block);
        let mut name = self.first(block, &mut cursor).whole();
        for _ in 0..last {
            let (shared, length) = lengths(&mut cursor);
            name.truncate(shared);
            name.extend_from_slice(cursor.take(length));
        }
        String::from_utf8(name).unwrap_or_default()
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
fn letter(name: &[u8]) -> Option<NameId> {
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

/// How many bytes of the first name of a block are in the list that is searched.
const KEY: usize = size_of::<u64>();

/// The first name of a block.
#[derive(Debug, Clone, Copy)]
struct First<'a> {
    /// Its first bytes; zeros follow a shorter name.
    start: [u8; KEY],
    rest: &'a [u8],
}

impl First<'_> {
    fn start(&self) -> &[u8] {
        let length = self.start.iter().position(|byte| *byte == 0).unwrap_or(KEY);
        self.start.get(..length).unwrap_or(&[])
    }

    fn len(&self) -> usize {
        self.start().len() + self.rest.len()
    }

    /// Returns how many bytes another name begins with alike.
    fn common(&self, name: &[u8]) -> usize {
        match common(self.start(), name) {
            KEY => KEY + common(self.rest, name.get(KEY..).unwrap_or(&[])),
            fewer => fewer,
        }
    }

    fn whole(&self) -> Vec<u8> {
        [self.start(), self.rest].concat()
    }
}

/// Returns the first bytes of a name as a number that sorts as they do: a name holds no zero byte.
fn key(name: &[u8]) -> u64 {
    let mut first = [0; KEY];
    for (slot, byte) in first.iter_mut().zip(name) {
        *slot = *byte;
    }
    u64::from_be_bytes(first)
}

/// Returns how many bytes two names begin with alike.
#[inline]
fn common(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Reads how much a name shares with the one before, and the length of the rest, which follows.
#[inline]
fn lengths(cursor: &mut Cursor<'_>) -> (usize, usize) {
    let head = cursor.byte();
    let mut part = |half: u8| match half {
        LARGE => cursor.number() as usize + usize::from(LARGE),
        small => usize::from(small),
    };
    let shared = part(head >> 4);
    (shared, part(head & LARGE))
}

/// Returns whether a name begins a block, whatever other names there are.
fn begins_block(name: &str) -> bool {
    // FNV-1a, whose low bits are the better ones.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, step).is_multiple_of(BLOCK_USUAL)
}

/// Makes the names of a table.
#[derive(Debug, Default)]
pub(super) struct NamesBuilder<'k> {
    numbers: BTreeMap<&'k str, NameId>,
    pub(super) ids: Vec<BlockIds>,
    pub(super) starts: Vec<U64>,
    pub(super) offsets: Vec<U32>,
    pub(super) bytes: Vec<u8>,
}

impl<'k> NamesBuilder<'k> {
    /// Writes names; `None` if there are more than can be numbered.
    pub(super) fn new(names: &BTreeSet<&'k str>) -> Option<Self> {
        let names = names.iter().filter(|name| letter(name.as_bytes()).is_none());
        let mut blocks: Vec<Vec<&'k str>> = Vec::new();
        for name in names {
            match blocks.last_mut() {
                Some(block) if block.len() < BLOCK_MAX && !begins_block(name) => block.push(name),
                _ => blocks.push(vec![name]),
            }
        }
        let mut made = Self::default();
        // With very many names the numbers are too few for gaps.
        let room = |block: &Vec<&str>| (block.len() + 1).next_multiple_of(GAP);
        let has_gaps = blocks.iter().map(room).sum::<usize>() <= usize::from(LETTERS);
        let mut first = 0;
        for block in &blocks {
            made.block(block, first)?;
            first += if has_gaps { room(block) } else { block.len() };
        }
        Some(made)
    }

    /// Writes a block, whose first name has this number.
    fn block(&mut self, names: &[&'k str], first: usize) -> Option<()> {
        let mut before = "";
        for (at, name) in names.iter().enumerate() {
            let id = NameId::try_from(first + at).ok().filter(|id| *id < LETTERS)?;
            self.numbers.insert(name, id);
            if at == 0 {
                self.starts.push(U64::new(key(name.as_bytes())));
                self.offsets.push(U32::new(u32::try_from(self.bytes.len()).ok()?));
                let count = u8::try_from(names.len()).ok()?;
                self.ids.push(BlockIds { first: U16::new(id), count });
                let rest = name.as_bytes().get(KEY..).unwrap_or(&[]);
                put_number(&mut self.bytes, u32::try_from(rest.len()).ok()?);
                self.bytes.extend_from_slice(rest);
            } else {
                let shared = common(before.as_bytes(), name.as_bytes());
                let rest = name.as_bytes().get(shared..).unwrap_or(&[]);
                let half = |part: usize| u8::try_from(part).map_or(LARGE, |part| part.min(LARGE));
                self.bytes.push(half(shared) << 4 | half(rest.len()));
                for part in [shared, rest.len()] {
                    if let Some(more) = part.checked_sub(usize::from(LARGE)) {
                        put_number(&mut self.bytes, u32::try_from(more).ok()?);
                    }
                }
                self.bytes.extend_from_slice(rest);
            }
            before = name;
        }
        Some(())
    }

    /// Returns the number of a name, which is one of those that it was made of.
    pub(super) fn id(&self, name: &str) -> NameId {
        letter(name.as_bytes()).or_else(|| self.numbers.get(name).copied()).unwrap_or(NameId::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of every length, of which many begin alike.
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
        let made = NamesBuilder::new(&all.iter().map(String::as_str).collect()).unwrap();
        let names = Names::open(&made.ids, &made.starts, &made.offsets, &made.bytes).unwrap();
        assert!(made.ids.len() > 5, "{} blocks", made.ids.len());
        let ids: Vec<NameId> = all.iter().map(|name| made.id(name)).collect();
        assert!(ids.is_sorted_by(|left, right| left < right));
        for (name, id) in all.iter().zip(&ids) {
            assert_eq!(names.find(name.as_bytes()), Some(*id), "{name}");
            assert_eq!(names.name(*id), *name);
            assert!(names.has(*id));
            for other in [format!("{name}x"), format!("{name}a"), name.get(1..).unwrap().to_owned()]
            {
                let (rank, is_there) = names.rank(other.as_bytes());
                assert_eq!(is_there, all.contains(&other), "{other}");
                let below = ids.iter().filter(|id| **id < rank).count();
                assert_eq!(below, all.iter().filter(|each| **each < other).count(), "{other}");
            }
            for length in 0..name.len() {
                let start = name.get(..length).unwrap();
                let range = names.from(start.as_bytes());
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
        let all: BTreeSet<String> = (0..3000).map(|number| format!("--{}", number * 7)).collect();
        let numbers = |names: &BTreeSet<String>| {
            let made = NamesBuilder::new(&names.iter().map(String::as_str).collect()).unwrap();
            all.iter().map(|name| made.id(name)).collect::<Vec<_>>()
        };
        let before = numbers(&all);
        let (mut changed, mut count) = (0, 0);
        for name in all.iter().step_by(10) {
            let mut more = all.clone();
            more.insert(format!("{name}-new"));
            let after = numbers(&more);
            changed += before.iter().zip(&after).filter(|(before, after)| before != after).count();
            count += 1;
        }
        let usual = changed / count;
        assert!(usual < all.len() / 10, "{usual} of {} numbers change", all.len());
    }

    #[test]
    fn very_many_names_have_no_gaps() {
        let names: BTreeSet<String> = (0..60_000).map(|number| format!("--{number}")).collect();
        let made = NamesBuilder::new(&names.iter().map(String::as_str).collect()).unwrap();
        assert!(Names::open(&made.ids, &made.starts, &made.offsets, &made.bytes).is_ok());
        assert_eq!(usize::from(made.id("--9999")), names.len() - 1);
        let more: BTreeSet<String> = (0..65_281).map(|number| format!("--{number}")).collect();
        assert!(NamesBuilder::new(&more.iter().map(String::as_str).collect()).is_none());
    }

    #[test]
    fn altered_names_are_refused() {
        let all = ["--all", "--almost", "-all", "ls"];
        let made = NamesBuilder::new(&all.into_iter().collect()).unwrap();
        let open =
            |bytes: &[u8]| Names::open(&made.ids, &made.starts, &made.offsets, bytes).is_ok();
        assert!(open(&made.bytes));
        assert!(!open(&made.bytes[..made.bytes.len() - 1]));
        let mut longer = made.bytes.clone();
        longer.push(0);
        assert!(!open(&longer));
        let mut unsorted = made.bytes.clone();
        unsorted.iter_mut().rev().take(2).for_each(|byte| *byte = 1);
        assert!(!open(&unsorted));
        let ids = [BlockIds { first: U16::new(0), count: 3 }];
        assert!(Names::open(&ids, &made.starts, &made.offsets, &made.bytes).is_err());
    }
}
