//! Names -> blocks and numbers.

use hashbrown::HashMap;
use zerocopy::little_endian::{U16, U32, U64};

use super::cursor::put_number;
use super::names::{BlockIds, KEY, LARGE, LETTERS, NameId, Names, common, key, letter};

/// The fewest names of a block, except the last.
const BLOCK_MIN: usize = 10;
/// The most names of a block: a search skips most names of a long block.
const BLOCK_MAX: usize = 20;
/// About one name in this many may begin a block.
const BLOCK_BEGINS: u32 = 4;
/// The numbers of a block are a multiple of this, with at least one spare number.
const GAP: usize = 4;
/// About one name in this many begins a section.
const SECTION_BEGINS: u32 = 512;
/// The first number of a section is a multiple of this.
const SECTION_GAP: usize = 64;

/// Returns a hash of a name alone, which decides whether it begins a block or a section.
fn hash(name: &str) -> u32 {
    // FNV-1a: its low bits are the better ones.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, step)
}

fn begins_section(name: &str) -> bool {
    hash(name).is_multiple_of(SECTION_BEGINS)
}

/// Returns whether a name ends this block and begins the next one.
fn begins_block(name: &str, block: &[&str]) -> bool {
    block.len() == BLOCK_MAX
        || begins_section(name)
        || (block.len() >= BLOCK_MIN && hash(name).is_multiple_of(BLOCK_BEGINS))
}

/// Returns the first number of each block; the lowest is `next` or above it.
fn first_numbers(
    blocks: &[Vec<&str>],
    mut next: usize,
    (gap, section_gap): (usize, usize),
) -> Vec<usize> {
    next = next.next_multiple_of(gap);
    let mut first = |block: &Vec<&str>| {
        if block.first().is_some_and(|name| begins_section(name)) {
            next = next.next_multiple_of(section_gap);
        }
        let first = next;
        let left_over = usize::from(gap > 1);
        next = (first + block.len() + left_over).next_multiple_of(gap);
        first
    };
    blocks.iter().map(&mut first).collect()
}

/// Makes the names of a table.
#[derive(Debug, Default)]
pub(super) struct NamesBuilder<'k> {
    base: Names<'k>,
    /// The numbers of added names.
    numbers: HashMap<&'k str, NameId>,
    pub(super) ids: Vec<BlockIds>,
    pub(super) starts: Vec<U64>,
    pub(super) offsets: Vec<U32>,
    pub(super) bytes: Vec<u8>,
}

impl<'k> NamesBuilder<'k> {
    /// Writes names after those of `base`, sorted and each once; returns `None` for more names than numbers.
    pub(super) fn after(base: Names<'k>, names: &[&'k str]) -> Option<Self> {
        let count = names.len();
        let names = names.iter().filter(|name| base.find(name.as_bytes()).is_none());
        let mut blocks: Vec<Vec<&'k str>> = Vec::new();
        for name in names {
            match blocks.last_mut() {
                Some(block) if !begins_block(name, block) => block.push(name),
                _ => blocks.push(vec![name]),
            }
        }
        let mut made = Self {
            base,
            numbers: HashMap::with_capacity(count),
            ids: base.ids.to_vec(),
            starts: base.starts.to_vec(),
            offsets: base.offsets.to_vec(),
            bytes: base.bytes.to_vec(),
        };
        let end = |ids: &BlockIds| usize::from(ids.first.get()) + usize::from(ids.count);
        let next = base.ids.last().map_or(0, end);
        let mut firsts = first_numbers(&blocks, next, (GAP, SECTION_GAP));
        if firsts.last().is_some_and(|last| last + BLOCK_MAX > usize::from(LETTERS)) {
            // Very many names leave too few numbers for gaps.
            firsts = first_numbers(&blocks, next, (1, 1));
        }
        for (block, first) in blocks.iter().zip(firsts) {
            made.block(block, first)?;
        }
        Some(made)
    }

    /// Writes a block; its first name has this number.
    fn block(&mut self, names: &[&'k str], first: usize) -> Option<()> {
        let mut before = "";
        let mut bodies = Vec::new();
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
                        put_number(&mut bodies, u32::try_from(more).ok()?);
                    }
                }
                bodies.extend_from_slice(rest);
            }
            before = name;
        }
        self.bytes.append(&mut bodies);
        Some(())
    }

    /// Returns the number of one of the written names, or of those before them.
    pub(super) fn id(&self, name: &str) -> NameId {
        let added = || self.numbers.get(name).copied();
        let before = || self.base.find(name.as_bytes());
        letter(name.as_bytes()).or_else(added).or_else(before).unwrap_or(NameId::MAX)
    }
}
