//! The rules that judge a text beside the facts: floors, paths, and those that raise or lower a tier.

use std::sync::Arc;

use relay_bundle::{Bundle, Corrupt, Rule, RuleKey, RuleKind};
use thiserror::Error;

use crate::inventory::Inventory;
use crate::path_rules::{PathClasses, PathRules, PatternError};
use crate::tier::Floors;

/// The rules that judge a text beside the facts.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The tiers of doubts.
    pub floors: Floors,
    /// The project's rules for paths.
    pub paths: PathRules,
    /// The classes of paths that the project names.
    pub classes: PathClasses,
    /// The hosts that the project knows.
    pub inventory: Inventory,
    /// The rules that raise the tier of a text, or lower that of its effects.
    pub adjust: Vec<Arc<Rule>>,
}

/// The reason why the policy of a bundle cannot be used. No compiler writes such a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RulesError {
    /// A path pattern is invalid.
    #[error("a pattern of paths is invalid: {0}")]
    Pattern(#[from] PatternError),
    /// The bundle is corrupt.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Rules {
    /// Reads the policy of a bundle; `None` if it has none.
    ///
    /// # Errors
    ///
    /// The policy cannot be used; see [`RulesError`].
    pub fn of(bundle: &Bundle) -> Result<Option<Self>, RulesError> {
        let Some(policy) = bundle.policy() else { return Ok(None) };
        let floors = Floors::each(|floor| policy.floors.of(floor).value);
        let mut adjust = Vec::new();
        // The index lists the rules that raise or lower under one key.
        for number in bundle.rule_index().of(&RuleKey::new(ADJUST_KEY))?.iter() {
            let rule = bundle.rule(number as usize)?;
            if matches!(rule.kind()?, RuleKind::Tier | RuleKind::Lower) {
                adjust.push(Arc::new(rule.to_owned()?));
            }
        }
        // Decisions then read the automata without another check.
        bundle.automata()?;
        let paths = PathRules::of(&policy.paths)?;
        let classes = PathClasses::of(&policy.classes)?;
        let inventory = Inventory::of(bundle.hosts());
        Ok(Some(Self { floors, paths, classes, inventory, adjust }))
    }
}

/// The key under which the index lists the rules that raise or lower a tier.
pub const ADJUST_KEY: &str = "adjust";
