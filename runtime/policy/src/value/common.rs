//! Values with unknown parts, compared with patterns.

use super::{Mark, is_hole, is_mark};

/// The most steps of a comparison.
const STEPS_MAX: usize = 1 << 16;

/// Returns whether a text of a value may match a pattern of `*`, `?` and plain letters: the two have a text in common. Values
/// too long to tell may.
pub(crate) fn may_match(pattern: &[u8], value: &[u8]) -> bool {
    if ends_differ(pattern, value) {
        return false;
    }
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
    let mut next = vec![false; width];
    for byte in value {
        next.fill(false);
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
        std::mem::swap(&mut reached, &mut next);
    }
    reached.last().copied().unwrap_or(false)
}

/// Returns whether the known letters that both begin or end with differ: their texts are apart.
fn ends_differ(pattern: &[u8], value: &[u8]) -> bool {
    let both_known =
        |(letter, byte): &(&u8, &u8)| !matches!(letter, b'*' | b'?') && !is_mark(**byte);
    let differ = |(letter, byte): (&u8, &u8)| letter != byte;
    pattern.iter().zip(value).take_while(both_known).any(differ)
        || pattern.iter().rev().zip(value.iter().rev()).take_while(both_known).any(differ)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all texts of some letters, up to a length.
    fn texts(letters: &[u8], length_max: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut start = 0;
        for _ in 0..length_max {
            let end = all.len();
            for at in start..end {
                for letter in letters {
                    let longer = [all.get(at).unwrap().as_slice(), &[*letter]].concat();
                    all.push(longer);
                }
            }
            start = end;
        }
        all
    }

    fn matches(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], text) => text.is_empty(),
            ([b'*', rest @ ..], text) => {
                (0..=text.len()).any(|taken| matches(rest, text.get(taken..).unwrap()))
            }
            ([b'?', rest @ ..], [_, after @ ..]) => matches(rest, after),
            ([letter, rest @ ..], [first, after @ ..]) => letter == first && matches(rest, after),
            _ => false,
        }
    }

    #[test]
    fn it_says_whether_some_text_is_of_both() {
        let &[hole] = Mark::Hole.text() else { panic!("a mark is a byte") };
        let filled = texts(b"ab", 3);
        for value in texts(&[b'a', b'b', hole], 3) {
            let mut meant = vec![Vec::new()];
            for byte in &value {
                let parts = if *byte == hole { filled.clone() } else { vec![vec![*byte]] };
                let longer = |text: Vec<u8>| {
                    parts
                        .iter()
                        .map(move |part| [text.as_slice(), part].concat())
                        .collect::<Vec<_>>()
                };
                meant = meant.into_iter().flat_map(longer).collect();
            }
            for pattern in texts(b"ab*?", 3) {
                let is_common = meant.iter().any(|text| matches(&pattern, text));
                let shown = value.escape_ascii();
                assert_eq!(
                    may_match(&pattern, &value),
                    is_common,
                    "{} {shown}",
                    pattern.escape_ascii()
                );
            }
        }
    }
}
