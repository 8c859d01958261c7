//! The policy and the facts of a project.

use std::collections::BTreeMap;

use relay_bundle::{RuleKind, Selector};

use super::node::{EffectiveNode, Scalar};
use super::renderer::{Renderer, block, list, said_by};
use crate::ast::{Plain, PolicyCondition, PolicyRule, PolicySettings, Written};
use crate::grammar::Rule;
use crate::language::facts::{ENVIRONMENT, FACTS};
use crate::language::limits::LIMITS;
use crate::language::policy::{PATHS, POLICY, PolicyNode, SCOPE, SCOPE_MODE, WIDEN};
use crate::language::rules::{
    EXCEPTION, MATCH, MAX, MIN, NO_MATCH, OBSERVE, ROLE, TENANT, TIERS, TO, TTL,
};
use crate::language::shared::{BECAUSE, EXCEPT};
use crate::measure::DURATION;
use crate::model::{Facts, Policy};
use crate::source::{Span, Spanned};

impl Renderer<'_, '_> {
    /// Returns `policy`, and `facts` if the project has its own.
    pub(super) fn policy(
        &self,
        policy: &Policy,
        facts: &Facts,
        has_processes: bool,
    ) -> Vec<EffectiveNode> {
        let mut nodes = vec![self.judged(policy, has_processes)];
        let programs = facts.programs.iter().map(|program| {
            let at = self.at(program.at);
            EffectiveNode { at, ..as_written(&program.written) }
        });
        let variables = facts.environment.iter().map(|row| {
            let mut node = self.node(ENVIRONMENT.name, texts(&row.names), row.at);
            node.optional(BECAUSE.name, row.because.as_ref());
            node
        });
        let children: Vec<_> = programs.chain(variables).collect();
        if !children.is_empty() {
            nodes.push(block(&FACTS, children));
        }
        nodes
    }

    fn judged(&self, policy: &Policy, has_processes: bool) -> EffectiveNode {
        let mut node = EffectiveNode { at: self.at(policy.at), ..EffectiveNode::of(&POLICY) };
        // The rules of the policy that it starts from are shown themselves, each with its place.
        let settings = PolicySettings { starts_from: None, ..policy.settings.clone() };
        node.settings(&POLICY, &settings);
        // Without tools that start processes, nothing goes by the defaults of `limits`.
        let is_idle = |rule: &'static Rule, at: Option<Span>| {
            std::ptr::eq(rule, &LIMITS) && at.is_none() && !has_processes
        };
        for PolicyNode { block, rule, at, settings } in policy.nodes() {
            if is_idle(rule, at) {
                continue;
            }
            let said =
                EffectiveNode { at: at.and_then(|at| self.at(at)), ..said_by(rule, settings) };
            if std::ptr::eq(block, &POLICY) {
                node.children.push(said);
                continue;
            }
            if node.children.last().is_none_or(|last| last.name != block.name) {
                node.children.push(EffectiveNode::of(block));
            }
            if let Some(last) = node.children.last_mut() {
                last.children.push(said);
            }
        }
        let classes: Vec<EffectiveNode> = policy
            .classes
            .iter()
            .map(|class| EffectiveNode {
                at: self.at(class.at),
                ..said_by(class.rule, &class.settings)
            })
            .collect();
        if !classes.is_empty() {
            match node.children.last_mut().filter(|last| last.name == PATHS.name) {
                Some(paths) => paths.children.extend(classes),
                None => node.children.push(block(&PATHS, classes)),
            }
        }
        node.children.extend(self.rules(policy, None));
        node
    }

    /// Returns the rules and scopes in a scope.
    fn rules(&self, policy: &Policy, scope: Option<usize>) -> Vec<EffectiveNode> {
        let rules = policy.rules.iter().filter(|rule| rule.scope == scope);
        let mut nodes: Vec<EffectiveNode> = rules.map(|rule| self.rule(rule)).collect();
        for (number, inner) in policy.scopes.iter().enumerate() {
            if inner.parent != scope {
                continue;
            }
            let mut node = EffectiveNode { at: self.at(inner.at), ..EffectiveNode::of(&SCOPE) };
            for (name, text) in inner.properties() {
                if let Some(text) = text {
                    node.put(&SCOPE, name, Scalar::Text(text.value.clone()));
                }
            }
            if let Some(mode) = &inner.mode {
                let word = vec![Scalar::Text(mode.value.word().into())];
                let mut said = self.node(SCOPE_MODE.name, word, mode.at);
                if inner.widens {
                    said.put(&SCOPE_MODE, WIDEN, Scalar::Boolean(true));
                }
                node.children.push(said);
            }
            node.children.extend(self.rules(policy, Some(number)));
            nodes.push(node);
        }
        nodes
    }

    fn rule(&self, rule: &PolicyRule) -> EffectiveNode {
        let mut node = EffectiveNode { at: self.at(rule.at), ..EffectiveNode::of(rule.rule) };
        node.arguments.push(Scalar::Text(rule.name.value.clone()));
        if let Some(tier) = &rule.tier {
            let number = Scalar::Number(tier.value.number().into());
            match rule.kind() {
                RuleKind::Lower => node.put(rule.rule, TO.name, number),
                _ => node.arguments.push(number),
            }
        }
        let text = |text: &Spanned<String>| Scalar::Text(text.value.clone());
        let properties = [(TENANT.name, &rule.tenant), (ROLE.name, &rule.role)];
        for (name, value) in properties {
            if let Some(value) = value {
                node.put(rule.rule, name, text(value));
            }
        }
        if let Some(observe) = rule.observe.as_ref().filter(|observe| observe.value) {
            node.put(rule.rule, OBSERVE.name, Scalar::Boolean(observe.value));
        }
        if let Some(ttl) = &rule.ttl_s {
            node.put(rule.rule, TTL.name, Scalar::Measured(&DURATION, ttl.value.into()));
        }
        node.optional(BECAUSE.name, rule.because.as_ref());
        let mut exceptions: BTreeMap<u8, EffectiveNode> = BTreeMap::new();
        for condition in &rule.conditions {
            let said = self.condition(condition);
            match condition.group {
                0 => node.children.push(said),
                group => {
                    let exception = exceptions.entry(group);
                    exception.or_insert_with(|| EffectiveNode::of(&EXCEPTION)).children.push(said);
                }
            }
        }
        node.children.extend(exceptions.into_values());
        for (rule, list) in [(&MATCH, &rule.matches), (&NO_MATCH, &rule.no_matches)] {
            if !list.is_empty() {
                node.children.push(self::list(rule.name, list));
            }
        }
        node
    }

    fn condition(&self, condition: &PolicyCondition) -> EffectiveNode {
        let PolicyCondition { group: _, selector, at, argument, values, except } = condition;
        let word = selector.word();
        let tier = |name: &'static str| {
            let number = values.first().and_then(|value| value.value.parse().ok()).unwrap_or(0);
            let mut node = self.node(TIERS.name, Vec::new(), *at);
            node.put(&TIERS, name, Scalar::Number(number));
            node
        };
        match selector {
            Selector::TierMin => return tier(MIN.name),
            Selector::TierMax => return tier(MAX.name),
            _ => {}
        }
        let scalar = |text: &Spanned<String>| match selector {
            Selector::Text => Scalar::Annotated("regex", text.value.clone()),
            _ => Scalar::Text(text.value.clone()),
        };
        let arguments = argument.iter().map(|name| Scalar::Text(name.value.clone()));
        let arguments = arguments.chain(values.iter().map(scalar)).collect();
        let mut node = self.node(word, arguments, *at);
        if !except.is_empty() {
            node.children.push(list(EXCEPT.name, except));
        }
        node
    }

    fn node(&self, name: &'static str, arguments: Vec<Scalar>, at: Span) -> EffectiveNode {
        EffectiveNode { name, arguments, at: self.at(at), ..EffectiveNode::default() }
    }
}

fn texts(texts: &[Spanned<String>]) -> Vec<Scalar> {
    texts.iter().map(|text| Scalar::Text(text.value.clone())).collect()
}

fn as_written(written: &Written) -> EffectiveNode {
    let scalar = |value: &Plain| match value {
        Plain::Text(text) => Scalar::Text(text.clone()),
        Plain::Number(number) => Scalar::Number(*number),
        Plain::Boolean(yes) => Scalar::Boolean(*yes),
    };
    let properties = written.properties.iter().map(|(name, value)| (*name, scalar(value)));
    EffectiveNode {
        name: written.name,
        arguments: written.arguments.iter().map(scalar).collect(),
        properties: properties.collect(),
        children: written.children.iter().map(as_written).collect(),
        ..EffectiveNode::default()
    }
}
