//! What the project expects of its own bundle.

use super::node::{EffectiveNode, Scalar};
use super::renderer::{Renderer, list, said};
use crate::ast::{Claim, Expect};
use crate::source::Spanned;

impl Renderer<'_, '_> {
    pub(super) fn expect(&self, expect: &Expect) -> EffectiveNode {
        let Expect { at, question, tenant, role, user, groups, tool, tags, claims } = expect;
        let mut node = EffectiveNode {
            name: "expect",
            arguments: vec![Scalar::Text(question.word().into())],
            at: self.at(*at),
            ..EffectiveNode::default()
        };
        for (name, value) in [("tenant", tenant), ("role", role), ("user", user), ("tool", tool)] {
            node.properties.extend(value.as_ref().map(|value| (name, said(value))));
        }
        for (name, texts) in [("group", groups), ("tags", tags)] {
            if !texts.is_empty() {
                node.children.push(list(name, texts));
            }
        }
        // INVARIANT: the claims are in the order of their kinds.
        for of_kind in claims.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((claim, _)) = of_kind.first() else { continue };
            node.children.push(claimed(*claim, of_kind));
        }
        node
    }
}

fn claimed(claim: Claim, of_kind: &[(Claim, Spanned<String>)]) -> EffectiveNode {
    EffectiveNode {
        name: claim.word(),
        arguments: of_kind.iter().map(|(_, about)| said(about)).collect(),
        ..EffectiveNode::default()
    }
}
