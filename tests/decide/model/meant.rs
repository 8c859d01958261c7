//! Whether something is meant, with doubt.

/// Whether something is meant: `Maybe` where a part is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meant {
    No,
    Maybe,
    Surely,
}

use Meant::{Maybe, No, Surely};

pub(super) fn all(each: impl IntoIterator<Item = Meant>) -> Meant {
    each.into_iter().min().unwrap_or(Surely)
}

pub(super) fn any(each: impl IntoIterator<Item = Meant>) -> Meant {
    each.into_iter().max().unwrap_or(No)
}

pub(super) fn surely(is_it: bool) -> Meant {
    if is_it { Surely } else { No }
}

/// Returns whether a text matches a pattern of words. Of a text that is not exact, `…` and `*` are
/// any text, and `?` is a letter.
pub(super) fn word(pattern: &str, text: &str, is_exact: bool) -> Meant {
    fn matches(pattern: &[char], text: &[char], is_exact: bool, may: bool) -> bool {
        let unknown = |letter: &char| !is_exact && matches!(letter, '…' | '*' | '?');
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), None) => matches(rest, text, is_exact, may),
            (Some(('*', rest)), Some((_, others))) => {
                matches(rest, text, is_exact, may)
                    || matches(pattern, others, is_exact, may)
                    || may && unknown(&text[0]) && matches(pattern, others, is_exact, may)
            }
            (rest, Some((letter, others))) if may && unknown(letter) => {
                let one = rest.is_some_and(|(_, rest)| match letter {
                    '?' => matches(rest, others, is_exact, may),
                    _ => matches(rest, text, is_exact, may),
                });
                one || *letter != '?' && matches(pattern, others, is_exact, may)
            }
            (Some(('?', rest)), Some((letter, others))) => {
                !unknown(letter) && matches(rest, others, is_exact, may)
            }
            (Some((wanted, rest)), Some((letter, others))) => {
                wanted == letter && matches(rest, others, is_exact, may)
            }
            _ => false,
        }
    }
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    if matches(&pattern, &text, is_exact, false) {
        Surely
    } else if !is_exact && matches(&pattern, &text, is_exact, true) {
        Maybe
    } else {
        No
    }
}
