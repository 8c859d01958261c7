//! A rule that is changed in memory, and the answer of one rule to a request.

use relay_bundle::{Bundle, Corrupt, Rule, RuleKind};
use relay_policy::facts::Facts;
use relay_policy::rule::{Fit, Meaning};

use super::asked::Asked;
use crate::authority::Authority;

/// A changed rule that denies, asks or allows.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// The number of the rule in its bundle.
    pub number: u32,
    /// The rule without some of its conditions and values; `None` without the whole rule.
    pub rule: Option<&'c Rule>,
}

/// The answer of one rule to a request, for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    fires: Option<Fit>,
    /// Whether it covers each effect.
    covers: Vec<bool>,
    permits_tool: bool,
}

impl Answer {
    pub(super) fn of(
        bundle: &Bundle,
        (authority, facts): (&Authority, &Facts<'_>),
        rule: &Rule,
        asks: (&str, Option<&str>),
        asked: &Asked,
    ) -> Result<Option<Self>, Corrupt> {
        let Some(judging) = authority.rules() else { return Ok(None) };
        let given = asked.given();
        let request = asked.request(asks, (facts, judging), &given);
        let meaning = Meaning::of_changed(bundle, rule)?;
        let is_permit = matches!(rule.kind, RuleKind::Allow | RuleKind::Lower);
        if !is_permit {
            let fires = meaning.fires(&request)?.map(|part| part.fit);
            return Ok(Some(Self { fires, covers: Vec::new(), permits_tool: false }));
        }
        let effects = asked.verdict.effects.all().iter();
        let covers = effects.map(|effect| meaning.covers(&request, effect));
        let covers = covers.collect::<Result<_, _>>()?;
        Ok(Some(Self { fires: None, covers, permits_tool: meaning.permits_tool(&request)? }))
    }

    /// Returns whether the rule means a part of the request.
    #[must_use]
    pub fn means_any(&self) -> bool {
        self.fires.is_some() || self.permits()
    }

    /// Returns whether the rule certainly means a part of the request.
    #[must_use]
    pub fn surely_means_any(&self) -> bool {
        self.fires == Some(Fit::Surely) || self.permits()
    }

    fn permits(&self) -> bool {
        self.permits_tool || self.covers.contains(&true)
    }
}
