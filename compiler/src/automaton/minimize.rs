//! The smallest automaton of a language, by Hopcroft's refinement of partitions, in a canonical
//! order: equal languages have equal automata.

use std::collections::VecDeque;

use hashbrown::HashMap;
use relay_bundle::{AUTOMATON_STATES_MAX, AutomatonParts, DEAD, MATCHED};

use super::determinize::Dfa;

/// Makes the smallest automaton; `None` if it has too many states. Its literals are empty.
pub(super) fn minimize(dfa: &mut Dfa) -> Option<AutomatonParts> {
    let into = Inverse::of(dfa);
    settle_ends(dfa, &into);
    let blocks = blocks(dfa, &into);
    let dfa = &*dfa;
    let small = Blocks::of(dfa, &blocks);
    let (columns, byte_classes, final_newline) = small.columns(dfa);
    let (order, accepting) = small.order(&columns);
    if order.len() > AUTOMATON_STATES_MAX {
        return None;
    }
    let mut numbers = vec![0u16; small.count];
    for (number, block) in (0u16..).zip(&order) {
        if let Some(slot) = numbers.get_mut(*block) {
            *slot = number;
        }
    }
    let number = |block: usize| numbers.get(block).copied().unwrap_or(DEAD);
    let row = |block: &usize| {
        let block = *block;
        columns.iter().map(move |class| (block, *class))
    };
    let transitions = order.iter().flat_map(row);
    let transitions = transitions.map(|(block, class)| number(small.next(block, class))).collect();
    Some(AutomatonParts {
        byte_classes,
        final_newline,
        classes: u16::try_from(columns.len()).ok()?,
        start: number(small.block(dfa.start as usize)),
        accepting: u16::try_from(accepting).ok()?,
        transitions,
        literals: Vec::new(),
    })
}

/// Makes a state where no text ends accept if every text that goes on from there matches, so that it
/// becomes [`MATCHED`]. The others do not accept. Without this, equal languages could differ there.
fn settle_ends(dfa: &mut Dfa, into: &Inverse) {
    let ends = dfa.accepting.iter().zip(&dfa.cannot_end);
    // Those that lead to another state are taken away below.
    let mut matches: Vec<bool> =
        ends.map(|(accepts, cannot_end)| *accepts || *cannot_end).collect();
    let mut open: Vec<usize> = (0..matches.len()).collect();
    open.retain(|state| matches.get(*state) == Some(&false));
    while let Some(state) = open.pop() {
        for from in (0..dfa.classes).flat_map(|class| into.sources(class, state)) {
            let from = *from as usize;
            if matches.get_mut(from).is_some_and(std::mem::take) {
                open.push(from);
            }
        }
    }
    for (accepts, matches) in dfa.accepting.iter_mut().zip(matches) {
        *accepts |= matches;
    }
}

/// The automaton whose states are blocks of equivalent states.
struct Blocks<'d> {
    block_of: &'d [usize],
    count: usize,
    classes: usize,
    /// The next block, a row a block.
    transitions: Vec<usize>,
    accepting: Vec<bool>,
}

impl<'d> Blocks<'d> {
    fn of(dfa: &Dfa, block_of: &'d [usize]) -> Self {
        let count = block_of.iter().max().map_or(0, |max| max + 1);
        let mut small = Self {
            block_of,
            count,
            classes: dfa.classes,
            transitions: vec![0; count * dfa.classes],
            accepting: vec![false; count],
        };
        let rows = dfa.transitions.chunks_exact(dfa.classes);
        for ((block, row), accepts) in block_of.iter().zip(rows).zip(&dfa.accepting) {
            for (class, next) in row.iter().enumerate() {
                let next = small.block(*next as usize);
                if let Some(slot) = small.transitions.get_mut(block * dfa.classes + class) {
                    *slot = next;
                }
            }
            if let Some(slot) = small.accepting.get_mut(*block) {
                *slot = *accepts;
            }
        }
        small
    }

    fn block(&self, state: usize) -> usize {
        self.block_of.get(state).copied().unwrap_or_default()
    }

    fn next(&self, block: usize, class: usize) -> usize {
        self.transitions.get(block * self.classes + class).copied().unwrap_or_default()
    }

    /// Returns one class of each kind of column, with the kind of each byte and of the final
    /// newline, numbered by their first bytes.
    fn columns(&self, dfa: &Dfa) -> (Vec<usize>, [u8; 256], u8) {
        let mut kinds: HashMap<Vec<usize>, u8> = HashMap::new();
        let mut columns = Vec::new();
        let mut known: HashMap<usize, u8> = HashMap::new();
        let mut kind = |class: usize| {
            *known.entry(class).or_insert_with(|| {
                let column = (0..self.count).map(|block| self.next(block, class)).collect();
                *kinds.entry(column).or_insert_with(|| {
                    columns.push(class);
                    u8::try_from(columns.len() - 1).unwrap_or(u8::MAX)
                })
            })
        };
        let byte_classes = dfa.byte_classes.map(|class| kind(usize::from(class)));
        let final_newline = kind(self.classes.saturating_sub(1));
        (columns, byte_classes, final_newline)
    }

    /// Returns the blocks in the order of their numbers, and the number of the first one in which
    /// the end of the text matches.
    fn order(&self, columns: &[usize]) -> (Vec<usize>, usize) {
        let last = [self.block(DEAD.into()), self.block(MATCHED.into())];
        let mut seen = vec![false; self.count];
        let mut is_new =
            |block: usize| seen.get_mut(block).is_some_and(|seen| !std::mem::replace(seen, true));
        last.into_iter().for_each(|block| _ = is_new(block));
        let mut open = VecDeque::new();
        open.extend(Some(self.block(2)).filter(|_| self.block_of.len() > 2));
        // Every other state is reached from the first one, which is the start.
        open.retain(|block| is_new(*block));
        let (mut plain, mut accepting) = (last.to_vec(), Vec::new());
        while let Some(block) = open.pop_front() {
            let accepts = self.accepting.get(block).copied().unwrap_or_default();
            if accepts {
                accepting.push(block)
            } else {
                plain.push(block)
            }
            let next = columns.iter().map(|class| self.next(block, *class));
            open.extend(next.filter(|next| is_new(*next)));
        }
        let first = plain.len();
        plain.extend(accepting);
        (plain, first)
    }
}

/// A partition of the states, as a list in which the states of a block are next to each other.
struct Partition {
    states: Vec<usize>,
    place: Vec<usize>,
    block_of: Vec<usize>,
    /// The first place of each block, the number of marked states there, and its end.
    blocks: Vec<(usize, usize, usize)>,
}

/// Returns the block of each state.
fn blocks(dfa: &Dfa, into: &Inverse) -> Vec<usize> {
    let count = dfa.accepting.len();
    let mut partition = Partition::new(count);
    let mut touched = Vec::new();
    for (state, accepts) in dfa.accepting.iter().enumerate() {
        if *accepts {
            partition.mark(state, &mut touched);
        }
    }
    let mut waiting = VecDeque::from([0]);
    partition.split(&mut touched, &mut waiting);
    while let Some(splitter) = waiting.pop_front() {
        let members = partition.members(splitter);
        for class in 0..dfa.classes {
            for state in &members {
                for from in into.sources(class, *state) {
                    partition.mark(*from as usize, &mut touched);
                }
            }
            partition.split(&mut touched, &mut waiting);
        }
    }
    partition.block_of
}

/// The states that lead to each state, by class.
struct Inverse {
    count: usize,
    ends: Vec<u32>,
    sources: Vec<u32>,
}

impl Inverse {
    fn of(dfa: &Dfa) -> Self {
        let count = dfa.accepting.len();
        let mut ends = vec![0u32; count * dfa.classes];
        let cells = || {
            let rows = (0u32..).zip(dfa.transitions.chunks_exact(dfa.classes));
            rows.flat_map(|(state, row)| {
                row.iter().enumerate().map(move |(class, next)| (state, class, *next as usize))
            })
        };
        for (_, class, next) in cells() {
            if let Some(end) = ends.get_mut(class * count + next) {
                *end += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            // The start for now; each source moves it towards the end.
            let length = *end;
            *end = sum;
            sum += length;
        }
        let mut sources = vec![0; dfa.transitions.len()];
        for (state, class, next) in cells() {
            let Some(end) = ends.get_mut(class * count + next) else { continue };
            if let Some(slot) = sources.get_mut(*end as usize) {
                *slot = state;
            }
            *end += 1;
        }
        Self { count, ends, sources }
    }

    fn sources(&self, class: usize, state: usize) -> &[u32] {
        let at = class * self.count + state;
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.sources.get(start..end(at)).unwrap_or_default()
    }
}

impl Partition {
    fn new(count: usize) -> Self {
        Self {
            states: (0..count).collect(),
            place: (0..count).collect(),
            block_of: vec![0; count],
            blocks: vec![(0, 0, count)],
        }
    }

    fn members(&self, block: usize) -> Vec<usize> {
        let place = self.blocks.get(block).map_or(0..0, |(start, _, end)| *start..*end);
        self.states.get(place).unwrap_or_default().to_vec()
    }

    /// Moves a state to the marked ones of its block, which are first.
    fn mark(&mut self, state: usize, touched: &mut Vec<usize>) {
        let Self { states, place, block_of, blocks } = self;
        let (Some(block), Some(at)) = (block_of.get(state).copied(), place.get(state).copied())
        else {
            return;
        };
        let Some((start, marked, _)) = blocks.get_mut(block) else { return };
        let first = *start + *marked;
        if at < first {
            return;
        }
        if *marked == 0 {
            touched.push(block);
        }
        *marked += 1;
        states.swap(at, first);
        for at in [at, first] {
            if let Some(slot) = states.get(at).and_then(|state| place.get_mut(*state)) {
                *slot = at;
            }
        }
    }

    /// Makes the marked states of each touched block a block of their own.
    ///
    /// The smaller part gets the new number and waits; the other one still waits if the block did.
    fn split(&mut self, touched: &mut Vec<usize>, waiting: &mut VecDeque<usize>) {
        for block in touched.drain(..) {
            let new = self.blocks.len();
            let Some((start, marked, end)) = self.blocks.get_mut(block) else { continue };
            let (first, middle, last) = (*start, *start + *marked, *end);
            *marked = 0;
            if middle == last {
                continue;
            }
            let part = if middle - first <= last - middle {
                *start = middle;
                first..middle
            } else {
                *end = middle;
                middle..last
            };
            self.blocks.push((part.start, 0, part.end));
            for state in self.states.get(part).unwrap_or_default() {
                if let Some(slot) = self.block_of.get_mut(*state) {
                    *slot = new;
                }
            }
            waiting.push_back(new);
        }
    }
}
