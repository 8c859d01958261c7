//! The coverage of a project's `expect`s: the declarations that they touch.

use std::collections::{BTreeMap, BTreeSet};

use relay_engine::place::Placement;

use super::declared::Declared;
use crate::ast::{Claim, Expect};
use crate::source::Span;

/// A kind of declaration that an `expect` can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A tenant: one of the callers.
    Tenant,
    /// A role: that of a caller.
    Role,
    /// A skill: named, or matched by a call.
    Skill,
    /// A prompt: named, or selected in full or with its summary.
    Prompt,
    /// A resource or a URI template: named.
    Resource,
    /// A rule of the policy: tried on a text, or asked by a decision.
    Rule,
    /// A selector of a rule: it selects a part of such a text.
    Selector,
    /// An exception of a rule: the same.
    Exception,
}

/// A declaration that an `expect` can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// The place of the declaration.
    pub at: Span,
    /// Whether an `expect` is about it.
    pub touched: bool,
}

/// The declarations that `expect`s have touched so far.
#[derive(Debug, Default)]
pub(super) struct Touched {
    names: BTreeSet<(Kind, String)>,
    tenants: BTreeSet<usize>,
    roles: BTreeSet<usize>,
    pub(super) skills: BTreeSet<u32>,
    pub(super) prompts: BTreeSet<usize>,
    /// The callers of decisions, each with the place of its `expect`.
    pub(super) decided: Vec<(Span, Placement)>,
}

impl Touched {
    /// Notes the names in an `expect` except for skills: several may share a name, and the claim is
    /// about those that match the call.
    pub(super) fn named(&mut self, expect: &Expect) {
        let callers = [(Kind::Tenant, &expect.tenant), (Kind::Role, &expect.role)];
        let callers = callers.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)));
        let claimed = expect.claims.iter().filter_map(|(claim, name)| Some((kind(*claim)?, name)));
        let claimed = claimed.filter(|(kind, _)| *kind != Kind::Skill);
        self.names.extend(callers.chain(claimed).map(|(kind, name)| (kind, name.value.clone())));
    }

    /// Notes all skills of a name.
    pub(super) fn skill_named(&mut self, name: &str) {
        self.names.insert((Kind::Skill, name.to_owned()));
    }

    /// Notes all skills that an `expect` names, if its call stays unanswered.
    pub(super) fn skills_named(&mut self, expect: &Expect) {
        let named = expect.claims.iter().filter(|(claim, _)| kind(*claim) == Some(Kind::Skill));
        named.for_each(|(_, name)| self.skill_named(&name.value));
    }

    /// Notes the placement of a caller.
    pub(super) fn placed(&mut self, placement: &Placement) {
        self.tenants.extend(placement.tenant);
        self.roles.extend(placement.role);
    }

    /// Returns all declarations, each with its coverage.
    pub(super) fn coverage(&self, declared: &Declared) -> BTreeMap<(Kind, String), Coverage> {
        // A map of many names is made faster at once.
        let mut all = Vec::new();
        let mut add = |kind: Kind, name: &str, label: &str, at: Span, touched: bool| {
            let is_named = || self.names.contains(&(kind, name.to_owned()));
            let touched = touched || (!self.names.is_empty() && is_named());
            all.push(((kind, label.to_owned()), Coverage { at, touched }));
        };
        for (number, name) in declared.tenants.iter().enumerate() {
            let touched = self.tenants.contains(&number);
            add(Kind::Tenant, &name.value, &name.value, name.at, touched);
        }
        for (number, role) in declared.roles.iter().enumerate() {
            let name = &role.name;
            add(Kind::Role, &name.value, &name.value, name.at, self.roles.contains(&number));
        }
        for (number, skill) in (0u32..).zip(&declared.skills) {
            let touched = self.skills.contains(&number);
            add(Kind::Skill, &skill.name.value, &skill.label, skill.name.at, touched);
        }
        let prompts = declared.prompts.iter().enumerate();
        for (row, prompt) in prompts.filter(|(_, prompt)| !prompt.generated) {
            let name = &prompt.name;
            add(Kind::Prompt, &name.value, &name.value, name.at, self.prompts.contains(&row));
        }
        for resource in declared.resources.iter().chain(&declared.templates) {
            let name = &resource.name;
            add(Kind::Resource, &name.value, &name.value, name.at, false);
        }
        all.into_iter().collect()
    }
}

/// Returns the kind of declaration that a claim names.
fn kind(claim: Claim) -> Option<Kind> {
    match claim {
        Claim::Text | Claim::NotText | Claim::Tool | Claim::NotTool => None,
        Claim::Allow | Claim::Approve | Claim::Deny => None,
        Claim::Skill | Claim::NotSkill => Some(Kind::Skill),
        Claim::Full
        | Claim::Index
        | Claim::Names
        | Claim::Not
        | Claim::Prompt
        | Claim::NotPrompt => Some(Kind::Prompt),
        Claim::Resource | Claim::NotResource => Some(Kind::Resource),
    }
}
