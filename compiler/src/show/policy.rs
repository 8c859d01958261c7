//! The policy and the facts of a project.

use super::node::{EffectiveNode, Scalar};
use super::renderer::Renderer;
use crate::ast::{Plain, Written};
use crate::model::{Facts, Policy};
use crate::source::{Span, Spanned};

impl Renderer<'_, '_> {
    /// Returns `policy`, and `facts` if the project has its own.
    pub(super) fn policy(&self, policy: &Policy, facts: &Facts) -> Vec<EffectiveNode> {
        let floors = policy.floors.iter().map(|(name, floor)| {
            let number = Scalar::Number(floor.tier.value.number().into());
            let mut node = self.node(name.name(), vec![number], floor.tier.at);
            if floor.tier.at.is_none() {
                node.defaults.push("tier");
            }
            node.optional("because", floor.because.as_ref());
            node
        });
        let floors = EffectiveNode {
            name: "floors",
            children: floors.collect(),
            ..EffectiveNode::default()
        };
        let rows = policy.paths.iter().map(|row| {
            let mut node = self.node(row.kind.word(), texts(&row.patterns), Some(row.at));
            if !row.except.is_empty() {
                node.children.push(EffectiveNode {
                    name: "except",
                    arguments: texts(&row.except),
                    ..EffectiveNode::default()
                });
            }
            node
        });
        let paths =
            EffectiveNode { name: "paths", children: rows.collect(), ..EffectiveNode::default() };
        let mut node = self.node("policy", Vec::new(), Some(policy.at));
        node.children.push(floors);
        if !paths.children.is_empty() {
            node.children.push(paths);
        }
        let mut nodes = vec![node];
        let programs = facts.programs.iter().map(|program| {
            let at = self.at(program.at);
            EffectiveNode { at, ..as_written(&program.written) }
        });
        let variables = facts.environment.iter().map(|row| {
            let mut node = self.node("environment", texts(&row.names), Some(row.at));
            node.optional("because", row.because.as_ref());
            node
        });
        let children: Vec<_> = programs.chain(variables).collect();
        if !children.is_empty() {
            nodes.push(EffectiveNode { name: "facts", children, ..EffectiveNode::default() });
        }
        nodes
    }

    fn node(&self, name: &'static str, arguments: Vec<Scalar>, at: Option<Span>) -> EffectiveNode {
        let at = at.and_then(|at| self.at(at));
        EffectiveNode { name, arguments, at, ..EffectiveNode::default() }
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
