//! A call that is decided again and again, each time under a policy that differs in one rule.
//!
//! The call is taken apart once, which costs most of a decision.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Rule, RuleKind};
use relay_policy::facts::Facts;
use relay_policy::rule::{Fit, Meaning};

use super::asked::Asked;
use super::call::Call;
use super::decision::Decision;
use super::{Placed, by_policy, placed};
use crate::authority::Authority;
use crate::rule_keys::keys_of_request;
use crate::view::View;

/// A changed rule that denies, asks or allows.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// The number of the rule in its bundle.
    pub number: u32,
    /// The rule without some of its conditions and values; `None` without the whole rule.
    pub rule: Option<&'c Rule>,
}

/// A call that is decided again and again.
pub struct Trial<'t> {
    view: &'t View<'t>,
    call: Call<'t>,
    placed: Placed<'t>,
}

/// The answer of one rule to a request, for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    fires: Option<Fit>,
    /// Whether it covers each effect.
    covers: Vec<bool>,
    permits_tool: bool,
}

impl<'t> Trial<'t> {
    /// Takes a call apart.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of(view: &'t View<'t>, authority: &Authority, call: Call<'t>) -> Result<Self, Corrupt> {
        Ok(Self { view, call, placed: placed(view, authority, &call)? })
    }

    /// Decides the call, with one rule changed. The decision has neither text nor effects.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn decide(
        &self,
        authority: &Authority,
        change: Option<Change<'_>>,
    ) -> Result<Decision, Corrupt> {
        match &self.placed {
            Placed::Decided(decision) => Ok(Decision::clone(decision)),
            Placed::Asked(asked, at) => {
                by_policy(self.view, authority, &self.call, (asked, *at), change)
            }
        }
    }

    /// Returns the answer of a rule to it; `None` if no rule is asked.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn answer(
        &self,
        (authority, facts): (&Authority, &Facts<'_>),
        rule: &Rule,
    ) -> Result<Option<Answer>, Corrupt> {
        let Placed::Asked(asked, _) = &self.placed else { return Ok(None) };
        let asks = (self.call.tool, self.call.client);
        Answer::of(self.view.bundle(), (authority, facts), rule, asks, asked)
    }

    /// Returns the keys of the rules that it may concern; `None` if it may concern any rule.
    #[must_use]
    pub fn keys(&self, facts: &Facts<'_>) -> Option<BTreeSet<String>> {
        let Placed::Asked(asked, _) = &self.placed else { return Some(BTreeSet::new()) };
        keys_of_request(self.call.tool, &asked.verdict, facts)
    }
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
        let (given, hosts) = (asked.given(), asked.hosts.iter());
        let hosts: Vec<&str> = hosts.map(String::as_str).collect();
        let request = asked.request(asks, (facts, judging), (&given, &hosts));
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
        self.fires.is_some() || self.permits_tool || self.covers.contains(&true)
    }
}
