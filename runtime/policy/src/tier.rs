//! Tiers, and the floors of what is not known.

use std::fmt;

/// How hard the worst of what a command may do is to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Tier {
    /// Looks, and leaves nothing behind.
    #[default]
    ReadOnly = 0,
    /// Makes or changes ordinary files of its own user.
    Reversible = 1,
    /// Changes what others depend on.
    Stateful = 2,
    /// Cannot be taken back, or cannot be judged.
    Irreversible = 3,
}

impl Tier {
    /// Every tier, from the lowest.
    pub const ALL: [Self; 4] =
        [Self::ReadOnly, Self::Reversible, Self::Stateful, Self::Irreversible];

    /// Returns the tier with this number; `None` above 3.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns its name, as refusals and reports print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "READ_ONLY",
            Self::Reversible => "REVERSIBLE",
            Self::Stateful => "STATEFUL",
            Self::Irreversible => "IRREVERSIBLE",
        }
    }

    /// Returns the next higher tier; the highest is its own.
    #[must_use]
    pub fn raised(self) -> Self {
        Self::from_number(self.number() + 1).unwrap_or(self)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.number(), self.name())
    }
}

/// What a doubt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Floor {
    /// No fact describes the program or sub-command.
    UnknownProgram,
    /// No fact declares the option or operand.
    UnknownFlag,
    /// The name of a program, or code, is not literal.
    UnknownWord,
    /// Code that the text does not show.
    OpaqueCode,
    /// The text does not parse, or is too large or too deep.
    Unparsed,
}

impl Floor {
    /// Every floor.
    pub const ALL: [Self; 5] = [
        Self::UnknownProgram,
        Self::UnknownFlag,
        Self::UnknownWord,
        Self::OpaqueCode,
        Self::Unparsed,
    ];

    /// Returns its name, as a project writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownProgram => "unknown-program",
            Self::UnknownFlag => "unknown-flag",
            Self::UnknownWord => "unknown-word",
            Self::OpaqueCode => "opaque-code",
            Self::Unparsed => "unparsed",
        }
    }
}

/// The tier of each doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floors([Tier; 5]);

impl Floors {
    /// Returns the tier of a doubt.
    #[must_use]
    pub const fn tier(self, floor: Floor) -> Tier {
        let [unknown_program, unknown_flag, unknown_word, opaque_code, unparsed] = self.0;
        match floor {
            Floor::UnknownProgram => unknown_program,
            Floor::UnknownFlag => unknown_flag,
            Floor::UnknownWord => unknown_word,
            Floor::OpaqueCode => opaque_code,
            Floor::Unparsed => unparsed,
        }
    }

    /// Returns these floors with one changed.
    #[must_use]
    pub fn with(self, floor: Floor, tier: Tier) -> Self {
        let mut tiers = self.0;
        for (slot, each) in tiers.iter_mut().zip(Floor::ALL) {
            if each == floor {
                *slot = tier;
            }
        }
        Self(tiers)
    }
}

impl Default for Floors {
    fn default() -> Self {
        let (two, three) = (Tier::Stateful, Tier::Irreversible);
        Self([two, two, three, two, three])
    }
}
