//! The policy and the facts of a project.

use super::node::{EffectiveNode, Scalar};
use super::renderer::{Renderer, block, said_by};
use crate::ast::{Plain, Written};
use crate::language::facts::{ENVIRONMENT, FACTS};
use crate::language::policy::{POLICY, PolicyNode};
use crate::language::shared::BECAUSE;
use crate::model::{Facts, Policy};
use crate::source::{Span, Spanned};

impl Renderer<'_, '_> {
    /// Returns `policy`, and `facts` if the project has its own.
    pub(super) fn policy(&self, policy: &Policy, facts: &Facts) -> Vec<EffectiveNode> {
        let mut nodes = vec![self.judged(policy)];
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

    fn judged(&self, policy: &Policy) -> EffectiveNode {
        let mut node = EffectiveNode { at: self.at(policy.at), ..EffectiveNode::of(&POLICY) };
        for PolicyNode { block, rule, at, settings } in policy.nodes() {
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
