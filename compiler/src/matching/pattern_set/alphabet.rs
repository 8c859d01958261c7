//! The classes of characters that patterns distinguish: two characters of one class match the same
//! patterns.

use std::collections::{BTreeSet, HashMap};

use relay_engine::glob::Part;

use super::limit::{TRIED_STEPS_MAX, TooMany};

/// Characters for displayed names, the best first.
const PREFERRED: &str = "abcdefghijklmnopqrstuvwxyz0123456789_-./ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The most characters of a range that are tried.
const LOOKED_AT_MAX: usize = 4096;

/// The classes of characters.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// A character of each class, the best first.
    pub(super) letters: Vec<char>,
}

impl Alphabet {
    /// Returns the classes that parts of patterns distinguish. The parts are distinct.
    pub(super) fn of(parts: &[Part<'_>]) -> Result<Self, TooMany> {
        let mut borders = BTreeSet::from([0]);
        for part in parts {
            match part {
                Part::Run | Part::Any => {}
                Part::Literal(letter) => {
                    borders.extend([u32::from(*letter), u32::from(*letter) + 1]);
                }
                Part::Set(set) => borders.extend(
                    set.ranges()
                        .flat_map(|range| [(*range.start()).into(), u32::from(*range.end()) + 1]),
                ),
            }
        }
        if borders.len().saturating_mul(parts.len()) > TRIED_STEPS_MAX {
            return Err(TooMany);
        }
        let ends = borders.iter().copied().skip(1).chain([u32::from(char::MAX) + 1]);
        let mut classes: HashMap<Vec<bool>, char> = HashMap::new();
        for (start, end) in borders.iter().copied().zip(ends) {
            let Some(letter) = best_letter(start, end) else { continue };
            let class = parts.iter().map(|part| part.has(letter)).collect();
            let known = classes.entry(class).or_insert(letter);
            if rank(letter) < rank(*known) {
                *known = letter;
            }
        }
        let mut letters: Vec<char> = classes.into_values().collect();
        letters.sort_unstable_by_key(|letter| rank(*letter));
        Ok(Self { letters })
    }
}

/// Returns the best character from `start` before `end`, if there is one.
fn best_letter(start: u32, end: u32) -> Option<char> {
    let preferred = PREFERRED.chars().find(|letter| (start..end).contains(&u32::from(*letter)));
    let others = (start..end).filter_map(char::from_u32).take(LOOKED_AT_MAX);
    preferred.or_else(|| others.min_by_key(|letter| rank(*letter)))
}

/// Returns the rank of a character for displayed names: the lower, the better.
fn rank(letter: char) -> (usize, char) {
    let kind = match PREFERRED.chars().position(|preferred| preferred == letter) {
        Some(place) => place,
        None if letter.is_alphanumeric() => 100,
        None if letter.is_ascii_graphic() => 101,
        None if !letter.is_control() && !letter.is_whitespace() => 102,
        None if !letter.is_control() => 103,
        None => 104,
    };
    (kind, letter)
}
