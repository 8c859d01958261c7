//! The rules that judge a text beside the facts: floors and paths.

use relay_bundle::Policy;
use thiserror::Error;

use crate::path_rules::{PathRules, PatternError};
use crate::tier::Floors;

/// The rules that judge a text beside the facts.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The tiers of doubts.
    pub floors: Floors,
    /// The project's rules for paths.
    pub paths: PathRules,
}

/// The reason why the policy of a bundle cannot be used. No compiler writes such a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RulesError {
    /// A path pattern is invalid.
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
        let floors = Floors::each(|floor| policy.floors.of(floor).value);
        Ok(Self { floors, paths: PathRules::of(&policy.paths)? })
    }
}
