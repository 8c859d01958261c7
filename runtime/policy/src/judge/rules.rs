//! What decides how a text is judged, beside the facts.

use relay_bundle::Policy;
use thiserror::Error;

use crate::path_rules::{PathRules, PatternError};
use crate::tier::{Floor, Floors, Tier};

/// What decides how a text is judged, beside the facts.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The tiers of doubts.
    pub floors: Floors,
    /// What the project says of paths.
    pub paths: PathRules,
}

/// Why the policy of a bundle cannot be used. No compiler writes such a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RulesError {
    /// A floor is above 3.
    #[error("the floor `{}` is {tier}, and 3 is the highest tier", floor.name())]
    Floor {
        /// The floor.
        floor: Floor,
        /// What the bundle says.
        tier: u8,
    },
    /// A pattern of paths is none.
    #[error("a pattern of paths is none: {0}")]
    Pattern(#[from] PatternError),
}

impl Rules {
    /// Reads the policy of a bundle.
    ///
    /// # Errors
    ///
    /// The policy cannot be used; see [`RulesError`].
    pub fn of(policy: &Policy) -> Result<Self, RulesError> {
        let written = &policy.floors;
        let tiers = [
            (Floor::UnknownProgram, &written.unknown_program),
            (Floor::UnknownFlag, &written.unknown_flag),
            (Floor::UnknownWord, &written.unknown_word),
            (Floor::OpaqueCode, &written.opaque_code),
            (Floor::Unparsed, &written.unparsed),
        ];
        let mut floors = Floors::default();
        for (floor, setting) in tiers {
            let tier = Tier::from_number(setting.value)
                .ok_or(RulesError::Floor { floor, tier: setting.value })?;
            floors = floors.with(floor, tier);
        }
        Ok(Self { floors, paths: PathRules::of(&policy.paths)? })
    }
}
