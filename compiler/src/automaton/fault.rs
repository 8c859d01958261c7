//! Faults of a regex, each with its remedy.

use std::ops::Range;

use thiserror::Error;

/// A fault of a regex, at a part of its pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{fault}")]
pub struct RegexError {
    /// The bytes of the pattern at fault.
    pub at: Range<usize>,
    /// The fault.
    pub fault: RegexFault,
}

/// The kinds of faults: invalid patterns as Python has them, patterns that no automaton can match,
/// patterns whose meaning is in doubt, and patterns whose automaton is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RegexFault {
    /// `a++`, `(?>a)`.
    #[error("possessive repetitions and atomic groups are not supported")]
    Atomic,
    /// `\1`, `(?P=name)`, `(?(1)…)`.
    #[error("references to groups are not supported")]
    Backreference,
    /// `\q`, `\x4`, `\400`.
    #[error("the escape is invalid")]
    Escape,
    /// `(?i)` after other parts.
    #[error("flags for the whole pattern follow other parts of it")]
    LateFlags,
    /// `(?L)`, `(?q)`, `(?i-i:a)`.
    #[error("the flags are invalid")]
    Flags,
    /// `(?=…)`.
    #[error("lookahead is not supported")]
    Lookahead,
    /// `(?<=…)`.
    #[error("lookbehind is not supported")]
    Lookbehind,
    /// `(?!…)`.
    #[error("negative lookahead is not supported")]
    NegativeLookahead,
    /// `(?<!…)`.
    #[error("negative lookbehind is not supported")]
    NegativeLookbehind,
    /// `(?!\w)`.
    #[error("negative lookahead is not supported")]
    NotBeforeWord,
    /// `(?<!\w)`.
    #[error("negative lookbehind is not supported")]
    NotAfterWord,
    /// `(?<name>…)`, `(?*…)`.
    #[error("the kind of group is unknown")]
    Group,
    /// `(?P<1>…)`, `(?P<a>…)(?P<a>…)`.
    #[error("the name of the group is invalid or used twice")]
    GroupName,
    /// `(?i)é`.
    #[error("the case of letters beyond ASCII is not ignored")]
    LetterCase,
    /// `a**`.
    #[error("a repetition is repeated")]
    MultipleRepeat,
    /// `[^é]`.
    #[error("a negated class has a character beyond ASCII")]
    NegatedCharacter,
    /// `*a`, `^*`.
    #[error("nothing is repeated")]
    NothingToRepeat,
    /// `\xe9`.
    #[error("the escape means a byte or a character")]
    ByteOrCharacter,
    /// `[b-a]`, `a{3,2}`, `[\d-z]`.
    #[error("the range is invalid")]
    Range,
    /// `(a`.
    #[error("the group has no end")]
    OpenGroup,
    /// `a)`.
    #[error("the parenthesis closes no group")]
    Parenthesis,
    /// `[a`.
    #[error("the class has no end")]
    OpenClass,
    /// More than 64 groups in each other.
    #[error("more than 64 groups are inside each other")]
    Depth,
    /// A pattern of more than 8 KiB.
    #[error("the pattern is longer than 8,192 bytes")]
    Length,
    /// `(a|b)*a(a|b){16}`.
    #[error("this count makes the automaton too large")]
    LargeCount,
    /// `a.*b` in a pattern with many of these.
    #[error("this repetition makes the automaton too large")]
    LargeRepetition,
    /// A pattern that is too large as a whole.
    #[error("the automaton of the pattern is too large")]
    LargePattern,
}

impl RegexFault {
    /// Returns the remedy.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Atomic => "leave out the `+` after the repetition, or write `(?:…)`",
            Self::Backreference => "write the repeated text again, as a pattern of its own",
            Self::Escape => {
                "escapes are `\\d \\D \\s \\S \\w \\W \\b \\B \\A \\Z`, `\\n \\t \\r \\f \\v \\a`, `\\x4a`, `\\u00e9`, and `\\` before a sign"
            }
            Self::LateFlags => "move the flags to the start, or write `(?i:…)` around a part",
            Self::Flags => "flags are `i`, `m`, `s`, `x` and `a`; classes are always ASCII",
            Self::Lookahead | Self::Lookbehind => {
                "write the text that it looks for as a part of the pattern: a rule only asks whether there is a match"
            }
            Self::NegativeLookahead => {
                "for one byte write `(?:[^…]|\\Z)`; for a longer text add an `except` with a pattern of its own"
            }
            Self::NegativeLookbehind => {
                "for one byte write `(?:^|[^…])`; for a longer text add an `except` with a pattern of its own"
            }
            Self::NotBeforeWord => "write `\\b{end-half}`, which means the same",
            Self::NotAfterWord => "write `\\b{start-half}`, which means the same",
            Self::Group => "groups are `(…)`, `(?:…)`, `(?P<name>…)`, `(?i:…)` and `(?#…)`",
            Self::GroupName => {
                "a name has ASCII letters, digits and `_`, begins with no digit, and is used once"
            }
            Self::LetterCase => "write both letters: `[éÉ]`",
            Self::MultipleRepeat => "leave out one of them, or write `(?:…)` around the first",
            Self::NegatedCharacter => {
                "a negated class matches one byte: name the bytes of ASCII that it shall not match"
            }
            Self::NothingToRepeat => "write `\\` before the sign if it means itself",
            Self::ByteOrCharacter => {
                "write the character itself, `\\u00e9`, or `[^\\x00-\\x7f]` for any byte beyond ASCII"
            }
            Self::Range => "write the lower end first, and `\\-` or a last `-` for the sign",
            Self::OpenGroup => "close it with `)`, or write `\\(` for the sign",
            Self::Parenthesis => "write `\\)` for the sign",
            Self::OpenClass => "close it with `]`, or write `\\[` for the sign",
            Self::Depth => "leave out groups that only hold another one",
            Self::Length | Self::LargePattern => {
                "an automaton has at most 4,096 states: write several rules, or selectors of a command instead of a regex"
            }
            Self::LargeCount => {
                "an automaton has at most 4,096 states: write `*`, `+` or a smaller count, or a class that cannot match what precedes it"
            }
            Self::LargeRepetition => {
                "an automaton has at most 4,096 states: write several rules, or a class that cannot match what follows, such as `[^;|&]*`"
            }
        }
    }
}
