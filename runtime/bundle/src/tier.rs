//! Tiers, and the floors of doubts: the only declaration of both.
//!
//! `Floors` holds a value for each floor. By default that is a tier; a stage that also knows the
//! place or the reason of a floor uses its own type.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The difficulty of undoing the worst effect of a command. JSON has its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Tier {
    /// Only reads.
    #[default]
    ReadOnly = 0,
    /// Makes or changes ordinary files of its own user.
    Reversible = 1,
    /// Changes state that others depend on.
    Stateful = 2,
    /// Cannot be undone, or cannot be judged.
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

    /// Returns its name in denials and reports.
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

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Tier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Self::from_number(number)
            .ok_or_else(|| serde::de::Error::custom(format!("tier {number}: 0 to 3 are known")))
    }
}

/// A tier is a number in every schema.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Tier {
    fn inline_schema() -> bool {
        u8::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        u8::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        u8::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        u8::json_schema(generator)
    }
}

/// The kind of a doubt. Each has a floor: the least tier that a command with it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Floor {
    /// The program or sub-command is unknown to the facts.
    UnknownProgram,
    /// The option or operand is unknown to the facts.
    UnknownFlag,
    /// The name of a program, or code, is not literal.
    UnknownWord,
    /// Code that lies outside of the text.
    OpaqueCode,
    /// The text has a syntax error, or is too large or too deep.
    Unparsed,
    /// No project declares the effects of the tool.
    UnknownTool,
}

impl Floor {
    /// Every floor.
    pub const ALL: [Self; 6] = [
        Self::UnknownProgram,
        Self::UnknownFlag,
        Self::UnknownWord,
        Self::OpaqueCode,
        Self::Unparsed,
        Self::UnknownTool,
    ];

    /// Returns its default tier, from the only list of defaults.
    #[must_use]
    pub const fn default_tier(self) -> Tier {
        match self {
            Self::UnknownProgram | Self::UnknownFlag | Self::OpaqueCode | Self::UnknownTool => {
                Tier::Stateful
            }
            Self::UnknownWord | Self::Unparsed => Tier::Irreversible,
        }
    }

    /// Returns its name in projects.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownProgram => "unknown-program",
            Self::UnknownFlag => "unknown-flag",
            Self::UnknownWord => "unknown-word",
            Self::OpaqueCode => "opaque-code",
            Self::Unparsed => "unparsed",
            Self::UnknownTool => "unknown-tool",
        }
    }
}

/// The tiers of doubts, each 0 to 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Floors"))]
#[serde(deny_unknown_fields)]
pub struct Floors<T = Tier> {
    /// The program or sub-command is unknown to the facts.
    pub unknown_program: T,
    /// The option or operand is unknown to the facts.
    pub unknown_flag: T,
    /// The name of a program, or code, is not literal.
    pub unknown_word: T,
    /// Code that lies outside of the text.
    pub opaque_code: T,
    /// The text has a syntax error, or is too large or too deep.
    pub unparsed: T,
    /// No project declares the effects of the tool.
    pub unknown_tool: T,
}

impl<T> Floors<T> {
    /// Makes the value of each floor, in their order.
    pub fn each(mut value: impl FnMut(Floor) -> T) -> Self {
        Self {
            unknown_program: value(Floor::UnknownProgram),
            unknown_flag: value(Floor::UnknownFlag),
            unknown_word: value(Floor::UnknownWord),
            opaque_code: value(Floor::OpaqueCode),
            unparsed: value(Floor::Unparsed),
            unknown_tool: value(Floor::UnknownTool),
        }
    }

    /// Returns the value of a floor.
    pub fn of(&self, floor: Floor) -> &T {
        match floor {
            Floor::UnknownProgram => &self.unknown_program,
            Floor::UnknownFlag => &self.unknown_flag,
            Floor::UnknownWord => &self.unknown_word,
            Floor::OpaqueCode => &self.opaque_code,
            Floor::Unparsed => &self.unparsed,
            Floor::UnknownTool => &self.unknown_tool,
        }
    }

    /// Returns each value with its floor, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Floor, &T)> {
        Floor::ALL.into_iter().map(|floor| (floor, self.of(floor)))
    }
}

impl Floors {
    /// Returns the tier of a doubt.
    #[must_use]
    pub fn tier(self, floor: Floor) -> Tier {
        *self.of(floor)
    }

    /// Returns these floors with one changed.
    #[must_use]
    pub fn with(self, floor: Floor, tier: Tier) -> Self {
        Self::each(|each| if each == floor { tier } else { self.tier(each) })
    }
}

impl Default for Floors {
    fn default() -> Self {
        Self::each(Floor::default_tier)
    }
}
