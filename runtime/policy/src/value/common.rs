//! Values with unknown parts, compared with patterns.

use super::{Mark, is_hole, is_mark};

/// The most steps of a comparison.
const STEPS_MAX: usize = 1 << 16;

/// Returns whether a text of a value may match a pattern of `*`, `?` and plain letters: the two have a text in common. Values
/// too long to tell may.
pub(crate) fn may_match(pattern: &[u8], value: &[u8]) -> bool {
    if pattern.len().saturating_mul(value.len()) > STEPS_MAX {
        return true;
    }
    let is_run = |byte: u8| is_hole(byte) || Mark::Star.is(byte) || Mark::Name.is(byte);
    // Row by row of the value: whether the rest of the pattern from each position can be reached.
    let width = pattern.len() + 1;
    let mut reached = vec![false; width];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    spread(pattern, &mut reached);
    for byte in value {
        let mut next = vec![false; width];
        for at in 0..width {
            if !reached.get(at).copied().unwrap_or(false) {
                continue;
            }
            let mut reach = |to: usize| {
                if let Some(cell) = next.get_mut(to) {
                    *cell = true;
                }
            };
            if is_run(*byte) {
                // The unknown part may be empty, or any part of the pattern.
                (at..width).for_each(&mut reach);
                continue;
            }
            match pattern.get(at) {
                Some(b'*') => reach(at),
                Some(b'?') => reach(at + 1),
                Some(letter) if letter == byte || is_mark(*byte) => reach(at + 1),
                _ => {}
            }
        }
        spread(pattern, &mut next);
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// A `*` may be empty.
fn spread(pattern: &[u8], reached: &mut [bool]) {
    for at in 0..pattern.len() {
        let is_open = reached.get(at).copied().unwrap_or(false) && pattern.get(at) == Some(&b'*');
        if is_open && let Some(next) = reached.get_mut(at + 1) {
            *next = true;
        }
    }
}
